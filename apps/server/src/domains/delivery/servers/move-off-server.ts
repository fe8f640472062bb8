import { refuse } from '@netlet/contract'
import { and, asc, eq, isNull } from '../../../infra/db/drizzle.ts'
import type { Unit } from '../../../infra/command.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { done, ok, type Result } from '../../../infra/result.ts'
import type { RunInput } from '../../bulk/index.ts'
import { serverGroups, serverGroupServers, servers } from '../../servers/tables.ts'
import { lockInventory, release, reserve, splitLease } from '../../inventory/index.ts'
import { type Note, type OrderRow, announce, isServed, lockOrder, regroup, taskStateOf } from '../../orders/index.ts'
import { advance } from '../advance.ts'
import { moveOffLostServer, replaceOnServer, sharesOnServer } from './replace.ts'
import { holdingsOf, sumOf } from '../holdings.ts'
import type { LeaseSource } from '../lease-more.ts'
import { reservationOf } from '../start.ts'
import { proxies } from '../tables.ts'

/** Mails the customer that addresses of an order change, unless an operator's note says not to. */
export async function announceMove(unit: Unit, orderId: number, addresses: number, note: Note = {}): Promise<void> {
  if (note.email_customer === false) return
  const key = `moved:${orderId}:${unit.now.toISOString()}`
  await announce(unit, orderId, { template: 'addresses-changed', data: { addresses }, key }, note)
}

/** The note of a run. All orders of one customer are in one mail. */
export const noteOfRun = ({ id, input: { message, email_customer } }: Run): Note => ({
  message,
  email_customer,
  batch: `run:${id}`
})
export type Run = { id: number; input: RunInput }

/** Where addresses go. With neither: to other servers of the order's own group. */
export type Target = { serverId?: number | undefined; groupId?: number | undefined }

/**
 * Takes one order off a server, in any state. Repeating it changes nothing.
 * @returns a refusal if the order must wait: there is no room, or a task of it runs
 */
export async function moveOffServer(
  unit: Unit,
  orderId: number,
  { serverId, target = {}, note }: { serverId: number; target?: Target; note?: Note }
): Promise<Result<null>> {
  const { tx } = unit
  const order = await lockOrder(unit, orderId)
  if (!order) return refuse('not_found')
  const [server] = await tx
    .select({ name: servers.name, status: servers.status })
    .from(servers)
    .where(eq(servers.id, serverId))
  if (!server) return refuse('not_found')
  const served = isServed(order.state)
  if (server.status === 'given_up') {
    if (order.paidAt === null || order.state === 'failed') await release(tx, { orderId })
    else {
      const worked = await moveOffLostServer(unit, order, serverId)
      if (worked > 0 && served) await announceMove(unit, orderId, worked, note)
    }
    return done
  }
  if (order.state === 'placed') return reserveElsewhere(unit, order, serverId, target)
  // An order that has ended leaves by itself, once its agents confirm.
  if (!served) return done
  const moved = await moveLive(unit, order, [serverId], target, note)
  return moved.ok ? done : moved
}

/**
 * Moves what a live, locked order holds on some servers. What is moving already is left alone.
 * @returns a refusal if there is no room, or a task of the order runs
 */
export async function moveLive(
  unit: Unit,
  order: OrderRow,
  serverIds: number[],
  target: Target,
  note?: Note
): Promise<Result<{ moved: number }>> {
  const { tx } = unit
  const held = (await holdingsOf(tx, order.id)).filter(holding => !holding.replaced)
  const from = serverIds.filter(id => held.some(holding => holding.serverIds.includes(id)))
  if (from.length === 0) return ok({ moved: 0 })
  const place = await findPlace(tx, order, from, target)
  if (!place.ok) return place
  if (taskStateOf(order) !== 'none') return refuse('order_busy')
  // Addresses that these servers have not delivered yet are replaced at once. Other servers must deliver theirs first.
  const waiting = await serversWaitedFor(tx, order.id)
  if (waiting.some(id => !from.includes(id))) return refuse('order_busy')
  // Several reservations in one transaction.
  if (from.length > 1) await lockInventory(tx)
  let moved = 0
  for (const serverId of from.toSorted((a, b) => a - b)) {
    const isWaited = waiting.includes(serverId)
    const how = { place: place.data, atOnce: isWaited, cause: 'move', extent: 'all' } as const
    const { given, left } = await replaceOnServer(unit, order, serverId, how)
    if (left > 0) return refuse('out_of_stock')
    moved += given
  }
  if (target.groupId !== undefined) await regroup(unit, order, target.groupId)
  if (moved > 0) await announceMove(unit, order.id, moved, note)
  await advance(unit, [order.id])
  return ok({ moved })
}

/** Moves a reservation that is not paid yet. */
async function reserveElsewhere(unit: Unit, order: OrderRow, serverId: number, target: Target): Promise<Result<null>> {
  const { tx } = unit
  const shares = await sharesOnServer(tx, order.id, serverId)
  if (shares.length === 0) return done
  const place = await findPlace(tx, order, [serverId], target)
  if (!place.ok) return place
  // It leases and releases in one transaction.
  await lockInventory(tx)
  const parts: number[] = []
  for (const { leaseId } of shares) parts.push((await splitLease(tx, leaseId, serverId)) ?? leaseId)
  const quantity = sumOf(shares, share => share.addresses)
  const lease = await reserve(tx, { ...reservationOf(order), ...place.data, quantity })
  if (!lease.ok) return refuse('out_of_stock')
  await release(tx, { leaseIds: parts })
  if (target.groupId !== undefined) await regroup(unit, order, target.groupId)
  return done
}

/** Where an order's new addresses come from when it leaves these servers. */
export async function findPlace(
  db: Executor,
  order: Pick<OrderRow, 'serverGroupId'>,
  from: number[],
  target: Target
): Promise<Result<LeaseSource>> {
  if (target.serverId === undefined) {
    const groupId = target.groupId ?? order.serverGroupId
    const known = await db.$count(serverGroups, and(eq(serverGroups.id, groupId), isNull(serverGroups.deletedAt)))
    return known > 0 ? ok({ groupId, avoid: from }) : refuse('move_target_gone')
  }
  if (from.includes(target.serverId)) return refuse('move_target_unfit')
  const groups = await db
    .select({ groupId: serverGroupServers.groupId })
    .from(serverGroupServers)
    .innerJoin(serverGroups, and(eq(serverGroups.id, serverGroupServers.groupId), isNull(serverGroups.deletedAt)))
    .where(eq(serverGroupServers.serverId, target.serverId))
    .orderBy(asc(serverGroupServers.groupId))
  const group = groups.find(({ groupId }) => groupId === order.serverGroupId) ?? groups[0]
  if (!group) return refuse('move_target_gone')
  const members = await db
    .select({ id: serverGroupServers.serverId })
    .from(serverGroupServers)
    .where(eq(serverGroupServers.groupId, group.groupId))
  return ok({ groupId: group.groupId, avoid: members.map(({ id }) => id).filter(id => id !== target.serverId) })
}

async function serversWaitedFor(db: Executor, orderId: number): Promise<number[]> {
  const rows = await db
    .selectDistinct({ id: proxies.serverId })
    .from(proxies)
    .where(and(eq(proxies.orderId, orderId), eq(proxies.state, 'pending')))
  return rows.map(({ id }) => id)
}
