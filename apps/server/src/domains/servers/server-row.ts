import { and, eq, isNull } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { servers } from './tables.ts'
import type { Server, ServerForm } from '@netlet/contract'

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
