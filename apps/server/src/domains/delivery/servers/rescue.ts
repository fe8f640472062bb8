import { and, asc, eq, exists, gt, inArray, isNull, lt, lte, ne, or, sql } from '../../../infra/db/drizzle.ts'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { SYSTEM } from '../../../infra/actor.ts'
import { HOUR, MINUTE, iso } from '../../../infra/clock.ts'
import { type Unit, command } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { notifyAdmins } from '../../accounts/index.ts'
import { removeDesiredUsers, claimUnannounced, troubledSince } from '../../servers/index.ts'
import { servers } from '../../servers/tables.ts'
import { lockInventory, markReplaced } from '../../inventory/index.ts'
import { chunks, leaseBlocks, leases } from '../../inventory/tables.ts'
import {
  type OrderRow,
  SERVED_STATES,
  failTask,
  isServed,
  lockOrder,
  markRescueTried,
  orderMailColumns,
  orderMailFrom,
  recordProgress,
  taskStateOf
} from '../../orders/index.ts'
import { incomplete, orders } from '../../orders/tables.ts'
import { readSettings } from '../../settings/index.ts'
import { advance } from '../advance.ts'
import { proxies } from '../tables.ts'
import { announceMove, moveOffServer } from './move-off-server.ts'
import { replaceOnServer, serverNames, splitOffRefused } from './replace.ts'
import { holdingsOf, isRetired, keepPendingReturns, retireProxies, sumOf } from '../holdings.ts'
import { leaseMissing } from '../lease-more.ts'
import { users } from '../../accounts/tables.ts'
import { enqueueMail } from '../../mail/index.ts'
import { servedShares, usersOf, setOrderUsers } from '../start.ts'

/**
 * Ends a change of a locked order's addresses if the new ones wait for a troubled server and there are no others. The
 * order keeps its old addresses, which still work.
 * @returns false if no change runs, or some old addresses are gone
 */
export async function abandonChange(unit: Unit, order: OrderRow): Promise<boolean> {
  const { tx } = unit
  if (order.task !== 'change' || !order.taskId || taskStateOf(order) !== 'running') return false
  const held = await holdingsOf(tx, order.id)
  const before = held.filter(holding => holding.replaced && !isRetired(holding))
  if (sumOf(before, holding => holding.addresses) < order.quantity) return false
  const changed = held.filter(holding => !holding.replaced).map(holding => holding.leaseId)
  await markReplaced(tx, changed)
  const worked = await retireProxies(unit, order.id, inArray(proxies.leaseId, changed))
  // They may include a part of an earlier change. The order keeps as many as it bought, and gives back the rest.
  await keepPendingReturns(unit, order, order.quantity)
  const users = usersOf(order, await servedShares(tx, order.id))
  const left = held
    .flatMap(holding => holding.serverIds)
    .filter(serverId => !users.some(user => user.serverId === serverId))
  if (left.length > 0) await removeDesiredUsers(unit, order.id, [...new Set(left)])
  await setOrderUsers(unit, order, users)
  // A customer who has seen some of the new ones has changed.
  await failTask(unit, order, { code: 'out_of_stock' }, { changed: worked > 0 })
  return true
}

/** Tells customers, once for each outage, that some of their addresses do not work. */
async function announceOutages(ctx: AppContext): Promise<void> {
  const { unreachable_after: minutes } = await readSettings(ctx.db, ctx.secrets)
  while (await announceOutage(ctx, minutes * MINUTE));
}

/** @returns whether there was one */
function announceOutage(ctx: AppContext, lastsMs: number): Promise<boolean> {
  return command(ctx, SYSTEM, async unit => {
    const outage = await claimUnannounced(unit, new Date(unit.now.getTime() - lastsMs))
    if (!outage) return false
    const concerned = await unit.tx
      .select({
        id: orders.id,
        about: orderMailColumns,
        addresses: sql<number>`count(*)::int`
      })
      .from(proxies)
      .innerJoin(orders, and(eq(orders.id, proxies.orderId), isNull(orders.deletedAt)))
      .innerJoin(users, eq(users.id, orders.userId))
      .where(and(eq(proxies.serverId, outage.serverId), eq(proxies.state, 'live')))
      .groupBy(orders.id, users.id)
    for (const { id, about, addresses } of concerned) {
      const mail = orderMailFrom(about)
      enqueueMail(unit, {
        ...mail,
        template: 'server-outage',
        data: { ...mail.data, addresses, since: iso(outage.startedAt) },
        key: `outage:${outage.id}:${id}`
      })
    }
    return true
  })
}

/** After this long the rest is left for the next minute (milliseconds). */
const SLICE_MS = 40_000
const BATCH = 100

/**
 * Each minute: announces outages to customers, gives orders other addresses that wait too long for a server that does
 * not answer or takes no changes, leases again what was lost with a server if there is room now, and takes orders off
 * servers that are given up or draining. The order tried longest ago comes first, so that those without room hold up no
 * others.
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
      // First and by itself, so that an order that fails gives way to the others too.
      await command(ctx, SYSTEM, unit => markRescueTried(unit, id))
      await tryRescue(ctx, id, before)
      if (performance.now() > until) return
    }
    if (ids.length < BATCH) return
  }
}

async function tryRescue(ctx: AppContext, id: number, before: Date): Promise<void> {
  try {
    await command(ctx, SYSTEM, unit => rescueOrder(unit, id, before))
    await command(ctx, SYSTEM, unit => completeOrder(unit, id))
    // After a refusal (no room, a running task), the next minute tries again.
    for (const serverId of await serversToLeave(ctx.db, id))
      await command(ctx, SYSTEM, unit => moveOffServer(unit, id, { serverId }))
  } catch (error) {
    ctx.log.error({ err: error, order: id }, 'an order could not be rescued')
  }
}

/** A time in the future comes from a clock that ran ahead, so it counts as long ago. */
const isLongAgo = (column: PgColumn, before: Date, now: Date) =>
  or(lt(column, before), gt(column, new Date(now.getTime() + HOUR)))
const isSilent = (before: Date) => and(lte(troubledSince, before), ne(servers.status, 'given_up'))
/** Its agent takes changes, but refuses the range of this proxy, so the user is not set there at all. */
const isRefused = and(sql`${proxies.ip} <<= any (${servers.refusedRanges}::inet[])`, ne(servers.status, 'given_up'))
const isLeft = and(inArray(servers.status, ['given_up', 'draining']), isNull(servers.deletedAt))
const isIncomplete = and(incomplete(orders), inArray(orders.state, [...SERVED_STATES]))

/**
 * Orders that were not tried since `started`, longest ago first: with addresses that no agent confirmed since `before`,
 * on servers silent since then or refusing their range; with too few addresses; or on a server to leave.
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
        isLongAgo(proxies.updatedAt, before, started),
        or(isSilent(before), isRefused),
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
        or(isNull(orders.rescueTriedAt), isLongAgo(orders.rescueTriedAt, started, started))
      )
    )
    .orderBy(sql`${orders.rescueTriedAt} nulls first`, asc(orders.id))
    .limit(BATCH)
  return rows.map(({ id }) => id)
}

/** Servers that an order must leave and still holds addresses of. */
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

/** Leases what an order lost with a server, as far as there is room now. */
async function completeOrder(unit: Unit, id: number): Promise<void> {
  const order = await lockOrder(unit, id)
  if (!order || !isServed(order.state)) return
  const { leased } = await leaseMissing(unit, order, 'part')
  if (leased > 0) await advance(unit, [id])
}

/** Looks again under the order's lock, because the server may have answered since. */
async function rescueOrder(unit: Unit, orderId: number, before: Date): Promise<void> {
  const { tx } = unit
  const order = await lockOrder(unit, orderId)
  if (!order || !isServed(order.state)) return
  const waiting = and(
    eq(proxies.orderId, orderId),
    eq(proxies.serverId, servers.id),
    eq(proxies.state, 'pending'),
    isLongAgo(proxies.updatedAt, before, unit.now)
  )
  const one = { one: sql`1` }
  const troubled = await tx
    .select({ id: servers.id, silent: sql<boolean>`coalesce(${isSilent(before)}, false)` })
    .from(servers)
    .where(
      or(
        and(isSilent(before), exists(tx.select(one).from(proxies).where(waiting))),
        exists(tx.select(one).from(proxies).where(and(waiting, isRefused)))
      )
    )
    .orderBy(asc(servers.id))
  // None of the silent servers gives another's addresses. A server that only refuses a range still sells its others.
  const place = { groupId: order.serverGroupId, avoid: troubled.filter(({ silent }) => silent).map(({ id }) => id) }
  // Several reservations in one transaction. Splitting a lease takes a lock of its own.
  if (troubled.length > 0) await lockInventory(tx)
  const stuck = new Map<number, number>()
  let moved = 0
  let given = 0
  for (const { id, silent } of troubled) {
    const how = { place, atOnce: true, cause: 'rescue', extent: 'part' } as const
    const only = silent ? undefined : await splitOffRefused(unit, orderId, id)
    const done = await replaceOnServer(unit, order, id, only ? { ...how, only } : how)
    if (done.left > 0) stuck.set(id, done.left)
    moved += done.moved
    given += done.given
  }
  // The order was renewed in its grace, so its customer had these addresses.
  if (given > 0) await announceMove(unit, orderId, given)
  const ended = stuck.size > 0 && (await abandonChange(unit, order))
  if (ended || moved > 0) await advance(unit, [orderId])
  if (stuck.size > 0 && !ended) await reportStuck(unit, order, stuck)
}

/**
 * There are too few other addresses. The order shows what it waits for, and the administrators are notified once.
 * @param stuck how many addresses are left, by server
 */
async function reportStuck(unit: Unit, order: OrderRow, stuck: ReadonlyMap<number, number>): Promise<void> {
  const serverIds = [...stuck.keys()]
  const names = [...(await serverNames(unit.tx, serverIds)).values()].toSorted().join(', ')
  const count = sumOf([...stuck.values()], left => left)
  const now = (await lockOrder(unit, order.id)) ?? order
  const failure = { code: 'server_unreachable', params: { server: names, count } } as const
  await recordProgress(unit, now, { deliveryNum: now.deliveryNum, failure })
  if (order.failCode === 'server_unreachable') return
  await notifyAdmins(unit, {
    words: 'order_waits',
    params: { order: order.publicId, server: names, count },
    key: `server-unreachable:${order.id}:${serverIds.join('-')}:${unit.now.toISOString().slice(0, 10)}`,
    cause: 'order_trouble',
    about: order.id
  })
}
