import { sql } from '../../infra/db/drizzle.ts'
import { boolean, check, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '../../infra/db/columns.ts'

/** The certificate that PUBLIC_URL showed at the last check: one row, see ending-certificates.ts. */
export const publicCertificate = pgTable(
  'public_certificate',
  {
    one: boolean().primaryKey().default(true),
    /** The URL that it belongs to. */
    url: text().notNull(),
    endsAt: instant().notNull(),
    seenAt: instant().notNull()
  },
  t => [check('public_certificate_one', sql`${t.one}`)]
)
