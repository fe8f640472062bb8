import { lt } from '../../../infra/db/drizzle.ts'
import { DAY } from '../../../infra/clock.ts'
import { countRows, removeRows, type RetentionEntry } from '../../../infra/retention.ts'
import { syncRuns } from './tables.ts'

export const syncRetention: RetentionEntry[] = [
  {
    what: 'catalog_sync_runs',
    keep: { ms: 7 * DAY },
    why: 'Results of platform syncs, and the data of syncs that were never applied. The audit log keeps the changes.',
    remove: (unit, before, limit) => removeRows(unit, syncRuns, lt(syncRuns.createdAt, before), limit),
    count: db => countRows(db, syncRuns, syncRuns.createdAt)
  }
]
