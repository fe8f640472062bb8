import { lt } from 'drizzle-orm'
import { DAY } from '../../../infra/clock.ts'
import { countRows, removeRows, type RetentionEntry } from '../../../infra/retention.ts'
import { syncRuns } from './tables.ts'

export const syncRetention: RetentionEntry[] = [
  {
    what: 'catalog_sync_runs',
    keep: { ms: 7 * DAY },
    why: 'How syncs with the platform ended, and what was read for one that nobody applied. What was changed is in the audit log.',
    remove: (unit, before, limit) => removeRows(unit, syncRuns, lt(syncRuns.createdAt, before), limit),
    count: db => countRows(db, syncRuns, syncRuns.createdAt)
  }
]
