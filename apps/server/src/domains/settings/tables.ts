import { jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { bytes, createdAt } from '../../platform/db/columns.ts'

/** One row per setting that was ever saved; the defaults stand in the contract. */
export const settings = pgTable('settings', {
  key: text().primaryKey(),
  value: jsonb().$type<unknown>(),
  /** Secrets are sealed and stand here instead of in `value`. */
  secret: bytes(),
  updatedAt: createdAt()
})
