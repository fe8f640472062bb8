import { setTimeout as sleep } from 'node:timers/promises'
import { and, gt, inArray, or, sql } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import { hashToken } from '../../infra/secrets.ts'
import { inLine } from './in-line.ts'
import { loginFailures } from './tables.ts'

/** For how long a failure counts. */
export const FAILURE_WINDOW = 15 * MINUTE

/** For how long an attempt is under way at most, and others wait for it. */
const UNDER_WAY = 10_000
/** Milliseconds between two looks at the attempts that one waits for. */
const LOOK = 100
/** With more attempts under a key none waits: each looks at the database again and again. */
const MOST_WAITING = 100

export type Attempt = {
  /** Failures per key within the window, this attempt and those that were begun before it counted as some. */
  counts: Map<string, number>
  /** The attempt was right, or was refused before anything was tried: it does not count. */
  discard: () => Promise<void>
}

/**
 * Counts an attempt as a failure before it is tried, so that many at once cannot all pass while the count is still
 * low; `discard` it afterwards where it was none. A command of its own: the count stays when the login is refused.
 */
export async function beginAttempt(ctx: AppContext, by: Actor, keys: string[]): Promise<Attempt> {
  const { counts, discard } = await begin(ctx, by, keys, null)
  return { counts: await counts(), discard }
}

/**
 * The same for an attempt that takes its turn: where others that were begun before it, and of which it is not known yet whether they
 * are right, would take a count beyond `most`, it waits for what becomes of them. So many who are right at once all pass, and
 * never more than `most` are tried that may be wrong. In a flood none waits.
 */
export async function takeTurn(
  ctx: AppContext,
  by: Actor,
  keys: string[],
  most: number
): Promise<Attempt & { fail: () => Promise<void> }> {
  const { ids, rows, counts, discard } = await begin(ctx, by, keys, UNDER_WAY)
  const deadline = performance.now() + UNDER_WAY
  while (performance.now() < deadline) {
    const found = await rows()
    const mayPass = found.some(({ count, failed }) => count > most && failed < most)
    if (!mayPass || found.some(({ count }) => count > MOST_WAITING)) break
    await sleep(LOOK)
  }
  return {
    counts: await counts(),
    discard,
    async fail() {
      const ofAttempt = inArray(loginFailures.id, ids)
      await command(ctx, by, unit => unit.tx.update(loginFailures).set({ underWayUntil: null }).where(ofAttempt))
    }
  }
}

async function begin(ctx: AppContext, by: Actor, keys: string[], underWay: number | null) {
  const write = () =>
    command(ctx, by, async unit => {
      // One after the other: whoever has the higher id sees all that were begun before.
      if (underWay !== null) for (const key of keys.toSorted()) await lock(unit.tx, 'asks', key)
      const underWayUntil = underWay === null ? null : new Date(unit.now.getTime() + underWay)
      return unit.tx
        .insert(loginFailures)
        .values(keys.map(key => ({ key, at: unit.now, underWayUntil })))
        .returning({ id: loginFailures.id, at: loginFailures.at })
    })
  // A flood of them under one key must not hold all of the database's connections while they wait for the lock.
  const written = underWay === null ? await write() : await inLine(keys, write)
  const ids = written.map(({ id }) => id)
  const last = Math.max(...ids)
  // After the commit: within it, attempts at the same time would not see each other.
  const rows = () => failuresOf(ctx, keys, { at: written[0]?.at ?? ctx.now(), last })
  return {
    ids,
    rows,
    counts: async () => new Map((await rows()).map(({ key, count }) => [key, count])),
    discard: async () => {
      await command(ctx, by, unit => unit.tx.delete(loginFailures).where(inArray(loginFailures.id, ids)))
    }
  }
}

/** How often it failed under a key within the window, without attempts that are being tried. */
export async function countFailures(ctx: Pick<AppContext, 'db' | 'now'>, key: string): Promise<number> {
  const [row] = await failuresOf(ctx, [key], { at: ctx.now(), last: 0 })
  return row?.failed ?? 0
}

/**
 * @param last the id of an attempt: those that were begun later, and are under way, do not count for it
 * @returns for each key what failed (`failed`), and that with what may fail (`count`)
 */
function failuresOf({ db }: Pick<AppContext, 'db'>, keys: string[], { at, last }: { at: Date; last: number }) {
  const isKnown = sql`(${loginFailures.underWayUntil} is null or ${loginFailures.underWayUntil} <= ${at.toISOString()})`
  return db
    .select({
      key: loginFailures.key,
      failed: sql<number>`count(*) filter (where ${isKnown})`.mapWith(Number),
      count: sql<number>`count(*) filter (where ${isKnown} or ${loginFailures.id} <= ${last})`.mapWith(Number)
    })
    .from(loginFailures)
    .where(and(inArray(loginFailures.key, keys), gt(loginFailures.at, new Date(at.getTime() - FAILURE_WINDOW))))
    .groupBy(loginFailures.key)
}

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
