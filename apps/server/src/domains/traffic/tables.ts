import { bigint, index, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { instant, ref } from '../../infra/db/columns.ts'
import { servers } from '../servers/tables.ts'

/** How far an agent's counters have been read: see collect.ts. */
export const trafficCursors = pgTable('traffic_cursors', {
  serverId: ref()
    .primaryKey()
    .references(() => servers.id, { onDelete: 'cascade' }),
  epoch: text().notNull().default(''),
  cursor: bigint({ mode: 'number' }).notNull().default(0),
  readAt: instant()
})

const counters = () => ({
  up: bigint({ mode: 'number' }).notNull(),
  down: bigint({ mode: 'number' }).notNull(),
  requests: bigint({ mode: 'number' }).notNull(),
  connections: bigint({ mode: 'number' }).notNull(),
  /** How often each code of the access log occurred, except `ok`. */
  codes: jsonb().$type<Record<string, number>>().notNull()
})

/** What was last read of each counter of an agent, so that its growth counts once. */
export const trafficMarks = pgTable(
  'traffic_marks',
  {
    serverId: ref()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    username: text().notNull(),
    ip: text().notNull(),
    /** The start of the counter, as the agent reports it. Another one is another counter. */
    since: text().notNull(),
    ...counters(),
    changedAt: instant().notNull()
  },
  t => [primaryKey({ columns: [t.serverId, t.username, t.ip] }), index('traffic_marks_changed').on(t.changedAt)]
)

const usage = () => ({
  /** The start of the hour or day, UTC. First in the key, so that new rows are neighbours, and removed rows too. */
  at: instant().notNull(),
  serverId: ref()
    .notNull()
    .references(() => servers.id, { onDelete: 'cascade' }),
  username: text().notNull(),
  ip: text().notNull(),
  /** The order whose user it is; null: made by hand. */
  orderId: ref(),
  ...counters()
})

/** Traffic of each user and address by hour, and by day. */
export const trafficHours = pgTable('traffic_hours', usage(), t => [
  primaryKey({ columns: [t.at, t.serverId, t.username, t.ip] }),
  index('traffic_hours_order').on(t.orderId, t.at)
])
export const trafficDays = pgTable('traffic_days', usage(), t => [
  primaryKey({ columns: [t.at, t.serverId, t.username, t.ip] }),
  index('traffic_days_order').on(t.orderId, t.at)
])

const orderUsage = () => ({
  orderId: ref().notNull(),
  at: instant().notNull(),
  serverId: ref()
    .notNull()
    .references(() => servers.id, { onDelete: 'cascade' }),
  ...counters()
})

/** The same for whole orders. For hundreds of addresses, a chart would otherwise read hundreds of thousands of rows. */
export const orderTrafficHours = pgTable('order_traffic_hours', orderUsage(), t => [
  primaryKey({ columns: [t.orderId, t.at, t.serverId] }),
  index('order_traffic_hours_at').on(t.at)
])
export const orderTrafficDays = pgTable('order_traffic_days', orderUsage(), t => [
  primaryKey({ columns: [t.orderId, t.at, t.serverId] }),
  index('order_traffic_days_at').on(t.at)
])

const serverUsage = () => ({
  at: instant().notNull(),
  serverId: ref()
    .notNull()
    .references(() => servers.id, { onDelete: 'cascade' }),
  ...counters()
})

/** The same for whole servers, including clients that never logged in. Users unknown to the console count nowhere. */
export const serverTrafficHours = pgTable('server_traffic_hours', serverUsage(), t => [
  primaryKey({ columns: [t.serverId, t.at] }),
  index('server_traffic_hours_at').on(t.at)
])
export const serverTrafficDays = pgTable('server_traffic_days', serverUsage(), t => [
  primaryKey({ columns: [t.serverId, t.at] }),
  index('server_traffic_days_at').on(t.at)
])
