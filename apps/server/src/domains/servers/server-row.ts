import type { Server, ServerForm } from '@netlet/contract'
import ipaddr from 'ipaddr.js'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Database, Executor } from '../../infra/db/client.ts'
import { and, eq, isNull } from '../../infra/db/drizzle.ts'
import { withSessionLock } from '../../infra/db/session-lock.ts'
import type { Secrets } from '../../infra/secrets.ts'
import { type AgentAddress, type AgentClient, createAgentClient } from '../../integrations/agent/index.ts'
import { serverCidrs } from '../inventory/index.ts'
import { servers } from './tables.ts'

/** A server for the audit log: what its form shows, without what its agent reports. */
export const auditedServer = (server: Server) => ({
  name: server.name,
  ip: server.ip,
  description: server.description,
  port: server.port,
  agent_port: server.agent_port,
  proxy_port: server.proxy_port,
  has_password: server.has_password,
  host_key_fingerprint: server.host_key.known ?? server.host_key.expected,
  has_certificate: server.has_certificate,
  status: server.status,
  cidrs: server.cidrs.map(({ cidr }) => cidr)
})

/** The secrets that a form sets. The log keeps only their names. */
export const secretsOf = ({ password, agent_token }: Pick<ServerForm, 'password' | 'agent_token'>) => ({
  ...(password ? { password: true } : {}),
  ...(agent_token ? { agent_token: true } : {})
})

/** Whether a server's free addresses are stock. The view `inventory.sellers` has the same condition. */
export const sells = ({ status, offline, unservedSince }: Pick<ServerRow, 'status' | 'offline' | 'unservedSince'>) =>
  status === 'active' && !offline && unservedSince === null

/** Other servers sell now, so shop pages must read the stock again. */
export const publishSelling = (unit: Unit): void => unit.publish('server_group')

export type ServerRow = typeof servers.$inferSelect

const isServer = (id: number) => and(eq(servers.id, id), isNull(servers.deletedAt))

/** A server's row; undefined if there is none or it was deleted. */
export async function readServerRow(db: Executor, id: number): Promise<ServerRow | undefined> {
  const [row] = await db.select().from(servers).where(isServer(id))
  return row
}

/** The same, locked until the transaction ends. Deliveries that hold the inventory may still refer to it. */
export async function lockServer({ tx }: Unit, id: number): Promise<ServerRow | undefined> {
  const [row] = await tx.select().from(servers).where(isServer(id)).for('no key update')
  return row
}

/** Saves what operators set for a locked server's agent, with the TLS of its proxies. */
export async function saveAgentSettings(
  { tx }: Unit,
  id: number,
  agentSettings: ServerRow['agentSettings']
): Promise<void> {
  await tx.update(servers).set({ agentSettings }).where(eq(servers.id, id))
}

/**
 * Whether an agent serves another port than customers are shown, because an older database was restored or the
 * operator's own file on the machine sets it.
 */
export const isWrongPort = ({ proxyPort }: Pick<ServerRow, 'proxyPort'>, theirs: number): boolean =>
  Number.isInteger(theirs) && theirs >= 1 && theirs !== proxyPort

/** What code that talks to agents needs. */
export type SyncContext = Pick<AppContext, 'config' | 'db' | 'jobs' | 'secrets' | 'now' | 'log' | 'changes'>

/**
 * The client of a server's agent.
 * @throws if the stored token was sealed with another APP_SECRET
 */
export function agentOf(
  server: Pick<ServerRow, 'ip' | 'agentPort' | 'agentToken' | 'agentCertificate'>,
  secrets: Secrets,
  timeoutMs?: number,
  more: Pick<AgentAddress, 'console' | 'dial'> = {}
): AgentClient {
  const address = {
    host: server.ip,
    port: server.agentPort,
    token: server.agentToken ? secrets.open(server.agentToken) : '',
    certificate: server.agentCertificate,
    ...more
  }
  return createAgentClient(address, timeoutMs)
}

/** Replaces the sealed token of a server's agent. @returns false if token or address changed since the row was read */
export async function replaceAgentToken({ tx }: Unit, server: ServerRow, agentToken: Buffer): Promise<boolean> {
  const { id, ip, agentPort } = server
  const former = server.agentToken === null ? isNull(servers.agentToken) : eq(servers.agentToken, server.agentToken)
  const changed = await tx
    .update(servers)
    .set({ agentToken })
    .where(and(eq(servers.id, id), eq(servers.ip, ip), eq(servers.agentPort, agentPort), former))
    .returning({ id: servers.id })
  return changed.length > 0
}

type ServerLock = 'serverAgent' | 'serverProvisioning'

/**
 * Runs `work` while no other process holds this lock of the server. A database session holds the lock, so it ends with
 * the process, even after a crash.
 * @param waitMs how long to wait for another holder
 * @returns false if another process holds the lock; `work` did not run
 */
export async function withServerLock(
  db: Database,
  serverId: number,
  work: () => Promise<void>,
  { waitMs = 0, lock = 'serverAgent' }: { waitMs?: number; lock?: ServerLock } = {}
): Promise<boolean> {
  const { ran } = await withSessionLock(db, lock, serverId, work, { waitMs })
  return ran
}

/**
 * The lowest address of the server's first range that its agent took, of IPv4 if it has one. Of an IPv6 range, the
 * address that customers of its first /64 connect to. Null if it has no range.
 */
export async function firstAddressOf({ db }: Pick<SyncContext, 'db'>, server: ServerRow): Promise<ProxyAddress | null> {
  const ranges = (await serverCidrs(db, server.id)).filter(cidr => !server.refusedRanges.includes(cidr))
  const range = ranges.find(cidr => !cidr.includes(':')) ?? ranges[0]
  if (range === undefined) return null
  return { host: range.includes(':') ? firstOf(range) : (range.split('/')[0] ?? ''), port: server.proxyPort }
}

/** Where a proxy is asked: an address that the console knows, whatever the agent reports. */
export type ProxyAddress = { host: string; port: number }

/** The address of a range that its customers connect to; of IPv6, the `::1`. */
export function firstOf(prefix: string): string {
  const [address, bits] = ipaddr.parseCIDR(prefix)
  const bytes = address.toByteArray()
  if (bits < 128) bytes[15] = (bytes[15] ?? 0) | 1
  return ipaddr.fromByteArray(bytes).toString()
}
