import { and, asc, eq, exists, gt, inArray, isNull, lte, ne, sql } from 'drizzle-orm'
import { SYSTEM } from '../../../infra/actor.ts'
import { MINUTE } from '../../../infra/clock.ts'
import { command, type Unit } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { notifyAdmins } from '../../accounts/index.ts'
import { servers } from '../../fleet/tables.ts'
import { lockInventory, ordersOnServer } from '../../inventory/index.ts'
import { isServed, lockOrder, recordProgress, SERVED_STATES, type OrderRow } from '../../orders/index.ts'
import { orders } from '../../orders/tables.ts'
import { readSettings } from '../../settings/index.ts'
import { advance } from '../advance.ts'
import { leaseMissing } from '../missing.ts'
import { proxies } from '../tables.ts'
import { announceOutages } from './announce-outage.ts'
import { leaveServer } from './leave-server.ts'
import { replaceOn, serverNames, sharesOn } from './replace.ts'
import { sumOf } from '../holdings.ts'

/** After this long the rest is left for the next minute (milliseconds). */
const SLICE_MS = 40_000
const BATCH = 100

/**
 * Each minute: customers hear of outages; orders that wait too long for a server that does not answer get addresses of others; what was lost with a
 * server is leased again where there is room by now; and what a given-up or draining server still holds leaves it.
 */
export async function rescueOrders(ctx: AppContext, { sliceMs = SLICE_MS } = {}): Promise<void> {
  const until = performance.now() + sliceMs
  await announceOutages(ctx)
  const { rescue_after: minutes } = await readSettings(ctx.db, ctx.secrets)
  const before = new Date(ctx.now().getTime() - minutes * MINUTE)
  await each(
    until,
    after => waitingOrders(ctx.db, before, after),
    id => command(ctx, SYSTEM, unit => rescueOrder(unit, id, before))
  )
  await each(
    until,
    after => incompleteOrders(ctx.db, after),
    id =>
      command(ctx, SYSTEM, async unit => {
        const order = await lockOrder(unit, id)
        if (order?.failCode !== 'addresses_lost' || !isServed(order.state)) return
        if (await leaseMissing(unit, order)) await advance(unit, [id])
      })
  )
  const leaving = await ctx.db
    .select({ id: servers.id })
    .from(servers)
    .where(and(inArray(servers.status, ['given_up', 'draining']), isNull(servers.deletedAt)))
  for (const { id: serverId } of leaving) {
    for (const orderId of await ordersOnServer(ctx.db, serverId)) {
      if (performance.now() > until) return
      // A refusal (no room, a task that runs) is tried again in a minute.
      await command(ctx, SYSTEM, unit => leaveServer(unit, orderId, { serverId }))
    }
  }
}

/** Works through all ids, page by page, until the time is over. */
async function each(until: number, page: (after: number) => Promise<number[]>, work: (id: number) => Promise<unknown>) {
  for (let after = 0; ;) {
    const ids = await page(after)
    for (const id of ids) {
      if (performance.now() > until) return
      await work(id)
      after = id
    }
    if (ids.length < BATCH) return
  }
}

const isSilent = (before: Date) => and(lte(servers.unreachableSince, before), ne(servers.status, 'given_up'))

/** Orders with addresses that no agent has confirmed since `before`, on servers that do not answer since then. */
async function waitingOrders(db: Executor, before: Date, after: number): Promise<number[]> {
  const rows = await db
    .selectDistinct({ id: proxies.orderId })
    .from(proxies)
    .innerJoin(servers, eq(servers.id, proxies.serverId))
    .innerJoin(orders, eq(orders.id, proxies.orderId))
    .where(
      and(
        sql`${proxies.state} = 'pending'`,
        lte(proxies.updatedAt, before),
        isSilent(before),
        inArray(orders.state, [...SERVED_STATES]),
        gt(proxies.orderId, after)
      )
    )
    .orderBy(asc(proxies.orderId))
    .limit(BATCH)
  return rows.map(({ id }) => id)
}

async function incompleteOrders(db: Executor, after: number): Promise<number[]> {
  const rows = await db
    .select({ id: orders.id })
    .from(orders)
    .where(and(eq(orders.failCode, 'addresses_lost'), inArray(orders.state, [...SERVED_STATES]), gt(orders.id, after)))
    .orderBy(asc(orders.id))
    .limit(BATCH)
  return rows.map(({ id }) => id)
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
  for (const serverId of ids) {
    // None of them gives the other's addresses.
    const place = { groupId: order.serverGroupId, avoid: ids }
    const moved = await replaceOn(unit, order, serverId, { place, atOnce: true, cause: 'rescue' })
    if (moved === null) stuck.push(serverId)
  }
  if (stuck.length < ids.length) await advance(unit, [orderId])
  if (stuck.length > 0) await showStuck(unit, order, stuck)
}

/** There are no other addresses: the order says what it waits for, and the administrators hear of it once. */
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
    text: `${count} addresses of order ${order.publicId} are on server ${names}, which does not answer, and there are no others for it in its group.\n\nIt is tried again each minute. More room in its group, the server's return, or a move of the order to another group lets it go on.`,
    key: `server-unreachable:${order.id}:${serverIds.join('-')}:${unit.now.toISOString().slice(0, 10)}`
  })
}
