import { and, count, gt, max, type SQL } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Executor } from './client.ts'

/** Below this many rows counting costs nothing that anyone notices. */
const SMALL = 10_000
const FRESH_MS = 30_000

type Known = { total: number; lastId: number; at: number; counting: boolean }

/**
 * Counts the rows of a table for a list's `total` without walking a million of them at each call: a big table is
 * counted anew every 30 seconds, aside, and the rows added since are counted each time. Rows that go away in between
 * are missed for that long; a small table is always counted exactly.
 * @param id the identity column; `where` is constant
 */
export function rowCounter(table: PgTable, id: PgColumn, where?: SQL): (db: Executor) => Promise<number> {
  const knownOf = new WeakMap<Executor, Known>()

  async function countAll(db: Executor): Promise<Known> {
    const [row] = await db
      .select({ total: count(), lastId: max(id) })
      .from(table)
      .where(where)
    return { total: row?.total ?? 0, lastId: Number(row?.lastId ?? 0), at: Date.now(), counting: false }
  }

  return async db => {
    const known = knownOf.get(db)
    if (!known || known.total < SMALL) {
      const counted = await countAll(db)
      knownOf.set(db, counted)
      return counted.total
    }
    if (Date.now() - known.at > FRESH_MS && !known.counting) {
      known.counting = true
      // Without an answer the old count stands a little longer.
      countAll(db).then(
        counted => knownOf.set(db, counted),
        () => knownOf.set(db, { ...known, counting: false })
      )
    }
    const [added] = await db
      .select({ total: count() })
      .from(table)
      .where(and(where, gt(id, known.lastId)))
    return known.total + (added?.total ?? 0)
  }
}
