import { refuse } from '@netlet/contract'
import { and, eq, isNotNull, isNull, or, sql } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { transact } from '../../infra/db/transact.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { record } from '../audit/index.ts'
import { assignCidrs, ordersOnServer } from '../inventory/index.ts'
import { readServer } from './list-servers.ts'
import { cidrRefusal, orderNames } from './refusals.ts'
import { agentUsers, serverGroupServers, servers } from './tables.ts'

/**
 * Takes a server out of use: its ranges become free for another one, its row stays for the history. Refused while
 * orders hold addresses on it, or users are wanted there.
 */
export async function deleteServer(
  ctx: Pick<AppContext, 'db' | 'now'>,
  actor: Actor,
  id: number
): Promise<Result<null>> {
  return transact(ctx.db, async tx => {
    const [row] = await tx
      .select({ id: servers.id })
      .from(servers)
      .where(and(eq(servers.id, id), isNull(servers.deletedAt)))
      // Deliveries refer to the row while they hold the inventory, for which this is about to wait.
      .for('no key update')
    if (!row) return refuse('not_found')
    const before = await readServer(tx, id)
    // Before the look at the leases, so that none can begin after it.
    const freed = await assignCidrs(tx, id, [])
    if (!freed.ok && freed.reason !== 'leased') return cidrRefusal(tx, freed)
    const orders = await ordersOnServer(tx, id)
    if (orders.length > 0) {
      const msg = `Addresses of this server are still leased by ${orderNames(orders)}`
      return refuse('server_has_leases', { msg, data: { orders } })
    }
    const users = await tx
      .select({ username: agentUsers.username })
      .from(agentUsers)
      .where(and(eq(agentUsers.serverId, id), or(eq(agentUsers.wanted, true), isNotNull(agentUsers.orderId))))
      .limit(1)
    if (users[0]) {
      const msg = `The proxy user ${users[0].username} is still on this server. Delete it first.`
      return refuse('server_has_leases', { msg })
    }
    await tx.delete(agentUsers).where(eq(agentUsers.serverId, id))
    await tx.delete(serverGroupServers).where(eq(serverGroupServers.serverId, id))
    await tx
      .update(servers)
      .set({ deletedAt: ctx.now(), connected: false, sshPassword: sql`null`, agentToken: sql`null` })
      .where(eq(servers.id, id))
    await record(tx, actor, { action: 'delete server', targetType: 'server', targetId: id, before })
    return done
  })
}
