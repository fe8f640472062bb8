import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgSequence,
  pgTable,
  primaryKey,
  text,
  uniqueIndex
} from 'drizzle-orm/pg-core'
import { SERVER_STATUSES, type AgentReport, type Params, type Provisioning, type ServerTrouble } from '@netlet/contract'
import { bytes, createdAt, id, inet, instant, oneOf, ref } from '../../infra/db/columns.ts'

/** A machine that owns address ranges and runs the node agent. */
export const servers = pgTable(
  'servers',
  {
    id: id(),
    name: text().notNull(),
    /** What an operator made of it: only an `active` one that is not `offline` sells. */
    status: text({ enum: SERVER_STATUSES }).notNull().default('active'),
    /** It has not answered for longer than the setting `unreachable_after`. Kept by the health check. */
    offline: boolean().notNull().default(false),
    ip: inet().notNull(),
    description: text().notNull().default(''),
    /** SSH port and root password, used for provisioning only. Secrets are sealed (infra/secrets). */
    sshPort: integer().notNull().default(22),
    sshPassword: bytes(),
    sshHostKey: text(),
    agentPort: integer().notNull().default(65533),
    agentToken: bytes(),
    /** The certificate that the agent must show; null means plain HTTP. */
    agentCertificate: text(),
    proxyPort: integer().notNull().default(3128),
    connected: boolean().notNull().default(false),
    lastSeenAt: instant(),
    unreachableSince: instant(),
    failures: integer().notNull().default(0),
    /** Since when what is sent to its agent fails, whatever its health check says. Null: the last change got there. */
    failingSince: instant(),
    /** How many tries in a row have failed, and when the next one is due (null: at once). */
    failedTries: integer().notNull().default(0),
    nextTryAt: instant(),
    /** What keeps the agent from holding what is wanted of it, and what its sentence names. Null: nothing. */
    trouble: text().$type<ServerTrouble>(),
    troubleParams: jsonb().$type<Params>(),
    /** Raised with every change of the server's own ranges; the converge job brings the agent there. */
    prefixesGeneration: bigint({ mode: 'number' }).notNull().default(1),
    prefixesApplied: bigint({ mode: 'number' }).notNull().default(0),
    /** Those of its ranges that the agent did not take: they are not sold, and users that need them wait. */
    refusedRanges: text()
      .array()
      .notNull()
      .default(sql`'{}'`),
    /** The running or last provisioning over SSH. */
    provisioning: jsonb().$type<Omit<Provisioning, 'cancelling'>>(),
    /** When one was cancelled last: whatever had been asked for by then is not done any more. */
    provisioningCancelledAt: instant(),
    /** An administrator approved it: one repair may remove more users than the safety limit. */
    removalsAllowed: boolean().notNull().default(false),
    createdAt: createdAt(),
    deletedAt: instant()
  },
  t => [
    uniqueIndex('servers_name_key')
      .on(sql`lower(${t.name})`)
      .where(sql`${t.deletedAt} is null`),
    check('servers_status', oneOf(t.status, SERVER_STATUSES)),
    check(
      'servers_trouble',
      sql`${t.trouble} in ('unreachable', 'token_unreadable', 'prefixes_refused', 'prefixes_waiting', 'removals_waiting', 'changes_failing') and (${t.trouble} is null) = (${t.troubleParams} is null)`
    ),
    check(
      'servers_ports',
      sql`${t.sshPort} between 1 and 65535 and ${t.agentPort} between 1 and 65535 and ${t.proxyPort} between 1 and 65535`
    )
  ]
)

/** What an agent told at its last health check: one row a server, so that its history is bounded. */
export const serverReports = pgTable('server_reports', {
  serverId: ref()
    .primaryKey()
    .references(() => servers.id, { onDelete: 'cascade' }),
  report: jsonb().$type<AgentReport>().notNull(),
  /** The agent's own counters at that moment: what they grew by since is the next check's. */
  counters: jsonb().$type<{ up: number; down: number }>()
})

export const serverGroups = pgTable(
  'server_groups',
  {
    id: id(),
    name: text().notNull(),
    description: text().notNull().default(''),
    createdAt: createdAt(),
    deletedAt: instant()
  },
  t => [
    uniqueIndex('server_groups_name_key')
      .on(sql`lower(${t.name})`)
      .where(sql`${t.deletedAt} is null`)
  ]
)

export const serverGroupServers = pgTable(
  'server_group_servers',
  {
    groupId: ref()
      .notNull()
      .references(() => serverGroups.id, { onDelete: 'cascade' }),
    serverId: ref()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' })
  },
  t => [primaryKey({ columns: [t.groupId, t.serverId] }), index('server_group_servers_server').on(t.serverId)]
)

/** A time in which a server did not answer, or that an operator entered by hand. Recorded from the first failed health check. */
export const serverOutages = pgTable(
  'server_outages',
  {
    id: id(),
    serverId: ref()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    startedAt: instant().notNull(),
    /** Null: it lasts. */
    endedAt: instant(),
    /** An operator entered it. */
    byHand: boolean().notNull().default(false),
    /** When the customers with addresses there were told. */
    announcedAt: instant(),
    createdAt: createdAt()
  },
  t => [
    index('server_outages_server').on(t.serverId, t.startedAt),
    uniqueIndex('server_outages_open_key')
      .on(t.serverId)
      .where(sql`${t.endedAt} is null`),
    check('server_outages_times', sql`${t.endedAt} > ${t.startedAt}`)
  ]
)

/** Gives every change of an agent user its own number; later changes have larger ones. */
export const agentGeneration = pgSequence('agent_generation')

/**
 * What an agent should hold: one row per proxy user and server. Each change of the row takes the next generation, and
 * the converge job sends it to the agent, after which `appliedGeneration` is the same.
 */
export const agentUsers = pgTable(
  'agent_users',
  {
    serverId: ref()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    username: text().notNull(),
    /** Null: made by hand in the server management; stock does not know of it. */
    orderId: ref(),
    password: text().notNull(),
    /** Address ranges on this server, canonical. */
    prefixes: text().array().notNull(),
    /** Ids of the access rules that were bought: the domains of all the others are denied. */
    rules: integer().array().notNull(),
    /** False: the user is to be removed; the row goes once the agent has confirmed. */
    wanted: boolean().notNull().default(true),
    generation: bigint({ mode: 'number' })
      .notNull()
      .default(sql`nextval('agent_generation')`),
    appliedGeneration: bigint({ mode: 'number' }).notNull().default(0),
    /** The agent's own digest of what it holds for this user, to compare without sending secrets. */
    digest: text(),
    /** Why the agent refused the last change, if it did. */
    refusal: text()
  },
  t => [
    primaryKey({ columns: [t.serverId, t.username] }),
    index('agent_users_order').on(t.orderId),
    // A server's newest change and confirmation, and how many orders it has: without these, all its users were read.
    index('agent_users_generation').on(t.serverId, t.generation),
    index('agent_users_applied').on(t.serverId, t.appliedGeneration),
    index('agent_users_orders')
      .on(t.serverId)
      .where(sql`${t.wanted} and ${t.orderId} is not null`),
    index('agent_users_behind')
      .on(t.serverId, t.generation)
      .where(sql`${t.generation} <> ${t.appliedGeneration}`)
  ]
)
