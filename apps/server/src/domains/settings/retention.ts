import { lt } from 'drizzle-orm'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { logLines } from './tables.ts'

export const settingsRetention: RetentionEntry[] = [
  {
    what: 'log_lines',
    keep: { setting: 'keep_logs_days' },
    why: 'The latest warnings for the console, at most 500 of each log; the full log is what the processes print.',
    remove: (unit, before, limit) => removeRows(unit, logLines, lt(logLines.at, before), limit),
    count: db => countRows(db, logLines, logLines.at)
  }
]
