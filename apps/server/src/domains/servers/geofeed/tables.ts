import { pgTable, text } from 'drizzle-orm/pg-core'
import { ref } from '../../../infra/db/columns.ts'
import { servers } from '../tables.ts'

/** Where a server stands, in the terms of RFC 8805, for the geofeed proposal. Any may be empty. */
export const serverPlaces = pgTable('server_places', {
  serverId: ref()
    .primaryKey()
    .references(() => servers.id, { onDelete: 'cascade' }),
  /** ISO 3166-1, two letters. */
  country: text().notNull(),
  /** ISO 3166-2. */
  region: text().notNull().default(''),
  city: text().notNull().default(''),
  postal: text().notNull().default('')
})
