import { index, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { bytes, createdAt, id } from '../../infra/db/columns.ts'

/** One row per setting that was ever saved; the defaults are in the contract. */
export const settings = pgTable('settings', {
  key: text().primaryKey(),
  value: jsonb().$type<unknown>(),
  /** Secrets are sealed and kept here instead of in `value`. */
  secret: bytes(),
  updatedAt: createdAt()
})

/** The latest warnings of all processes, for the console; the oldest go as new ones come. */
export const logLines = pgTable(
  'log_lines',
  {
    id: id(),
    /** server: what answers browsers. task: what works on jobs. */
    source: text().$type<'server' | 'task'>().notNull(),
    line: text().notNull(),
    at: createdAt()
  },
  t => [index('log_lines_source').on(t.source, t.id.desc()), index('log_lines_at').on(t.at)]
)
