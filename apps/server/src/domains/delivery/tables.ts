import { sql } from '../../infra/db/drizzle.ts'
import { index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, inet, instant, ref } from '../../infra/db/columns.ts'
import { serverOutages, servers } from '../servers/tables.ts'
import { leases } from '../inventory/tables.ts'
import { orders } from '../orders/tables.ts'

/** One leased address of an order, as its customer sees it. Credentials are in the order's row. */
export const proxies = pgTable(
  'proxies',
  {
    id: id(),
    orderId: ref()
      .notNull()
      .references(() => orders.id),
    leaseId: ref()
      .notNull()
      .references(() => leases.id),
    serverId: ref()
      .notNull()
      .references(() => servers.id),
    ip: inet().notNull(),
    /** pending: not yet confirmed by its agent. live: usable. retired: given back. */
    state: text().$type<'pending' | 'live' | 'retired'>().notNull().default('pending'),
    /** Null before the first check. */
    available: integer(),
    /** Milliseconds; null if the site did not answer. */
    bingDelay: integer(),
    googleDelay: integer(),
    amazonDelay: integer(),
    checkedAt: instant(),
    /** When its agent first confirmed it. */
    liveAt: instant(),
    createdAt: createdAt(),
    updatedAt: createdAt()
  },
  t => [
    uniqueIndex('proxies_live_key')
      .on(t.orderId, t.ip)
      .where(sql`${t.state} <> 'retired'`),
    index('proxies_order').on(t.orderId, t.id),
    index('proxies_live')
      .on(t.orderId, t.id)
      .where(sql`${t.state} = 'live'`),
    index('proxies_retired')
      .on(t.updatedAt)
      .where(sql`${t.state} = 'retired'`),
    index('proxies_pending')
      .on(t.serverId, t.orderId)
      .where(sql`${t.state} = 'pending'`),
    index('proxies_server').on(t.serverId),
    // For the status page, which shows the last hour's checks.
    index('proxies_checked')
      .on(t.checkedAt)
      .where(sql`${t.state} = 'live'`)
  ]
)

/** The time of an outage that an order was credited with, once for each outage. */
export const outageCredits = pgTable(
  'outage_credits',
  {
    outageId: ref()
      .notNull()
      .references(() => serverOutages.id, { onDelete: 'cascade' }),
    orderId: ref()
      .notNull()
      .references(() => orders.id, { onDelete: 'cascade' }),
    seconds: integer().notNull(),
    createdAt: createdAt()
  },
  t => [primaryKey({ columns: [t.outageId, t.orderId] }), index('outage_credits_order').on(t.orderId)]
)
