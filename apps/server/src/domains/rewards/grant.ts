import { eq, sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { users } from '../accounts/tables.ts'
import { pointRecords } from './tables.ts'

export type Grant = {
  userId: number
  kind: 'level' | 'coins'
  /** Whole points; negative takes away. */
  point: number
  /** For people: it stands in the points history. */
  reason: string
  /** Names what caused it, such as 'invite:42': granted once, however often it is asked for. */
  cause: string
  now: Date
}

/**
 * Changes a user's level points or coins together with their record. Call it in the transaction of the cause.
 * @returns false where this cause was granted before, and nothing changed
 * @throws where the balance would fall below zero: the caller holds the user's row and has looked
 */
export async function grantPoints(tx: Executor, { userId, kind, point, reason, cause, now }: Grant): Promise<boolean> {
  if (point === 0) return false
  const written = await tx
    .insert(pointRecords)
    .values({ userId, kind, point, reason, cause, createdAt: now })
    .onConflictDoNothing({ target: pointRecords.cause })
    .returning({ id: pointRecords.id })
  if (written.length === 0) return false
  const change =
    kind === 'coins' ? { coins: sql`${users.coins} + ${point}` } : { levelPoints: sql`${users.levelPoints} + ${point}` }
  await tx.update(users).set(change).where(eq(users.id, userId))
  return true
}
