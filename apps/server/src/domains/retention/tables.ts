import { bigint, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '../../infra/db/columns.ts'

/** The last result for each retention entry. */
export const retentionFigures = pgTable('retention_figures', {
  what: text().primaryKey(),
  rows: bigint({ mode: 'number' }).notNull(),
  oldest: instant(),
  /** How many rows the last removal took, and when; null if nothing was removed yet. */
  removed: bigint({ mode: 'number' }).notNull().default(0),
  removedAt: instant(),
  countedAt: instant().notNull()
})
