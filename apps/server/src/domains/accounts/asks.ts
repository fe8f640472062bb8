import { and, eq, gt } from 'drizzle-orm'
import { HOUR } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { lock } from '../../infra/db/locks.ts'
import { loginFailures } from './tables.ts'

/** The longest time that any request or failure counts, in milliseconds. */
export const COUNTED_FOR = HOUR

/**
 * Counts a request within its command; a later refusal of the command reverts the count. Success and failure count
 * alike, so that the limit reveals nothing.
 * @param key what is requested, and by whom
 * @param limit `withinMs`: at most `COUNTED_FOR`
 * @returns the requests within that time, including this one; null if they would exceed `most`
 */
export async function countAsk(
  { tx, now }: Unit,
  key: string,
  { most, withinMs }: { most: number; withinMs: number }
): Promise<number | null> {
  // Each concurrent request sees the ones before it.
  await lock(tx, 'asks', key)
  const recent = and(eq(loginFailures.key, key), gt(loginFailures.at, new Date(now.getTime() - withinMs)))
  const before = await tx.$count(loginFailures, recent)
  if (before >= most) return null
  await tx.insert(loginFailures).values({ key, at: now })
  return before + 1
}
