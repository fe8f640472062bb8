import { sql } from '../../infra/db/drizzle.ts'
import { DAY } from '../../infra/clock.ts'
import type { RetentionEntry } from '../../infra/retention.ts'

/** Finished jobs. The queue removes them itself; this entry only counts them. */
export const jobArchive: RetentionEntry = {
  what: 'jobs',
  keep: { ms: DAY },
  why: 'Finished jobs show what ran and what failed. Many are deleted within an hour because they contain addresses.',
  remove: async () => 0,
  async count(db) {
    const { rows } = await db.execute<{ rows: number; oldest: string | null }>(
      sql`select count(*) as rows, min(completed_on) as oldest from pgboss.job where completed_on is not null`
    )
    const oldest = rows[0]?.oldest
    return { rows: rows[0]?.rows ?? 0, oldest: oldest ? new Date(oldest) : null }
  }
}
