import { lt } from '../../infra/db/drizzle.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { logLines } from './tables.ts'

export const settingsRetention: RetentionEntry[] = [
  {
    what: 'log_lines',
    keep: { setting: 'keep_logs_days' },
    why: 'The latest warnings for the console, at most 500 lines per log. The processes print the full log.',
    remove: (unit, before, limit) => removeRows(unit, logLines, lt(logLines.at, before), limit),
    count: db => countRows(db, logLines, logLines.at)
  }
]
