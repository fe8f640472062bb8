import { asc, eq, lt } from '../../infra/db/drizzle.ts'
import { countRows, type RetentionEntry } from '../../infra/retention.ts'
import { bulkRuns } from './tables.ts'

export const bulkRetention: RetentionEntry[] = [
  {
    what: 'bulk_runs',
    keep: { setting: 'keep_bulk_runs_days' },
    why: 'What a bulk action did to each row. The audit log keeps the changes.',
    // One at a time: each has up to 100,000 rows.
    async remove(unit, before) {
      const [old] = await unit.tx
        .select({ id: bulkRuns.id })
        .from(bulkRuns)
        .where(lt(bulkRuns.endedAt, before))
        .orderBy(asc(bulkRuns.endedAt))
        .limit(1)
      if (!old) return 0
      await unit.tx.delete(bulkRuns).where(eq(bulkRuns.id, old.id))
      unit.publish('bulk_run', old.id)
      return 1
    },
    count: db => countRows(db, bulkRuns, bulkRuns.endedAt)
  }
]
