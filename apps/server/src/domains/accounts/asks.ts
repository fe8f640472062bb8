import { and, eq, gt } from 'drizzle-orm'
import { HOUR } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { lock } from '../../infra/db/locks.ts'
import { loginFailures } from './tables.ts'

/** The longest time in which anything is counted, failures included. In milliseconds. */
export const COUNTED_FOR = HOUR

/**
 * Counts that something is asked for, within the command that does it: what is refused afterwards does not count. Whatever
 * comes of it counts alike, so that the limit tells nothing of what is asked for.
 * @param key what is asked for, and by whom
 * @param limit `withinMs`: at most `COUNTED_FOR`
 * @returns how often it was asked for within that time, now included; null where that would be more than `most`
 */
export async function countAsk(
  { tx, now }: Unit,
  key: string,
  { most, withinMs }: { most: number; withinMs: number }
): Promise<number | null> {
  // Of those at once each one sees the ones before it.
  await lock(tx, 'asks', key)
  const recent = and(eq(loginFailures.key, key), gt(loginFailures.at, new Date(now.getTime() - withinMs)))
  const before = await tx.$count(loginFailures, recent)
  if (before >= most) return null
  await tx.insert(loginFailures).values({ key, at: now })
  return before + 1
}
