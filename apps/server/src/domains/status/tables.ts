import { INCIDENT_SEVERITIES, INCIDENT_STATES, LANGUAGES } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { boolean, check, date, index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, instant, lower, oneOf, ref } from '../../infra/db/columns.ts'
import { serverGroups, serverOutages, servers } from '../servers/tables.ts'

/**
 * How many minutes of a day (UTC) a server of a group was in each state. Missing minutes were not observed. By the
 * group at that time: a server that leaves a group leaves its past there.
 */
export const statusDays = pgTable(
  'status_days',
  {
    groupId: ref()
      .notNull()
      .references(() => serverGroups.id, { onDelete: 'cascade' }),
    serverId: ref()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    day: date({ mode: 'string' }).notNull(),
    up: integer().notNull().default(0),
    degraded: integer().notNull().default(0),
    down: integer().notNull().default(0),
    maintenance: integer().notNull().default(0)
  },
  t => [
    primaryKey({ columns: [t.groupId, t.serverId, t.day] }),
    index('status_days_day').on(t.day),
    check('status_days_minutes', sql`least(${t.up}, ${t.degraded}, ${t.down}, ${t.maintenance}) >= 0`),
    check('status_days_whole', sql`${t.up} + ${t.degraded} + ${t.down} + ${t.maintenance} <= 1440`)
  ]
)

/** The last sampled minute: one row, whose lock makes each minute count once. */
export const statusCursor = pgTable(
  'status_cursor',
  { single: boolean().primaryKey().default(true), minute: instant().notNull() },
  t => [check('status_cursor_single', sql`${t.single}`)]
)

/** Failures and planned work that operators report. */
export const incidents = pgTable(
  'incidents',
  {
    id: id(),
    title: text().notNull(),
    severity: text({ enum: INCIDENT_SEVERITIES }).notNull(),
    /** Of its last update. Planned work begins by the clock. */
    state: text({ enum: INCIDENT_STATES }).notNull(),
    startedAt: instant().notNull(),
    /** The end of planned work. */
    endsAt: instant(),
    /** Null: it has not ended. */
    resolvedAt: instant(),
    createdBy: text().notNull(),
    createdAt: createdAt()
  },
  t => [
    uniqueIndex('incidents_open_title_key')
      .on(lower(t.title))
      .where(sql`${t.resolvedAt} is null`),
    index('incidents_resolved').on(t.resolvedAt),
    check('incidents_severity', oneOf(t.severity, INCIDENT_SEVERITIES)),
    check('incidents_state', oneOf(t.state, INCIDENT_STATES)),
    check('incidents_ended', sql`(${t.resolvedAt} is not null) = (${t.state} in ('resolved', 'completed'))`),
    check(
      'incidents_planned',
      sql`(${t.severity} = 'maintenance') = (${t.endsAt} is not null)
        and (${t.severity} = 'maintenance') = (${t.state} in ('scheduled', 'in_progress', 'completed'))`
    ),
    check('incidents_times', sql`${t.endsAt} > ${t.startedAt}`)
  ]
)

/** An incident's updates. The first one is its beginning. */
export const incidentUpdates = pgTable(
  'incident_updates',
  {
    id: id(),
    incidentId: ref()
      .notNull()
      .references(() => incidents.id, { onDelete: 'cascade' }),
    state: text({ enum: INCIDENT_STATES }).notNull(),
    text: text().notNull().default(''),
    at: createdAt()
  },
  t => [
    index('incident_updates_incident').on(t.incidentId, t.id),
    check('incident_updates_state', oneOf(t.state, INCIDENT_STATES))
  ]
)

/** An incident's locations: the group that stood for each, and the location's name at that time. */
export const incidentLocations = pgTable(
  'incident_locations',
  {
    incidentId: ref()
      .notNull()
      .references(() => incidents.id, { onDelete: 'cascade' }),
    groupId: ref()
      .notNull()
      .references(() => serverGroups.id, { onDelete: 'cascade' }),
    name: text().notNull()
  },
  t => [primaryKey({ columns: [t.incidentId, t.groupId] }), index('incident_locations_group').on(t.groupId)]
)

/** The incident of an outage. */
export const incidentOutages = pgTable(
  'incident_outages',
  {
    outageId: ref()
      .primaryKey()
      .references(() => serverOutages.id, { onDelete: 'cascade' }),
    incidentId: ref()
      .notNull()
      .references(() => incidents.id, { onDelete: 'cascade' })
  },
  t => [index('incident_outages_incident').on(t.incidentId)]
)

/** Addresses that get mails about incidents after a confirmation. Unsubscribed ones are deleted. */
export const statusSubscribers = pgTable(
  'status_subscribers',
  {
    id: id(),
    /** In lower case. */
    address: text().notNull().unique('status_subscribers_address_key'),
    language: text({ enum: LANGUAGES }).notNull().default('en'),
    /** Null: the link was not followed. */
    confirmedAt: instant(),
    /** How many links were requested. */
    asks: integer().notNull().default(1),
    askedAt: createdAt()
  },
  t => [
    index('status_subscribers_unconfirmed')
      .on(t.askedAt)
      .where(sql`${t.confirmedAt} is null`),
    check('status_subscribers_language', oneOf(t.language, LANGUAGES))
  ]
)
