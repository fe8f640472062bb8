import { refuse, type BulkRun, type MoveForm, type Order, type ServerImpact } from '@netlet/contract'
import { and, eq, isNull, sql } from '../../../infra/db/drizzle.ts'
import type { Actor, UserActor } from '../../../infra/actor.ts'
import { command, type Unit } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { ok, type Result } from '../../../infra/result.ts'
import { startRunIn, type RunInput } from '../../bulk/index.ts'
import { changeStatus, lockServer } from '../../servers/index.ts'
import { agentUsers, servers } from '../../servers/tables.ts'
import { leasesOf, lockInventory, markReplaced, ordersOnServer } from '../../inventory/index.ts'
import { chunks, leaseBlocks, leases } from '../../inventory/tables.ts'
import { canReopen, findOrder, isServed, lockOrder, orderLabels, reopenOrder } from '../../orders/index.ts'
import { orders } from '../../orders/tables.ts'
import { advance } from '../advance.ts'
import { holdingsOf, leaseMissing, retireProxies } from '../holdings.ts'
import type { MayDeliver } from '../tasks.ts'
import { leaveServer, moveLive } from './leave-server.ts'

/** How many orders and addresses a drain, a move or giving up would affect. */
export async function impactOf(db: Executor, serverId: number): Promise<Result<ServerImpact>> {
  const known = await db.$count(servers, and(eq(servers.id, serverId), isNull(servers.deletedAt)))
  if (known === 0) return refuse('not_found')
  const live = sql`${orders.state} in ('delivering', 'partly_delivered', 'delivered')`
  const waits = sql`${orders.state} in ('delivering', 'partly_delivered')`
  const [found] = await db
    .select({
      orders: sql<number>`(count(distinct ${orders.id}) filter (where ${live}))::int`,
      addresses: sql<number>`coalesce(sum(${leaseBlocks.length}) filter (where ${live}), 0)::int`,
      undelivered: sql<number>`(count(distinct ${orders.id}) filter (where ${waits}))::int`,
      unpaid: sql<number>`(count(distinct ${orders.id}) filter (where ${orders.state} = 'placed'))::int`
    })
    .from(chunks)
    .innerJoin(leaseBlocks, eq(leaseBlocks.chunkId, chunks.id))
    .innerJoin(leases, eq(leases.id, leaseBlocks.leaseId))
    .innerJoin(orders, eq(orders.id, leases.orderId))
    .where(and(eq(chunks.serverId, serverId), isNull(leaseBlocks.releasedAt), eq(leases.replaced, false)))
  return ok(found ?? { orders: 0, addresses: 0, undelivered: 0, unpaid: 0 })
}

/** Sells nothing from a server, and moves its orders away as far as there is room. Each minute tries the rest again. */
export const drainServer = (ctx: AppContext, by: UserActor, id: number): Promise<Result<BulkRun | null>> =>
  command(ctx, by, async unit => {
    const server = await lockServer(unit, id)
    if (!server) return refuse('not_found')
    if (server.status === 'given_up') return refuse('server_given_up')
    if (server.status === 'returning') return refuse('server_returning')
    await changeStatus(unit, server, 'draining')
    unit.audit('server.drain', id, { before: { status: server.status }, after: { status: 'draining' } })
    return ok(await startLeaving(unit, by, id, await ordersOnServer(unit.tx, id)))
  })

/** Moves the orders of a server to another server or group. It still sells, unless it is paused. */
export const moveServerOrders = (
  ctx: AppContext,
  by: UserActor,
  id: number,
  to: MoveForm
): Promise<Result<BulkRun | null>> =>
  command(ctx, by, async unit => {
    const server = await lockServer(unit, id)
    if (!server) return refuse('not_found')
    if (server.status === 'given_up') return refuse('server_given_up')
    if (to.server_id === id) return refuse('move_target_unfit')
    unit.audit('server.move', id, { after: to })
    return ok(await startLeaving(unit, by, id, await ordersOnServer(unit.tx, id), inputOf(to)))
  })

/**
 * Gives a server up permanently. Nothing is leased there and nothing waits for its agent any more. The run, and then
 * each minute's rescue, ends what orders hold there.
 */
export const giveUpServer = (ctx: AppContext, by: UserActor, id: number): Promise<Result<BulkRun | null>> =>
  command(ctx, by, async unit => {
    const { tx } = unit
    const server = await lockServer(unit, id)
    if (!server) return refuse('not_found')
    // Alone, so that no reservation that saw it selling comes after the look at its orders.
    await lockInventory(tx)
    await changeStatus(unit, server, 'given_up')
    if (server.status !== 'given_up')
      unit.audit('server.give_up', id, { before: { status: server.status }, after: { status: 'given_up' } })
    const users = await tx
      .selectDistinct({ id: agentUsers.orderId })
      .from(agentUsers)
      .where(eq(agentUsers.serverId, id))
    const ids = new Set([...(await ordersOnServer(tx, id)), ...users.flatMap(user => user.id ?? [])])
    return ok(
      await startLeaving(
        unit,
        by,
        id,
        [...ids].toSorted((a, b) => a - b)
      )
    )
  })

async function startLeaving(unit: Unit, by: UserActor, serverId: number, ids: number[], to: RunInput = {}) {
  if (ids.length === 0) return null
  const input = { server_id: serverId, ...to }
  return startRunIn(unit, by, { action: 'order.leave_server', ids, labels: orderLabels, input })
}

const inputOf = ({ server_id: to_server_id, group_id: to_group_id }: MoveForm): RunInput => ({
  ...(to_server_id === undefined ? {} : { to_server_id }),
  ...(to_group_id === undefined ? {} : { to_group_id })
})

/** Does the work for one row of that run. */
export const leaveServerRow = (unit: Unit, orderId: number, input: RunInput): Promise<Result<null>> =>
  leaveServer(unit, orderId, {
    serverId: input['server_id'] ?? 0,
    target: { serverId: input['to_server_id'], groupId: input['to_group_id'] }
  })

/** Moves one order: all of its addresses, or those of one server. */
export async function moveOrder(
  ctx: AppContext,
  by: Actor,
  id: number,
  { from_server_id: from, ...to }: MoveForm & { from_server_id?: number | undefined }
): Promise<Result<Order>> {
  const moved = await command(ctx, by, async unit => {
    const order = await lockOrder(unit, id)
    if (!order || order.deletedAt) return refuse('not_found')
    if (!order.paidAt) return refuse('order_not_paid')
    if (order.state === 'expired' || (order.expiredAt && order.expiredAt <= unit.now)) return refuse('order_over')
    if (!isServed(order.state)) return refuse('order_not_delivered')
    const held = (await holdingsOf(unit.tx, id)).filter(holding => !holding.replaced)
    const all = [...new Set(held.flatMap(holding => holding.serverIds))]
    const leaving = all.filter(serverId => (from === undefined || serverId === from) && serverId !== to.server_id)
    if (leaving.length === 0) return refuse('nothing_to_move')
    const done = await moveLive(unit, order, leaving, { serverId: to.server_id, groupId: to.group_id })
    if (done.ok) unit.audit('order.move', id, { before: { servers: all }, after: { from, ...to } })
    return done
  })
  return moved.ok ? findOrder(ctx.db, id, null, ctx.now()) : moved
}

/**
 * Delivers an order that ended before any of its addresses worked: its term starts with the delivery. Also an order
 * with time left after a dispute about its payment was won: that time starts now.
 */
export async function reopen(
  ctx: AppContext,
  by: Actor,
  id: number,
  deliveryRefusal: MayDeliver
): Promise<Result<Order>> {
  const reopened = await command(ctx, by, unit => reopenIn(unit, id, deliveryRefusal))
  return reopened.ok ? findOrder(ctx.db, id, null, ctx.now()) : reopened
}

async function reopenIn(unit: Unit, id: number, deliveryRefusal: MayDeliver): Promise<Result<null>> {
  const { tx } = unit
  const order = await lockOrder(unit, id)
  if (!order || order.deletedAt) return refuse('not_found')
  if (!canReopen(order, unit.now)) return refuse('order_was_delivered')
  const held = await deliveryRefusal(unit, order)
  if (held) return held
  // Agents may still serve its former addresses, so these go back once the agents have confirmed, as in any move.
  await markReplaced(
    tx,
    (await leasesOf(tx, id)).map(share => share.leaseId)
  )
  await retireProxies(unit, id)
  const open = await reopenOrder(unit, order)
  if ((await leaseMissing(unit, open, 'all')).missing > 0) return refuse('out_of_stock')
  unit.audit('order.reopen', id, { before: { state: order.state }, after: { state: open.state } })
  await advance(unit, [id])
  return ok(null)
}
