import { setTimeout as sleep } from 'node:timers/promises'
import { and, gt, inArray, like, or, sql } from '../../infra/db/drizzle.ts'
import type { Actor } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import { hashToken } from '../../infra/secrets.ts'
import { loginFailures } from './tables.ts'

/** The last work of each key in this process. It never rejects. */
const lines = new Map<string, Promise<unknown>>()

/**
 * Runs work one after the other for each key in this process. Work that locks a key in the database waits here without
 * a connection, so a flood for one key holds one connection.
 */
async function inSequence<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
  const done = Promise.all(keys.map(async key => lines.get(key))).then(work)
  const ended = done.catch(() => {})
  for (const key of keys) lines.set(key, ended)
  try {
    return await done
  } finally {
    for (const key of keys) if (lines.get(key) === ended) lines.delete(key)
  }
}

/** How long a failure counts. */
export const FAILURE_WINDOW = 15 * MINUTE

/** How long an attempt may run before others stop waiting for it. */
const UNDER_WAY = 10_000
/** Milliseconds between two queries of a waiting attempt. */
const LOOK = 100
/** With more attempts for a key none waits, because each waiting one queries the database repeatedly. */
const MOST_WAITING = 100

export type Attempt = {
  /** Failures for each key within the window. This attempt and running ones before it count as failures. */
  counts: Map<string, number>
  /** The attempt succeeded, or was refused before anything was tried: it does not count. */
  discard: () => Promise<void>
}

/**
 * Counts an attempt as a failure before it is tried, so that concurrent ones cannot all pass a low count. Call
 * `discard` if it was none. A command of its own, because the count stays if the login is refused.
 */
export async function beginAttempt(ctx: AppContext, by: Actor, keys: string[]): Promise<Attempt> {
  const { counts, discard } = await begin(ctx, by, keys, null)
  return { counts: await counts(), discard }
}

/**
 * The same for an attempt in a queue. If running attempts before it might bring a count above `most`, it waits for
 * their results. So many correct concurrent attempts all pass, but at most `most` possibly wrong ones run. In a flood
 * none waits.
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
      // In order: the attempt with a higher id sees all that began before it.
      if (underWay !== null) for (const key of keys.toSorted()) await lock(unit.tx, 'asks', key)
      const underWayUntil = underWay === null ? null : new Date(unit.now.getTime() + underWay)
      return unit.tx
        .insert(loginFailures)
        .values(keys.map(key => ({ key, at: unit.now, underWayUntil })))
        .returning({ id: loginFailures.id, at: loginFailures.at })
    })
  // A flood for one key must not take all database connections while it waits for the lock.
  const written = underWay === null ? await write() : await inSequence(keys, write)
  const ids = written.map(({ id }) => id)
  const last = Math.max(...ids)
  // After the commit: within the transaction, concurrent attempts would not see each other.
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

/** Failures for a key within the window, without running attempts. */
export async function countFailures(ctx: Pick<AppContext, 'db' | 'now'>, key: string): Promise<number> {
  const [row] = await failuresOf(ctx, [key], { at: ctx.now(), last: 0 })
  return row?.failed ?? 0
}

/** Attempts of all keys that begin so within the window, running ones too. */
export const countAround = (ctx: Pick<AppContext, 'db' | 'now'>, prefix: string): Promise<number> =>
  ctx.db.$count(
    loginFailures,
    and(keyStartsWith(prefix), gt(loginFailures.at, new Date(ctx.now().getTime() - FAILURE_WINDOW)))
  )

/** As a pattern, which the index serves; keys contain no wildcards but in what is escaped here. */
export const keyStartsWith = (prefix: string) =>
  like(loginFailures.key, `${prefix.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`)

/**
 * @param last an attempt's id: running attempts with a higher id do not count for it
 * @returns for each key the failures (`failed`), and those with running attempts (`count`)
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

/** Removes the failures of these keys after a proof of being the account's owner. */
export async function clearFailures(unit: Unit, keys: readonly string[]): Promise<void> {
  await unit.tx.delete(loginFailures).where(inArray(loginFailures.key, [...keys]))
}

/** Removes all failures counted for an account, because its owner has set a new password by mail. */
export async function clearFailuresOf(
  unit: Unit,
  { id, username, email }: { id: number; username: string; email: string }
): Promise<void> {
  const names = [nameKey(username), nameKey(email)]
  const parts = [deviceKey(id, ''), ...names.map(name => `${name}@`)].map(keyStartsWith)
  await unit.tx.delete(loginFailures).where(or(inArray(loginFailures.key, [...names, changesKey(id)]), ...parts))
}

/**
 * The key for failures of unknown browsers: the typed name or address, existing or not, from everywhere or from one
 * network. Hashed, because the input may be anything of any length.
 */
export function nameKey(typed: string, network?: string): string {
  const name = `name:${hashToken(typed.toLowerCase()).toString('base64url')}`
  return network === undefined ? name : `${name}@${network}`
}

/** The key for failures of a browser that has logged in to the account. */
export const deviceKey = (userId: number, device: string): string => `user:${userId}#${device}`

/** The key for changes of an account's password. */
export const changesKey = (userId: number): string => `password-set:${userId}`
