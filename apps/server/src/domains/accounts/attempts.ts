import { and, gt, inArray, or, sql } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { hashToken } from '../../infra/secrets.ts'
import { loginFailures } from './tables.ts'

/** For how long a failure counts. */
export const FAILURE_WINDOW = 15 * MINUTE

export type Attempt = {
  /** Failures per key within the window, this attempt counted as one. */
  counts: Map<string, number>
  /** The attempt was right, or was refused before anything was tried: it does not count. */
  discard: () => Promise<void>
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
  // After the commit: within it, attempts at the same time would not see each other.
  const rows = await failuresOf(ctx, keys, written[0]?.at ?? ctx.now())
  return {
    counts: new Map(rows.map(row => [row.key, row.count])),
    async discard() {
      const ids = written.map(row => row.id)
      await command(ctx, by, unit => unit.tx.delete(loginFailures).where(inArray(loginFailures.id, ids)))
    }
  }
}

/** How often it failed under a key within the window, attempts that are being tried included. */
export async function countFailures(ctx: Pick<AppContext, 'db' | 'now'>, key: string): Promise<number> {
  const [row] = await failuresOf(ctx, [key], ctx.now())
  return row?.count ?? 0
}

const failuresOf = ({ db }: Pick<AppContext, 'db'>, keys: string[], now: Date) =>
  db
    .select({ key: loginFailures.key, count: sql<number>`count(*)` })
    .from(loginFailures)
    .where(and(inArray(loginFailures.key, keys), gt(loginFailures.at, new Date(now.getTime() - FAILURE_WINDOW))))
    .groupBy(loginFailures.key)

/** Removes the failures that were counted under these keys, once somebody has proved to be the account's owner. */
export async function clearFailures(unit: Unit, keys: readonly string[]): Promise<void> {
  await unit.tx.delete(loginFailures).where(inArray(loginFailures.key, [...keys]))
}

/** Removes all that was counted for an account, from wherever: its owner has set a new password by mail. */
export async function clearFailuresOf(
  unit: Unit,
  { id, username, email }: { id: number; username: string; email: string }
): Promise<void> {
  const names = [nameKey(username), nameKey(email)]
  const parts = [deviceKey(id, ''), ...names.map(name => `${name}@`)].map(part => sql`${loginFailures.key} ^@ ${part}`)
  await unit.tx.delete(loginFailures).where(or(inArray(loginFailures.key, [...names, changesKey(id)]), ...parts))
}

/**
 * Under which key the failures of browsers that are not known are counted: of the username or address that was typed,
 * whether anybody has it, from everywhere or from one network. Hashed: what is typed may be anything, of any length.
 */
export function nameKey(typed: string, network?: string): string {
  const name = `name:${hashToken(typed.toLowerCase()).toString('base64url')}`
  return network === undefined ? name : `${name}@${network}`
}

/** Under which key the failures of a browser are counted that has logged in to the account. */
export const deviceKey = (userId: number, device: string): string => `user:${userId}#${device}`

/** Under which key the changes of an account's password are counted. */
export const changesKey = (userId: number): string => `password-set:${userId}`
