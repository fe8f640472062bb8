import { refuse } from '@netlet/contract'
import { and, eq, isNotNull, or, sql } from '../../infra/db/drizzle.ts'
import type { Actor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { assignCidrs, leasedBy, ordersOnServer } from '../inventory/index.ts'
import { isInstalling } from './installations.ts'
import { readServer } from './list-servers.ts'
import { cidrRefusal } from './refusals.ts'
import { auditedServer, lockServer } from './server-row.ts'
import { agentUsers, serverGroupServers, servers } from './tables.ts'

/**
 * Removes a server. Its ranges become free for another one; its row stays for the history. Refused while orders hold
 * addresses on it, users are wanted there, or its agent is being installed.
 */
export const deleteServer = (ctx: AppContext, by: Actor, id: number): Promise<Result<null>> =>
  command(ctx, by, unit => removeServer(unit, id))

/** The same as part of another command, or of a plan. */
export async function removeServer(unit: Unit, id: number): Promise<Result<null>> {
  const { tx } = unit
  const row = await lockServer(unit, id)
  if (!row) return refuse('not_found')
  // Otherwise the installation would start an agent on a machine that the console no longer knows.
  if (isInstalling(row)) return refuse('server_installing')
  const before = await readServer(tx, id)
  // Before the check for leases, so that none can begin after it.
  const freed = await assignCidrs(unit, id, [])
  if (!freed.ok && freed.reason !== 'leased') return cidrRefusal(tx, freed)
  const orders = await ordersOnServer(tx, id)
  if (orders.length > 0) return leasedBy('server', orders)
  const users = await tx
    .select({ username: agentUsers.username })
    .from(agentUsers)
    .where(and(eq(agentUsers.serverId, id), or(eq(agentUsers.wanted, true), isNotNull(agentUsers.orderId))))
    .limit(1)
  if (users[0]) return refuse('hand_made_user', { params: { username: users[0].username } })
  await tx.delete(agentUsers).where(eq(agentUsers.serverId, id))
  await tx.delete(serverGroupServers).where(eq(serverGroupServers.serverId, id))
  await tx
    .update(servers)
    .set({
      deletedAt: unit.now,
      connected: false,
      sshPassword: sql`null`,
      agentToken: sql`null`,
      // It contains the proxy's private key.
      agentSettings: sql`${servers.agentSettings} - 'proxy_tls'`
    })
    .where(eq(servers.id, id))
  unit.audit('server.delete', id, { before: before && auditedServer(before) })
  unit.publish('cidr')
  return done
}
