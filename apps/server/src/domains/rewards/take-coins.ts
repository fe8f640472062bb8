import { randomUUID } from 'node:crypto'
import { DAY } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, eq, gt, sql } from '../../infra/db/drizzle.ts'
import { lockBalance } from '../accounts/index.ts'
import { type Grant, grantPoints } from './grant.ts'
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

/** Coins that mature together; `payment` if one payment earned them. */
type Lot = { payment: string | null; maturesAt: Date; left: number }

/**
 * Takes coins from a user's locked balance: first pending ones of the payment `first`, then spendable ones, then other
 * pending ones, the soonest first. Taken pending coins keep their payment and time, so that the pending sum never
 * exceeds the balance.
 * @param first the payment whose own coins go first
 * @returns how many of `point` the balance lacked
 */
export async function takeCoins(
  unit: Unit,
  {
    point,
    first,
    cause,
    ...taken
  }: Pick<Grant, 'userId' | 'reason' | 'params' | 'cause'> & { point: number; first?: string }
): Promise<number> {
  const { tx, now } = unit
  const { userId } = taken
  const lots = await pendingLots(tx, userId, now)
  const balance = await lockBalance(tx, userId)
  const spendable = Math.max(0, (balance?.coins ?? 0) - (await pendingCoins(tx, userId, now)))
  let rest = Math.min(point, balance?.coins ?? 0)
  const missing = point - rest
  const take = async (most: number, as: Pick<Grant, 'cause' | 'payment' | 'maturesAt'>) => {
    const part = Math.min(rest, most)
    await grantPoints(unit, { ...taken, ...as, kind: 'coins', point: -part })
    rest -= part
  }
  const takeLot = ({ payment, maturesAt, left }: Lot) =>
    take(left, {
      cause: `${cause}:pending:${payment ?? ''}:${maturesAt.getTime()}`,
      maturesAt,
      ...(payment === null ? {} : { payment })
    })
  for (const lot of lots.filter(({ payment }) => payment !== null && payment === first)) await takeLot(lot)
  await take(spendable, { cause })
  for (const lot of lots.filter(({ payment }) => payment === null || payment !== first)) await takeLot(lot)
  return missing + rest
}

/** A user's pending coins, the soonest first. */
async function pendingLots(db: Executor, userId: number, now: Date): Promise<Lot[]> {
  const { payment, maturesAt } = pointRecords
  const sum = sql<string>`sum(${pointRecords.point})`
  const rows = await db
    .select({ payment, maturesAt, left: sum })
    .from(pointRecords)
    .where(and(eq(pointRecords.userId, userId), eq(pointRecords.kind, 'coins'), gt(maturesAt, now)))
    .groupBy(payment, maturesAt)
    .having(sql`${sum} > 0`)
    .orderBy(maturesAt, payment)
  return rows.flatMap(row => (row.maturesAt ? [{ ...row, maturesAt: row.maturesAt, left: Number(row.left) }] : []))
}

/**
 * Changes a user's coins or level points at an administrator's request. Spendable coins go before pending ones. The
 * caller has locked the user and checked that the balance suffices.
 */
export async function changePoints(
  unit: Unit,
  userId: number,
  { kind, by }: { kind: 'coins' | 'level'; by: number }
): Promise<void> {
  const change = { userId, reason: 'set_by_admin', cause: `admin:${randomUUID()}` } as const
  if (kind === 'coins' && by < 0) await takeCoins(unit, { ...change, point: -by })
  else await grantPoints(unit, { ...change, kind, point: by })
}
