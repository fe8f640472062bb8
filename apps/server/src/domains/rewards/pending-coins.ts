import { and, eq, gt, sql } from 'drizzle-orm'
import { DAY } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { pointRecords } from './tables.ts'

/** The coins of a user that cannot be spent yet. */
export async function pendingCoins(db: Executor, userId: number, now: Date): Promise<number> {
  const [row] = await db
    .select({ sum: sql<string>`coalesce(sum(${pointRecords.point}), 0)` })
    .from(pointRecords)
    .where(and(eq(pointRecords.userId, userId), eq(pointRecords.kind, 'coins'), gt(pointRecords.maturesAt, now)))
  return Math.max(0, Number(row?.sum ?? 0))
}

/** When coins that are earned now can be spent; null: at once. */
export const maturity = (now: Date, { coins_hold_days }: { coins_hold_days: number }): Date | null =>
  coins_hold_days === 0 ? null : new Date(now.getTime() + coins_hold_days * DAY)
