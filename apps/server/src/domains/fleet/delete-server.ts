import { refuse } from '@netlet/contract'
import { and, eq, isNotNull, isNull, or, sql } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { assignCidrs, leasedBy, ordersOnServer } from '../inventory/index.ts'
import { readServer } from './list-servers.ts'
import { cidrRefusal } from './refusals.ts'
import { agentUsers, serverGroupServers, servers } from './tables.ts'

/**
 * Takes a server out of use: its ranges become free for another one, its row stays for the history. Refused while
 * orders hold addresses on it, or users are wanted there.
 */
export const deleteServer = (ctx: AppContext, by: Actor, id: number): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const { tx } = unit
    const [row] = await tx
      .select({ id: servers.id })
      .from(servers)
      .where(and(eq(servers.id, id), isNull(servers.deletedAt)))
      // Deliveries refer to the row while they hold the inventory, for which this is about to wait.
      .for('no key update')
    if (!row) return refuse('not_found')
    const before = await readServer(tx, id)
    // Before the look at the leases, so that none can begin after it.
    const freed = await assignCidrs(unit, id, [])
    if (!freed.ok && freed.reason !== 'leased') return cidrRefusal(tx, freed)
    const orders = await ordersOnServer(tx, id)
    if (orders.length > 0) return leasedBy('server', orders)
    const users = await tx
      .select({ username: agentUsers.username })
      .from(agentUsers)
      .where(and(eq(agentUsers.serverId, id), or(eq(agentUsers.wanted, true), isNotNull(agentUsers.orderId))))
      .limit(1)
    if (users[0]) return refuse('server_has_user', { params: { username: users[0].username } })
    await tx.delete(agentUsers).where(eq(agentUsers.serverId, id))
    await tx.delete(serverGroupServers).where(eq(serverGroupServers.serverId, id))
    await tx
      .update(servers)
      .set({ deletedAt: unit.now, connected: false, sshPassword: sql`null`, agentToken: sql`null` })
      .where(eq(servers.id, id))
    unit.audit('server.delete', id, { before })
    unit.publish('cidr')
    return done
  })
