import {
  refuse,
  type MoveForm,
  type OrderFamily,
  type PlannedAction,
  type ServerImpact,
  type ServerPlan
} from '@netlet/contract'
import { and, asc, eq, isNull, sql } from '../../../infra/db/drizzle.ts'
import type { Actor } from '../../../infra/actor.ts'
import { dryRun } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { ok, type Result } from '../../../infra/result.ts'
import {
  groupsOfServer,
  readServerRow,
  removeServer,
  stockAfter,
  stockChanges,
  stockOfGroups,
  stockOfRanges
} from '../../servers/index.ts'
import { stockForRules, serverCidrs } from '../../inventory/index.ts'
import { chunks, leaseBlocks, leases } from '../../inventory/tables.ts'
import { orders } from '../../orders/tables.ts'
import { impactOf } from './commands.ts'
import { placeOf, type Target } from './leave-server.ts'

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
  const leaving = action === 'pause' || action === 'delete' ? emptyPlan() : await planLeaving(db, id, target, action)
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
async function planLeaving(
  db: Executor,
  serverId: number,
  { server_id, group_id }: MoveForm,
  action: PlannedAction
): Promise<Leaving | ReturnType<typeof refuse>> {
  const target: Target = { serverId: server_id, groupId: group_id }
  const places = new Map<number, Awaited<ReturnType<typeof placeOf>>>()
  const rooms = new Map<
    string,
    { groupId: number; rules: number[]; family: OrderFamily; free: number; taken: number }
  >()
  const roomFor = async (one: Held) => {
    const place = places.get(one.serverGroupId) ?? (await placeOf(db, one, [serverId], target))
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
