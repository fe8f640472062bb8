import { FROM_SOURCES } from '@netlet/contract/agent-version'
import {
  type Found,
  type Provisioning,
  type Server,
  type ServerView,
  fillIn,
  refuse,
  serverTroubles
} from '@netlet/contract'
import { type SQL, and, asc, desc, eq, ilike, inArray, isNull, ne, or, sql } from '../../infra/db/drizzle.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { containing } from '../../infra/db/like.ts'
import { fingerprintOf } from '../../integrations/ssh/index.ts'
import { addressCount, leasedOnServers } from '../inventory/index.ts'
import type { Trouble } from './agent-health.ts'
import { certificateOf } from './pem.ts'
import { rangesOfServers } from './cidrs.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { ok, type Result } from '../../infra/result.ts'
import { versionOf } from '../../infra/version.ts'
import { agentVersion } from '../../integrations/agent/index.ts'
import { type ServerRow, readServerRow, sells } from './server-row.ts'
import { agentUsers, serverGroupServers, serverGroups, serverReports, servers } from './tables.ts'
import { isCancelling } from './installations.ts'

/** Servers whose name or address equals the text, then those that contain it. The table is small, so it is scanned. */
export function searchServers(db: Executor, text: string, limit: number): Promise<Found['servers']> {
  const ip = sql<string>`host(${servers.ip})`
  const exact = sql<boolean>`(lower(${servers.name}) = ${text.toLowerCase()} or ${ip} = ${text})`
  const pattern = containing(text)
  return db
    .select({ id: servers.id, name: servers.name, ip, status: servers.status, exact })
    .from(servers)
    .where(and(isNull(servers.deletedAt), or(ilike(servers.name, pattern), ilike(ip, pattern))))
    .orderBy(desc(exact), asc(servers.id))
    .limit(limit)
}

type Query = ListInput<'id'> & { state?: ServerView | undefined }

/** A server that needs an operator. One that was given up does not. */
export const isTroubled: SQL = sql`(${servers.status} <> 'given_up' and (${servers.trouble} is not null
  or ${servers.failingSince} is not null or not ${servers.connected} or cardinality(${servers.refusedRanges}) > 0
  or coalesce(${servers.provisioning} ->> 'status' = 'failed', false)
  or exists (select 1 from ${serverReports} where ${serverReports.serverId} = ${servers.id}
    and jsonb_array_length(coalesce(${serverReports.report} -> 'problems', '[]')) > 0)))`

const views: Readonly<Record<Exclude<ServerView, 'older'>, SQL | undefined>> = {
  selling: and(eq(servers.status, 'active'), eq(servers.offline, false), isNull(servers.unservedSince)),
  trouble: isTroubled,
  unreachable: and(ne(servers.status, 'given_up'), eq(servers.connected, false)),
  behind: or(
    sql`${servers.prefixesGeneration} <> ${servers.prefixesApplied}`,
    sql`exists (select 1 from ${agentUsers} where ${agentUsers.serverId} = ${servers.id}
      and ${agentUsers.generation} <> ${agentUsers.appliedGeneration})`
  ),
  installing: sql`${servers.provisioning} ->> 'status' = 'running'`,
  paused: eq(servers.status, 'paused'),
  draining: eq(servers.status, 'draining'),
  given_up: eq(servers.status, 'given_up'),
  returning: eq(servers.status, 'returning')
}

/** Users that a server serves for orders. It must match the condition of its index letter for letter. */
export const isServedOrder = sql`${agentUsers.wanted} and ${agentUsers.orderId} is not null`

/** The agent reported another version than this console installs. Builds from source do not count. */
async function hasOtherVersion(): Promise<SQL> {
  const version = await agentVersion()
  return sql`exists (select 1 from ${serverReports} where ${serverReports.serverId} = ${servers.id}
    and ${serverReports.report} ->> 'version' <> ${version}
    and ${serverReports.report} ->> 'version' not like ${`%${FROM_SOURCES}`})`
}

/** The number of servers in the view `trouble`. */
export const countTroubledServers = (db: Executor): Promise<number> =>
  db.$count(servers, and(isNull(servers.deletedAt), views.trouble))

/** Servers, newest last; search finds name, address or description. */
export const serverList = defineList<Query, Server>({
  name: 'servers',
  table: servers,
  id: servers.id,
  sort: { id: servers.id },
  async match(_db, { search, state }) {
    const pattern = search && containing(search)
    const found = pattern
      ? or(ilike(servers.name, pattern), ilike(sql`host(${servers.ip})`, pattern), ilike(servers.description, pattern))
      : undefined
    return {
      where: [isNull(servers.deletedAt), found, state === 'older' ? await hasOtherVersion() : state && views[state]]
    }
  },
  load: async (db, ids) => present(db, await db.select().from(servers).where(among(servers.id, ids)))
})

/** Names of the servers for selection fields. It reads nothing of agents, users or ranges. */
export const serverNameList = defineList<ListInput<'id'>, Pick<Server, 'id' | 'name'>>({
  name: 'server_names',
  table: servers,
  id: servers.id,
  sort: { id: servers.id },
  match: (_db, { search }) => ({
    where: [isNull(servers.deletedAt), search === undefined ? undefined : ilike(servers.name, containing(search))]
  }),
  load: (db, ids) => db.select({ id: servers.id, name: servers.name }).from(servers).where(among(servers.id, ids))
})

export async function readServer(db: Executor, id: number): Promise<Server | undefined> {
  const row = await readServerRow(db, id)
  return row && (await present(db, [row]))[0]
}

export async function findServer(db: Executor, id: number): Promise<Result<Server>> {
  const server = await readServer(db, id)
  return server ? ok(server) : refuse('not_found')
}

async function present(db: Executor, rows: ServerRow[]): Promise<Server[]> {
  if (rows.length === 0) return []
  const ids = rows.map(row => row.id)
  const ranges = await rangesOfServers(db, ids)
  const leased = await leasedOnServers(db, ids)
  const users = new Map((await usersOfServers(db, ids)).map(({ serverId, ...rest }) => [serverId, rest]))
  const groups = Map.groupBy(
    await db
      .select({ serverId: serverGroupServers.serverId, id: serverGroups.id, name: serverGroups.name })
      .from(serverGroupServers)
      .innerJoin(serverGroups, eq(serverGroups.id, serverGroupServers.groupId))
      .where(and(inArray(serverGroupServers.serverId, ids), isNull(serverGroups.deletedAt)))
      .orderBy(asc(serverGroups.id)),
    group => group.serverId
  )
  const reports = await db.select().from(serverReports).where(inArray(serverReports.serverId, ids))
  return rows.map(row => {
    const cidrs = ranges.get(row.id) ?? []
    const fields = serverFields(
      { ...row, port: row.sshPort, agent_port: row.agentPort, proxy_port: row.proxyPort },
      cidrs.map(range => range.cidr)
    )
    const { orders = 0, ...held } = users.get(row.id) ?? { wanted: 0, confirmed: 0, behind: 0 }
    return {
      id: row.id,
      name: row.name,
      ip: row.ip,
      description: row.description,
      server_status: row.connected ? 1 : 0,
      port: row.sshPort,
      has_password: row.sshPassword !== null,
      host_key: {
        known: row.sshHostKey && fingerprintOf(row.sshHostKey),
        expected: row.sshFingerprint,
        refused: row.sshHostKeyRefused && fingerprintOf(row.sshHostKeyRefused)
      },
      agent_port: row.agentPort,
      has_certificate: row.agentCertificate !== null,
      certificate: row.agentCertificate === null ? null : certificateOf(row.agentCertificate),
      proxy_port: row.proxyPort,
      cidrs: cidrs.map(({ id, cidr }) => ({ id, cidr, ip_count: addressCount(cidr), name: cidr })),
      groups: (groups.get(row.id) ?? []).map(({ id, name }) => ({ id, name })),
      orders,
      leased: leased.get(row.id) ?? 0,
      users: held,
      ranges: { wanted: row.prefixesGeneration, confirmed: row.prefixesApplied },
      refused_ranges: row.refusedRanges,
      agent: reports.find(({ serverId }) => serverId === row.id)?.report ?? null,
      step: stepOf(row, held.behind > 0),
      unreachable_since: isoOrNull(row.unreachableSince),
      failing_since: isoOrNull(row.failingSince),
      status: row.status,
      sells: sells(row),
      ...troubleOf(row),
      provisioning: presentProvisioning(row),
      created_at: iso(row.createdAt),
      version: versionOf(fields)
    }
  })
}

/**
 * For each server, how far its agent is with its users, and how many orders it serves. An order has one user on a
 * server. Each figure has an index of its own, because a server can have 10,000 users.
 */
export function usersOfServers(db: Executor, ids: number[]) {
  const figure = (value: SQL, where?: SQL) =>
    sql<number>`(${db
      .select({ value })
      .from(agentUsers)
      .where(and(eq(agentUsers.serverId, servers.id), where))})`
  return db
    .select({
      serverId: servers.id,
      wanted: figure(sql`coalesce(max(${agentUsers.generation}), 0)::float8`),
      confirmed: figure(sql`coalesce(max(${agentUsers.appliedGeneration}), 0)::float8`),
      behind: figure(sql`count(*)::int`, sql`${agentUsers.generation} <> ${agentUsers.appliedGeneration}`),
      orders: figure(sql`count(*)::int`, sql`${agentUsers.wanted} and ${agentUsers.orderId} is not null`)
    })
    .from(servers)
    .where(inArray(servers.id, ids))
}

/** Rows written before the steps were kept have none. */
function presentProvisioning({
  provisioning: one,
  provisioningCancelledAt: cancelled
}: ServerRow): Provisioning | null {
  if (!one) return null
  const steps = (one as Partial<Provisioning>).steps ?? []
  return {
    ...one,
    run_init: (one as Partial<Provisioning>).run_init ?? true,
    steps,
    cancelling: isCancelling(one, cancelled)
  }
}

type ServerFields = Pick<Server, 'name' | 'ip' | 'description' | 'port'> & {
  agent_port?: number | undefined
  proxy_port?: number | undefined
}

/** What the form of a server shows. It shows no secrets: a field left empty keeps the stored secret. */
export const serverFields = (
  { name, ip, description, port, agent_port, proxy_port }: ServerFields,
  ranges: readonly string[]
) => ({ name, ip, cidr: ranges.toSorted(), description, port, agent_port, proxy_port })

export const troubleSentence = ({ code, params }: Trouble): string => fillIn(serverTroubles[code], params)

function troubleOf({ trouble: code, troubleParams }: ServerRow): Pick<Server, 'last_error' | 'trouble'> {
  if (!code) return { last_error: null, trouble: null }
  const trouble = { code, params: troubleParams ?? {} }
  return { last_error: troubleSentence(trouble), trouble }
}

/** An agent that holds something unwanted is as much out of step as one that lacks something. */
function stepOf(row: ServerRow, usersBehind: boolean): Server['step'] {
  if (row.unreachableSince !== null || row.failingSince !== null) return 'unreachable'
  const behind = usersBehind || row.prefixesGeneration !== row.prefixesApplied || row.trouble !== null
  return behind ? 'behind' : 'in step'
}
