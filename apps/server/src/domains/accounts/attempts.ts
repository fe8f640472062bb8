import { and, eq, gt, inArray, or, sql } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { loginFailures } from './tables.ts'

/** For how long a failure counts. */
export const FAILURE_WINDOW = 15 * MINUTE

export type Attempt = {
  /** Failures per key within the window, this attempt counted as one. */
  counts: Map<string, number>
  /** The attempt was right, or was refused before anything was tried: it does not count, for these keys or for all. */
  discard(keys?: readonly string[]): Promise<void>
}

/**
 * Counts an attempt as a failure before it is tried, so that many at once cannot all pass while the count is still
 * low; `discard` it afterwards where it was none. A command of its own: the count stays when the login is refused.
 */
export async function beginAttempt(ctx: AppContext, by: Actor, keys: string[]): Promise<Attempt> {
  const written = await command(ctx, by, unit =>
    unit.tx
      .insert(loginFailures)
      .values(keys.map(key => ({ key, at: unit.now })))
      .returning({ id: loginFailures.id, key: loginFailures.key, at: loginFailures.at })
  )
  const since = new Date((written[0]?.at ?? ctx.now()).getTime() - FAILURE_WINDOW)
  // After the commit: within it, attempts at the same time would not see each other.
  const rows = await ctx.db
    .select({ key: loginFailures.key, count: sql<number>`count(*)` })
    .from(loginFailures)
    .where(and(inArray(loginFailures.key, keys), gt(loginFailures.at, since)))
    .groupBy(loginFailures.key)
  return {
    counts: new Map(rows.map(row => [row.key, row.count])),
    async discard(discarded = keys) {
      const ids = written.filter(row => discarded.includes(row.key)).map(row => row.id)
      await command(ctx, by, unit => unit.tx.delete(loginFailures).where(inArray(loginFailures.id, ids)))
    }
  }
}

/** Removes the failures that were counted under these keys, once somebody has proved to be the account's owner. */
export async function clearFailures(unit: Unit, keys: readonly string[]): Promise<void> {
  await unit.tx.delete(loginFailures).where(inArray(loginFailures.key, [...keys]))
}

/** Removes all that was counted for an account, from wherever: its owner has set a new password by mail. */
export async function clearFailuresOf(unit: Unit, userId: number): Promise<void> {
  const account = accountKey(userId)
  const parts = sql`${loginFailures.key} ^@ ${`${account}@`} or ${loginFailures.key} ^@ ${`${account}#`}`
  await unit.tx.delete(loginFailures).where(or(eq(loginFailures.key, account), parts))
}

/** Under which key an account's failures from browsers that it does not know are counted. */
export const accountKey = (userId: number): string => `user:${userId}`
