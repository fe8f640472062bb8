import { and, eq, gt, inArray, sql } from 'drizzle-orm'
import { MINUTE } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { loginFailures } from './tables.ts'

/** For how long a failure counts. */
export const FAILURE_WINDOW = 15 * MINUTE

export type Attempt = {
  /** Failures per key within the window, this attempt counted as one. */
  counts: Map<string, number>
  /** The attempt was right, or was refused before anything was tried: it does not count. */
  forgive(): Promise<void>
}

/**
 * Counts an attempt as a failure before it is tried, so that many at once cannot all pass while the count is still
 * low; `forgive` it afterwards where it was none.
 */
export async function beginAttempt(db: Executor, keys: string[], now: Date): Promise<Attempt> {
  const written = await db
    .insert(loginFailures)
    .values(keys.map(key => ({ key, at: now })))
    .returning({ id: loginFailures.id })
  const rows = await db
    .select({ key: loginFailures.key, count: sql<number>`count(*)` })
    .from(loginFailures)
    .where(and(inArray(loginFailures.key, keys), gt(loginFailures.at, new Date(now.getTime() - FAILURE_WINDOW))))
    .groupBy(loginFailures.key)
  return {
    counts: new Map(rows.map(row => [row.key, row.count])),
    async forgive() {
      await db.delete(loginFailures).where(
        inArray(
          loginFailures.id,
          written.map(row => row.id)
        )
      )
    }
  }
}

/** Forgets an account's failures: its owner has proven to be there. */
export async function forgetFailures(db: Executor, key: string): Promise<void> {
  await db.delete(loginFailures).where(eq(loginFailures.key, key))
}
