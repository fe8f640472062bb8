import { sql } from '../../infra/db/drizzle.ts'
import { bigint, boolean, check, index, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { ABUSE_KINDS, type RepairPlan } from '@netlet/contract'
import { createdAt, id, instant, oneOf, ref } from '../../infra/db/columns.ts'
import { servers } from '../servers/tables.ts'

/** The identity of this console towards agents: one row, made when the first agent is asked. */
export const consoleIdentity = pgTable(
  'console_identity',
  {
    single: boolean().primaryKey().default(true),
    consoleId: text()
      .notNull()
      .default(sql`gen_random_uuid()::text`),
    createdAt: createdAt()
  },
  t => [check('console_identity_single', sql`${t.single}`)]
)

/** What this console and a server's agent last agreed on, see `ownership/claim-agent.ts`. */
export const agentTies = pgTable('agent_ties', {
  serverId: ref()
    .primaryKey()
    .references(() => servers.id, { onDelete: 'cascade' }),
  /** The mark that the agent confirmed last. Null: none yet. */
  mark: text(),
  /** The mark that was sent since. The agent has this one or the one before. */
  nextMark: text(),
  /** The plan that waits for an approval, if the agent has taken changes that this database does not know. */
  plan: jsonb().$type<RepairPlan>(),
  /** The digest of the approved plan. */
  approved: text()
})

/** Abuse that an agent reported: one row for each cause, which may go on or recur. */
export const abuseAlarms = pgTable(
  'abuse_alarms',
  {
    id: id(),
    serverId: ref()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    kind: text({ enum: ABUSE_KINDS }).notNull(),
    /** The proxy user that causes it, or whose password is guessed. */
    username: text().notNull(),
    /** Null: a user made by hand, or one that is gone. */
    orderId: ref(),
    /** The target, port or client that it is about. */
    subject: text().notNull(),
    /** How many in the worst minute. */
    count: bigint({ mode: 'number' }).notNull(),
    startedAt: instant().notNull(),
    lastAt: instant().notNull(),
    acknowledgedAt: instant(),
    acknowledgedBy: text()
  },
  t => [
    uniqueIndex('abuse_alarms_cause_key').on(t.serverId, t.kind, t.username),
    index('abuse_alarms_open')
      .on(t.id)
      .where(sql`${t.acknowledgedAt} is null`),
    index('abuse_alarms_order').on(t.orderId),
    index('abuse_alarms_last').on(t.lastAt),
    check('abuse_alarms_kind', oneOf(t.kind, ABUSE_KINDS))
  ]
)
