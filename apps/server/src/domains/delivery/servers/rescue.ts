import { and, asc, eq, exists, inArray, isNull, lt, lte, ne, or, sql } from 'drizzle-orm'
import { SYSTEM } from '../../../infra/actor.ts'
import { MINUTE } from '../../../infra/clock.ts'
import { command, type Unit } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { notifyAdmins } from '../../accounts/index.ts'
import { troubledSince } from '../../fleet/index.ts'
import { servers } from '../../fleet/tables.ts'
import { lockInventory } from '../../inventory/index.ts'
import { chunks, leaseBlocks, leases } from '../../inventory/tables.ts'
import {
  isServed,
  lockOrder,
  markRescueTried,
  recordProgress,
  SERVED_STATES,
  type OrderRow
} from '../../orders/index.ts'
import { orders } from '../../orders/tables.ts'
import { readSettings } from '../../settings/index.ts'
import { advance } from '../advance.ts'
import { leaseMissing } from '../missing.ts'
import { proxies } from '../tables.ts'
import { announceOutages } from './announce-outage.ts'
import { announceMove } from './announce-move.ts'
import { endChange } from './end-change.ts'
import { leaveServer } from './leave-server.ts'
import { replaceOn, serverNames, sharesOn } from './replace.ts'
import { sumOf } from '../holdings.ts'

/** After this long the rest is left for the next minute (milliseconds). */
const SLICE_MS = 40_000
const BATCH = 100

/**
 * Each minute: customers hear of outages; orders that wait too long for a server that does not answer, or that takes no
 * changes, get addresses of
 * others; what was lost with a server is leased again where there is room by now; and what a given-up or draining server
 * still holds leaves it. The order that was tried longest ago comes first, so that those without a place hold up nobody.
 */
export async function rescueOrders(ctx: AppContext, { sliceMs = SLICE_MS } = {}): Promise<void> {
  const until = performance.now() + sliceMs
  const started = ctx.now()
  await announceOutages(ctx)
  const { rescue_after: minutes } = await readSettings(ctx.db, ctx.secrets)
  const before = new Date(started.getTime() - minutes * MINUTE)
  for (;;) {
    const ids = await ordersToRescue(ctx.db, { before, started })
    for (const id of ids) {
      // On its own and first: one that cannot be worked on gives way to the others too.
      await command(ctx, SYSTEM, unit => markRescueTried(unit, id))
      await tryOne(ctx, id, before)
      if (performance.now() > until) return
    }
    if (ids.length < BATCH) return
  }
}

async function tryOne(ctx: AppContext, id: number, before: Date): Promise<void> {
  try {
    await command(ctx, SYSTEM, unit => rescueOrder(unit, id, before))
    await command(ctx, SYSTEM, unit => completeOrder(unit, id))
    // A refusal (no room, a task that runs) is tried again in a minute.
    for (const serverId of await serversToLeave(ctx.db, id))
      await command(ctx, SYSTEM, unit => leaveServer(unit, id, { serverId }))
  } catch (error) {
    ctx.log.error({ err: error, order: id }, 'an order could not be rescued')
  }
}

const isSilent = (before: Date) => and(lte(troubledSince, before), ne(servers.status, 'given_up'))
const isLeft = and(inArray(servers.status, ['given_up', 'draining']), isNull(servers.deletedAt))
const isIncomplete = and(
  inArray(orders.failCode, ['addresses_lost', 'server_unreachable']),
  inArray(orders.state, [...SERVED_STATES])
)

/**
 * Orders that were not tried since `started`, longest ago first: with addresses that no agent has confirmed since
 * `before`, on servers that do not answer since then; with too few addresses; or on a server that is to be left.
 */
async function ordersToRescue(db: Executor, { before, started }: { before: Date; started: Date }): Promise<number[]> {
  const waiting = db
    .select({ id: proxies.orderId })
    .from(proxies)
    .innerJoin(servers, eq(servers.id, proxies.serverId))
    .innerJoin(orders, eq(orders.id, proxies.orderId))
    .where(
      and(
        sql`${proxies.state} = 'pending'`,
        lte(proxies.updatedAt, before),
        isSilent(before),
        inArray(orders.state, [...SERVED_STATES])
      )
    )
  const incomplete = db.select({ id: orders.id }).from(orders).where(isIncomplete)
  const leaving = db
    .select({ id: leases.orderId })
    .from(servers)
    .innerJoin(chunks, eq(chunks.serverId, servers.id))
    .innerJoin(leaseBlocks, and(eq(leaseBlocks.chunkId, chunks.id), isNull(leaseBlocks.releasedAt)))
    .innerJoin(leases, eq(leases.id, leaseBlocks.leaseId))
    .where(isLeft)
  const rows = await db
    .select({ id: orders.id })
    .from(orders)
    .where(
      and(
        inArray(orders.id, waiting.union(incomplete).union(leaving)),
        or(isNull(orders.rescueTriedAt), lt(orders.rescueTriedAt, started))
      )
    )
    .orderBy(sql`${orders.rescueTriedAt} nulls first`, asc(orders.id))
    .limit(BATCH)
  return rows.map(({ id }) => id)
}

/** Servers that are to be left, of which an order still holds addresses. */
async function serversToLeave(db: Executor, orderId: number): Promise<number[]> {
  const rows = await db
    .selectDistinct({ id: servers.id })
    .from(servers)
    .innerJoin(chunks, eq(chunks.serverId, servers.id))
    .innerJoin(leaseBlocks, and(eq(leaseBlocks.chunkId, chunks.id), isNull(leaseBlocks.releasedAt)))
    .innerJoin(leases, and(eq(leases.id, leaseBlocks.leaseId), eq(leases.orderId, orderId)))
    .where(isLeft)
    .orderBy(asc(servers.id))
  return rows.map(({ id }) => id)
}

/** Leases what an order lost with a server, as far as there is room by now. */
async function completeOrder(unit: Unit, id: number): Promise<void> {
  const order = await lockOrder(unit, id)
  if (!order || !isServed(order.state)) return
  const { leased } = await leaseMissing(unit, order, 'part')
  if (leased > 0) await advance(unit, [id])
}

/** Looks again under the order's lock: the server may have answered meanwhile. */
async function rescueOrder(unit: Unit, orderId: number, before: Date): Promise<void> {
  const { tx } = unit
  const order = await lockOrder(unit, orderId)
  if (!order || !isServed(order.state)) return
  const waiting = tx
    .select({ one: sql`1` })
    .from(proxies)
    .where(
      and(
        eq(proxies.orderId, orderId),
        eq(proxies.serverId, servers.id),
        eq(proxies.state, 'pending'),
        lte(proxies.updatedAt, before)
      )
    )
  const silent = await tx
    .select({ id: servers.id })
    .from(servers)
    .where(and(isSilent(before), exists(waiting)))
    .orderBy(asc(servers.id))
  const ids = silent.map(({ id }) => id)
  // Several reservations in one transaction.
  if (ids.length > 1) await lockInventory(tx)
  const stuck: number[] = []
  let moved = 0
  let given = 0
  for (const serverId of ids) {
    // None of them gives the other's addresses.
    const place = { groupId: order.serverGroupId, avoid: ids }
    const done = await replaceOn(unit, order, serverId, { place, atOnce: true, cause: 'rescue', amount: 'part' })
    if (done.left > 0) stuck.push(serverId)
    moved += done.moved
    given += done.given
  }
  // It was renewed in its grace: its customer had these addresses.
  if (given > 0) await announceMove(unit, orderId, given)
  const ended = stuck.length > 0 && (await endChange(unit, order))
  if (ended || moved > 0) await advance(unit, [orderId])
  if (stuck.length > 0 && !ended) await showStuck(unit, order, stuck)
}

/** There are too few other addresses: the order says what it waits for, and the administrators hear of it once. */
async function showStuck(unit: Unit, order: OrderRow, serverIds: number[]): Promise<void> {
  const names = [...(await serverNames(unit.tx, serverIds)).values()].toSorted().join(', ')
  let count = 0
  for (const serverId of serverIds)
    count += sumOf(await sharesOn(unit.tx, order.id, serverId), share => share.addresses)
  const now = (await lockOrder(unit, order.id)) ?? order
  const failure = { code: 'server_unreachable', params: { server: names, count } } as const
  await recordProgress(unit, now, { deliveryNum: now.deliveryNum, failure })
  if (order.failCode === 'server_unreachable') return
  await notifyAdmins(unit, {
    subject: `Order ${order.publicId} waits for server ${names}`,
    text: `${count} addresses of order ${order.publicId} are on server ${names}, which does not answer or takes no changes, and there are too few others for it in its group.\n\nIt is tried again each minute. More room in its group, the server's return, or a move of the order to another group lets it go on.`,
    key: `server-unreachable:${order.id}:${serverIds.join('-')}:${unit.now.toISOString().slice(0, 10)}`
  })
}
