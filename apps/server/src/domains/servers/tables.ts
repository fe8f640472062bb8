import { sql } from '../../infra/db/drizzle.ts'
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
import {
  CLIENT_ACCESS,
  SERVER_STATUSES,
  type AgentReport,
  type Params,
  type Provisioning,
  type ServerTrouble,
  type EgressMode
} from '@netlet/contract'
import type { KeptSettings } from './stored-settings.ts'
import { bytes, createdAt, id, inet, instant, oneOf, ref } from '../../infra/db/columns.ts'

/** A machine that owns address ranges and runs the node agent. */
export const servers = pgTable(
  'servers',
  {
    id: id(),
    name: text().notNull(),
    /** What an operator decided. Only an `active` server that is neither `offline` nor unserved sells. */
    status: text({ enum: SERVER_STATUSES }).notNull().default('active'),
    /** It has not answered for longer than the setting `unreachable_after`. The health check maintains it. */
    offline: boolean().notNull().default(false),
    ip: inet().notNull(),
    description: text().notNull().default(''),
    /** SSH port and root password, used for provisioning only. Secrets are sealed (infra/secrets). */
    sshPort: integer().notNull().default(22),
    sshPassword: bytes(),
    /** The host key that the machine must show, another key that it showed last, and a fingerprint given in advance. */
    sshHostKey: text(),
    sshHostKeyRefused: text(),
    sshFingerprint: text(),
    agentPort: integer().notNull().default(65533),
    agentToken: bytes(),
    /** The certificate that the agent must show; null means plain HTTP. */
    agentCertificate: text(),
    proxyPort: integer().notNull().default(3128),
    connected: boolean().notNull().default(false),
    lastSeenAt: instant(),
    unreachableSince: instant(),
    failures: integer().notNull().default(0),
    /** Since when changes sent to its agent fail, even if its health check succeeds. Null: they succeed. */
    failingSince: instant(),
    /** Since when it is unknown whether its proxy serves: its program has passed no check. Null: it serves. */
    unservedSince: instant(),
    /** Failed tries in a row, and when the next one is due (null: at once). */
    failedTries: integer().notNull().default(0),
    nextTryAt: instant(),
    /** Why the agent does not hold its desired state, with the parameters of the sentence. Null: no trouble. */
    trouble: text().$type<ServerTrouble>(),
    troubleParams: jsonb().$type<Params>(),
    /** Rises with every change of the server's ranges; the converge job brings the agent there. */
    prefixesGeneration: bigint({ mode: 'number' }).notNull().default(1),
    prefixesApplied: bigint({ mode: 'number' }).notNull().default(0),
    /** Ranges that the agent refused. They are not sold, and users that need them wait. */
    refusedRanges: text()
      .array()
      .notNull()
      .default(sql`'{}'`),
    /** Blocks around addresses that old credentials still open. Not sold until that is repaired, see the domain `proofs`. */
    withheldRanges: text()
      .array()
      .notNull()
      .default(sql`'{}'`),
    /** No try of old credentials before this time: an agent slows down clients that guess passwords. */
    nextProofAt: instant(),
    /** The running or last provisioning over SSH. */
    provisioning: jsonb().$type<Omit<Provisioning, 'cancelling'>>(),
    /** When an installation was last cancelled. Nothing requested until then is carried out. */
    provisioningCancelledAt: instant(),
    /**
     * The agent's settings that operators set for this server (with its TLS for proxy clients, see stored-settings.ts),
     * and the settings last written there (null: none yet).
     */
    agentSettings: jsonb().$type<KeptSettings>().notNull().default({}),
    agentSettingsApplied: jsonb().$type<Record<string, string>>(),
    /** Names that the operator's own file there sets, as last seen. That file takes precedence. Null: unknown. */
    agentLocalNames: text().array(),
    /** How the agent was last installed: `systemd` or `alone`, with its service file's digest. Null: unknown. */
    agentService: text(),
    /** Where this console's connections come from, as the machine's sshd saw it. Null: unknown. */
    consoleAddress: inet(),
    /** An administrator approved that one repair may remove more users than the safety limit. */
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
      sql`${t.trouble} in ('unreachable', 'token_unreadable', 'prefixes_refused', 'prefixes_waiting', 'removals_waiting', 'changes_failing', 'foreign_console', 'older_console', 'not_served', 'other_port') and (${t.trouble} is null) = (${t.troubleParams} is null)`
    ),
    check(
      'servers_ports',
      sql`${t.sshPort} between 1 and 65535 and ${t.agentPort} between 1 and 65535 and ${t.proxyPort} between 1 and 65535`
    )
  ]
)

/** What an agent reported at its last health check. One row for each server, so that the history is bounded. */
export const serverReports = pgTable('server_reports', {
  serverId: ref()
    .primaryKey()
    .references(() => servers.id, { onDelete: 'cascade' }),
  report: jsonb().$type<AgentReport>().notNull(),
  /** The agent's own counters at that moment. The next check counts their growth. */
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

/** A time in which a server did not answer, from the first failed health check, or one that an operator added. */
export const serverOutages = pgTable(
  'server_outages',
  {
    id: id(),
    serverId: ref()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    startedAt: instant().notNull(),
    /** Null while it lasts. */
    endedAt: instant(),
    /** An operator added it. */
    byHand: boolean().notNull().default(false),
    /** When the customers with addresses there were notified. */
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

/** Numbers every change of an agent user. Later changes have larger numbers. */
export const agentGeneration = pgSequence('agent_generation')

/**
 * What an agent should hold: one row for each proxy user and server. Each change of the row takes the next generation.
 * The converge job sends it to the agent, and then `appliedGeneration` is the same.
 */
export const agentUsers = pgTable(
  'agent_users',
  {
    serverId: ref()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    username: text().notNull(),
    /** Null for a user made by hand in the server management. Stock does not count its addresses. */
    orderId: ref(),
    password: text().notNull(),
    /** Canonical address ranges on this server. */
    prefixes: text().array().notNull(),
    /** Ids of the access rules that were bought. The domains of all other rules are denied. */
    rules: integer().array().notNull(),
    /** Which addresses its connections leave from: see the contract. */
    egress: text().$type<EgressMode>().notNull().default('fixed'),
    /** False: the user is to be removed. The row is deleted once the agent has confirmed. */
    wanted: boolean().notNull().default(true),
    generation: bigint({ mode: 'number' })
      .notNull()
      .default(sql`nextval('agent_generation')`),
    appliedGeneration: bigint({ mode: 'number' }).notNull().default(0),
    /** The agent's own digest of what it holds for this user, to compare without sending secrets. */
    digest: text(),
    /** Why the agent refused the last change, if it did. */
    refusal: text(),
    /** Its credentials or addresses are new here. They are tried before its order goes on, see the domain `proofs`. */
    handOver: boolean().notNull().default(true),
    /** Bytes that this user has used on this server, as far as they have been collected. */
    trafficUsed: bigint({ mode: 'number' }).notNull().default(0),
    /**
     * The part of its order's quota that its agent was given, and for which generation. The agent stops the user when
     * `trafficUsed` reaches `quotaUntil`. Null: no quota, or not sent yet.
     */
    quotaGeneration: bigint({ mode: 'number' }),
    quotaBytes: bigint({ mode: 'number' }),
    quotaUntil: bigint({ mode: 'number' })
  },
  t => [
    primaryKey({ columns: [t.serverId, t.username] }),
    index('agent_users_order').on(t.orderId),
    check('agent_users_egress', sql`${t.egress} in ('fixed', 'request', 'session')`),
    // For the newest change and confirmation, and the number of orders. Without these, all users are read.
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

/**
 * How an order's user lets clients in, on all of its servers. Keyed by order, so that it survives a new password or
 * other addresses, and never applies to another order of the same addresses. No row: by password, from any address.
 */
export const orderAccess = pgTable(
  'order_access',
  {
    orderId: ref().primaryKey(),
    access: text({ enum: CLIENT_ACCESS }).notNull().default('password'),
    /** Canonical prefixes; empty if only the password counts. */
    clientIps: text()
      .array()
      .notNull()
      .default(sql`'{}'`),
    /** Null: a change was requested, but none was made. */
    changedAt: instant(),
    /** Changes requested since `attemptsSince`; limited by the hour. */
    attempts: integer().notNull().default(0),
    attemptsSince: instant().notNull()
  },
  t => [
    check('order_access_access', oneOf(t.access, CLIENT_ACCESS)),
    check('order_access_clients', sql`(${t.access} = 'password') = (cardinality(${t.clientIps}) = 0)`)
  ]
)

/** What an order may use, and has used, in bytes on all of its servers. */
export const orderTraffic = pgTable(
  'order_traffic',
  {
    orderId: ref().primaryKey(),
    used: bigint({ mode: 'number' }).notNull().default(0),
    /** Null: unlimited. */
    allowed: bigint({ mode: 'number' }),
    mbps: integer(),
    connections: integer(),
    connectionsPerSecond: integer(),
    /** The share of `allowed` that its customer was last notified of: 0, 80 or 100. */
    toldOf: integer().notNull().default(0)
  },
  t => [check('order_traffic_told', sql`${t.toldOf} in (0, 80, 100)`)]
)
