import { index, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { bytes, createdAt, id } from '../../infra/db/columns.ts'

export const LOGO_TYPES = ['image/png', 'image/svg+xml', 'image/webp'] as const

/** One row for each setting that was ever saved; the defaults are in the contract. */
export const settings = pgTable('settings', {
  key: text().primaryKey(),
  value: jsonb().$type<unknown>(),
  /** A sealed secret, instead of `value`. */
  secret: bytes(),
  updatedAt: createdAt()
})

/** The uploaded logo: one row, or none for the default. */
export const shopLogo = pgTable('shop_logo', {
  /** Of its content, for its address. */
  hash: text().primaryKey(),
  type: text({ enum: LOGO_TYPES }).notNull(),
  content: bytes().notNull(),
  createdAt: createdAt()
})

/** The latest warnings of all processes, for the console. New lines replace the oldest. */
export const logLines = pgTable(
  'log_lines',
  {
    id: id(),
    /** server: processes that answer browsers. task: processes that run jobs. */
    source: text().$type<'server' | 'task'>().notNull(),
    line: text().notNull(),
    at: createdAt()
  },
  t => [index('log_lines_source').on(t.source, t.id.desc()), index('log_lines_at').on(t.at)]
)
