import {
  type BulkRun,
  type CustomerNote,
  type MoveForm,
  type Order,
  type OrderFamily,
  type PlannedAction,
  type ServerImpact,
  type ServerPlan,
  refuse
} from '@netlet/contract'
import type { Actor, UserActor } from '../../../infra/actor.ts'
import { type Unit, command, dryRun } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { and, asc, eq, isNull, sql } from '../../../infra/db/drizzle.ts'
import { type Result, ok } from '../../../infra/result.ts'
import { type RunInput, noteInput, startRunIn } from '../../bulk/index.ts'
import {
  leasesOf,
  lockInventory,
  markReplaced,
  ordersOnServer,
  serverCidrs,
  stockForRules
} from '../../inventory/index.ts'
import { chunks, leaseBlocks, leases } from '../../inventory/tables.ts'
import { canReopen, findOrder, isServed, lockOrder, noteDetail, orderLabels, reopenOrder } from '../../orders/index.ts'
import { orders } from '../../orders/tables.ts'
import {
  changeStatus,
  groupsOfServer,
  lockServer,
  readServerRow,
  removeServer,
  stockAfter,
  stockChanges,
  stockOfGroups,
  stockOfRanges
} from '../../servers/index.ts'
import { agentUsers, servers } from '../../servers/tables.ts'
import { advance } from '../advance.ts'
import { holdingsOf, retireProxies } from '../holdings.ts'
import { leaseMissing } from '../lease-more.ts'
import type { MayDeliver } from '../tasks.ts'
import { type Run, type Target, findPlace, moveLive, moveOffServer, noteOfRun } from './move-off-server.ts'

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
export const drainServer = (
  ctx: AppContext,
  by: UserActor,
  id: number,
  note?: CustomerNote
): Promise<Result<BulkRun | null>> =>
  command(ctx, by, async unit => {
    const server = await lockServer(unit, id)
    if (!server) return refuse('not_found')
    if (server.status === 'given_up') return refuse('server_given_up')
    if (server.status === 'returning') return refuse('server_returning')
    await changeStatus(unit, server, 'draining')
    unit.audit('server.drain', id, { before: { status: server.status }, after: { status: 'draining' } })
    return ok(await startMoveRun(unit, by, id, await ordersOnServer(unit.tx, id), noteInput(note)))
  })

/** Moves the orders of a server to another server or group. It still sells, unless it is paused. */
export const moveServerOrders = (
  ctx: AppContext,
  by: UserActor,
  id: number,
  to: MoveForm & Partial<CustomerNote>
): Promise<Result<BulkRun | null>> =>
  command(ctx, by, async unit => {
    const server = await lockServer(unit, id)
    if (!server) return refuse('not_found')
    if (server.status === 'given_up') return refuse('server_given_up')
    if (to.server_id === id) return refuse('move_target_unfit')
    unit.audit('server.move', id, { after: to })
    return ok(await startMoveRun(unit, by, id, await ordersOnServer(unit.tx, id), inputOf(to)))
  })

/**
 * Gives a server up permanently. Nothing is leased there and nothing waits for its agent any more. The run, and then
 * each minute's rescue, ends what orders hold there.
 */
export const giveUpServer = (
  ctx: AppContext,
  by: UserActor,
  id: number,
  note?: CustomerNote
): Promise<Result<BulkRun | null>> =>
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
    const sorted = [...ids].toSorted((a, b) => a - b)
    return ok(await startMoveRun(unit, by, id, sorted, noteInput(note)))
  })

async function startMoveRun(unit: Unit, by: UserActor, serverId: number, ids: number[], to: RunInput = {}) {
  if (ids.length === 0) return null
  const input = { server_id: serverId, ...to }
  return startRunIn(unit, by, { action: 'order.leave_server', ids, labels: orderLabels, input })
}

const inputOf = ({ server_id, group_id, ...note }: MoveForm & Partial<CustomerNote>): RunInput => ({
  to_server_id: server_id,
  to_group_id: group_id,
  ...noteInput(note)
})

/** Does the work for one row of that run. */
export const moveRunRow = (unit: Unit, orderId: number, run: Run): Promise<Result<null>> =>
  moveOffServer(unit, orderId, {
    serverId: run.input.server_id ?? 0,
    target: { serverId: run.input.to_server_id, groupId: run.input.to_group_id },
    note: noteOfRun(run)
  })

/** Moves one order: all of its addresses, or those of one server. */
export async function moveOrder(
  ctx: AppContext,
  by: Actor,
  id: number,
  {
    from_server_id: from,
    message,
    email_customer,
    ...to
  }: MoveForm & Partial<CustomerNote> & { from_server_id?: number | undefined }
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
    const note = { message, email_customer }
    const done = await moveLive(unit, order, leaving, { serverId: to.server_id, groupId: to.group_id }, note)
    if (done.ok) unit.audit('order.move', id, { before: { servers: all }, after: { from, ...to, ...noteDetail(note) } })
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

/** How many of the orders without room a plan names. */
const NAMED = 10

/**
 * What an action on a server would do now. It only reads and takes no locks, except for a deletion, which is tried and
 * rolled back for its refusals. Room is counted from stock, so orders may still find none if others buy it first.
 */
export async function planAction(
  ctx: AppContext,
  by: Actor,
  id: number,
  { action, ...target }: MoveForm & { action: PlannedAction }
): Promise<Result<ServerPlan>> {
  const { db } = ctx
  const server = await readServerRow(db, id)
  if (!server) return refuse('not_found')
  if (server.status === 'given_up' && action !== 'delete') return refuse('server_given_up')
  if (server.status === 'returning' && (action === 'pause' || action === 'drain')) return refuse('server_returning')
  if (action === 'move' && target.server_id === id) return refuse('move_target_unfit')
  const found = await impactOf(db, id)
  if (!found.ok) return found
  const leaving = action === 'pause' || action === 'delete' ? emptyPlan() : await planMoves(db, id, target, action)
  if ('reason' in leaving) return leaving
  if (action === 'move') return ok({ ...found.data, ...leaving, stock: [] })
  if (action === 'delete') {
    const removed = await dryRun(ctx, by, {}, unit => removeServer(unit, id))
    if (!removed.ok) return removed
  }
  const before = await stockOfGroups(db, await groupsOfServer(db, id))
  const gone = await stockOfRanges(db, server, await serverCidrs(db, id))
  return ok({ ...found.data, ...leaving, stock: stockChanges(before, stockAfter(before, { gone: [gone] })) })
}

type Leaving = Omit<ServerPlan, keyof ServerImpact | 'stock'>
const none = () => ({ moves: { orders: 0, addresses: 0 }, stays: { orders: 0, addresses: 0 } })
const emptyPlan = (): Leaving => ({ ...none(), staying: [], reservations: none() })

type Held = Awaited<ReturnType<typeof heldOn>>[number]

/** What live orders and unpaid reservations hold on a server and keep, in the order in which they would leave. */
const heldOn = (db: Executor, serverId: number) =>
  db
    .select({
      publicId: orders.publicId,
      serverGroupId: orders.serverGroupId,
      step: orders.cartStep,
      rules: orders.rules,
      family: orders.addressFamily,
      unpaid: sql<boolean>`${orders.state} = 'placed'`,
      addresses: sql<number>`sum(${leaseBlocks.length})::int`
    })
    .from(chunks)
    .innerJoin(leaseBlocks, eq(leaseBlocks.chunkId, chunks.id))
    .innerJoin(leases, eq(leases.id, leaseBlocks.leaseId))
    .innerJoin(orders, eq(orders.id, leases.orderId))
    .where(
      and(
        eq(chunks.serverId, serverId),
        isNull(leaseBlocks.releasedAt),
        eq(leases.replaced, false),
        sql`${orders.state} in ('placed', 'delivering', 'partly_delivered', 'delivered')`
      )
    )
    .groupBy(orders.id)
    .orderBy(asc(orders.id))

/** Which orders would find room, the oldest first. What one takes is gone for others with one of its rules. */
async function planMoves(
  db: Executor,
  serverId: number,
  { server_id, group_id }: MoveForm,
  action: PlannedAction
): Promise<Leaving | ReturnType<typeof refuse>> {
  const target: Target = { serverId: server_id, groupId: group_id }
  const places = new Map<number, Awaited<ReturnType<typeof findPlace>>>()
  const rooms = new Map<
    string,
    { groupId: number; rules: number[]; family: OrderFamily; free: number; taken: number }
  >()
  const roomFor = async (one: Held) => {
    const place = places.get(one.serverGroupId) ?? (await findPlace(db, one, [serverId], target))
    places.set(one.serverGroupId, place)
    if (!place.ok) return place
    const { groupId, avoid } = place.data
    const key = `${groupId}.${one.step}.${one.rules.join()}.${one.family}`
    const { step, rules, family } = one
    const free = () => stockForRules(db, { groupId, step, rules, family, avoid: [...avoid, serverId] })
    const room = rooms.get(key) ?? { groupId, rules, family, free: await free(), taken: 0 }
    rooms.set(key, room)
    return ok(room)
  }
  const plan = emptyPlan()
  const add = (side: Leaving['moves'], { addresses }: Held) => {
    side.orders += 1
    side.addresses += addresses
  }
  for (const one of await heldOn(db, serverId)) {
    // Giving a server up ends its unpaid reservations, so they take no room.
    if (one.unpaid && action === 'give_up') {
      add(plan.reservations.stays, one)
      continue
    }
    const found = await roomFor(one)
    if (!found.ok) return found
    const room = found.data
    const competing = [...rooms.values()].filter(
      other =>
        other.groupId === room.groupId &&
        (other.family === room.family || other.family === 'any' || room.family === 'any') &&
        other.rules.some(rule => room.rules.includes(rule))
    )
    const left = room.free - competing.reduce((sum, { taken }) => sum + taken, 0)
    const fits = one.addresses <= left
    if (fits) room.taken += one.addresses
    else if (!one.unpaid && plan.staying.length < NAMED)
      plan.staying.push({ order_id: one.publicId, addresses: one.addresses })
    add((one.unpaid ? plan.reservations : plan)[fits ? 'moves' : 'stays'], one)
  }
  return plan
}
