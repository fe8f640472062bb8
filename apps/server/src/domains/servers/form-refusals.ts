import type { Refusal } from '@netlet/contract'
import { and, eq, isNull, ne } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { leasedBy, type CidrRefusal } from '../inventory/index.ts'
import type { ServerRow } from './server-row.ts'
import { servers } from './tables.ts'

export const nameTaken = fieldRefusal('name', 'name_taken')

/**
 * Refuses a second server for one agent, because each would remove what the other wants. Call it under the inventory's
 * lock, which every save of a server holds.
 */
export async function agentTaken(
  db: Executor,
  { id, ip, agentPort }: Pick<ServerRow, 'id' | 'ip' | 'agentPort'>
): Promise<Refusal | null> {
  const [other] = await db
    .select({ name: servers.name })
    .from(servers)
    .where(and(eq(servers.ip, ip), eq(servers.agentPort, agentPort), ne(servers.id, id), isNull(servers.deletedAt)))
    .limit(1)
  return other ? fieldRefusal('ip', 'agent_taken', { server: other.name }) : null
}

/** Names the ranges, servers and orders that are in the way. */
export async function cidrRefusal(db: Executor, refusal: CidrRefusal): Promise<Refusal> {
  if (refusal.reason === 'invalid') {
    return fieldRefusal('cidr', 'invalid_lines', { problem: refusal.lines.map(line => line.message).join('; ') })
  }
  const { cidr } = refusal
  if (refusal.reason === 'leased') return leasedBy('cidr', refusal.orders, { cidr })
  const [owner] =
    refusal.serverId === null
      ? []
      : await db.select({ name: servers.name }).from(servers).where(eq(servers.id, refusal.serverId))
  const params = { cidr, other: refusal.with }
  return owner
    ? fieldRefusal('cidr', 'cidr_overlaps_server', { ...params, server: owner.name })
    : fieldRefusal('cidr', 'cidr_overlaps', params)
}
