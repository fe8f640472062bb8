import { sql } from '../../infra/db/drizzle.ts'
import { check, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { UPGRADE_SERVER_STATES, UPGRADE_STATES, type Params, type Reason } from '@netlet/contract'
import { createdAt, id, inet, instant, oneOf, ref } from '../../infra/db/columns.ts'
import { servers } from '../servers/tables.ts'

/** One upgrade of several servers to one version. Only one runs at a time. */
export const upgrades = pgTable(
  'upgrades',
  {
    id: id(),
    state: text({ enum: UPGRADE_STATES }).notNull().default('running'),
    version: text().notNull(),
    /** Who started it, as the audit log names them. The account may be gone. */
    actorId: ref().notNull(),
    actorName: text().notNull(),
    actorIp: inet().notNull(),
    /** Why it stopped. */
    reason: text().$type<Reason>(),
    params: jsonb().$type<Params>(),
    createdAt: createdAt(),
    endedAt: instant()
  },
  t => [
    check('upgrades_state', oneOf(t.state, UPGRADE_STATES)),
    check('upgrades_ended', sql`(${t.endedAt} is null) = (${t.state} in ('running', 'stopped', 'ending'))`),
    uniqueIndex('upgrades_one_key')
      .on(sql`(true)`)
      .where(sql`${t.endedAt} is null`),
    index('upgrades_ended').on(t.endedAt)
  ]
)

/** A server of an upgrade, and its result. */
export const upgradeServers = pgTable(
  'upgrade_servers',
  {
    upgradeId: ref()
      .notNull()
      .references(() => upgrades.id, { onDelete: 'cascade' }),
    serverId: ref()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    position: integer().notNull(),
    state: text({ enum: UPGRADE_SERVER_STATES }).notNull().default('waiting'),
    fromVersion: text(),
    /** Its installation, identified by when it was requested. */
    askedAt: text(),
    reason: text().$type<Reason>(),
    params: jsonb().$type<Params>()
  },
  t => [
    primaryKey({ columns: [t.upgradeId, t.serverId] }),
    index('upgrade_servers_server').on(t.serverId),
    check('upgrade_servers_state', oneOf(t.state, UPGRADE_SERVER_STATES)),
    check('upgrade_servers_asked', sql`${t.state} <> 'installing' or ${t.askedAt} is not null`),
    check('upgrade_servers_reason', sql`(${t.reason} is not null) = (${t.state} in ('failed', 'left_out'))`)
  ]
)
