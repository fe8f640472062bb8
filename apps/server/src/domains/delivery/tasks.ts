import { type BulkEffect, type OrderTask, type Reason, type Refusal, refuse } from '@netlet/contract'
import { type SQL, and, eq, isNull, sql } from '../../infra/db/drizzle.ts'
import { actsAsAdmin, SYSTEM, type Actor } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import { type Outcomes, type Result, countOutcomes, ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { randomCode } from '../../infra/secrets.ts'
import { activate, markReplaced, reserveOther, reserveNotHeldSince, quarantineEnd } from '../inventory/index.ts'
import {
  type FailedTask,
  type OrderRow,
  addDays,
  beginTask,
  failTask,
  finishTask,
  isOver,
  isOverSql,
  isUnsettledSql,
  lockOrder,
  type Note,
  noteDetail,
  recordAddressChange,
  queueTask,
  quotaRefusal,
  recordTaskDone,
  setCredentials,
  taskStateOf,
  undoTaskCount
} from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { advance } from './advance.ts'
import { hasClientList, checkProxies, countChecked } from './checks/index.ts'
import { CHECK_SLICE_MS, enqueueTask, groupOf, type TaskJob } from './queues.ts'
import { holdingsOf, isRetired } from './holdings.ts'
import { leaseMissing } from './lease-more.ts'
import { createProxies, reservationOf, servedShares, startDelivery, usersOf, setOrderUsers } from './start.ts'
import type { Executor } from '../../infra/db/client.ts'

/**
 * Which of these orders would refuse a task, as `requestTaskIn` does, and what it would do to the others.
 * @param held why an order of the query must not be delivered, as the domains above know from its money; or null
 */
export function planTask(
  db: Executor,
  ids: number[],
  task: OrderTask,
  { now, held }: { now: Date; held: SQL<Reason | null> }
): Promise<Outcomes> {
  const underway = sql`${orders.state} in ('delivering', 'partly_delivered')`
  const others = {
    deliver: sql`else ${held}`,
    check: sql`when ${orders.deliveryNum} = 0 then 'no_proxies'`,
    change: sql`when ${underway} then 'order_busy' when ${orders.deliveryNum} = 0 then 'no_proxies'`
  }
  const refused = sql<Reason | null>`case
    when ${orders.id} is null or ${orders.deletedAt} is not null then 'not_found'
    when ${orders.paidAt} is null then 'order_not_paid'
    when ${orders.state} = 'refunded' then 'order_refunded'
    when ${isOverSql(now)} then 'order_over'
    when ${orders.task} is not null then 'order_busy'
    ${others[task === 'reset' ? 'change' : task]}
  end`
  const delivery = sql<BulkEffect>`case
    when ${isUnsettledSql} then 'unsettled'
    when ${orders.state} in ('paid', 'failed') then 'first_delivery'
    when ${orders.deliveryNum} < ${orders.quantity} then 'missing'
    else 'again'
  end`
  const from = sql`unnest(${sql.param(ids)}::bigint[]) as asked(id) left join ${orders} on ${eq(orders.id, sql`asked.id`)}`
  return countOutcomes(db, from, { refused, effect: task === 'deliver' ? delivery : sql<BulkEffect>`'done'` })
}

/** Requests a task on an order: it is queued, and the order's row shows it until it ends. */
export async function requestTask(
  ctx: AppContext,
  by: Actor,
  orderId: number,
  task: OrderTask,
  asked: TaskScope
): Promise<Result<RequestedTask>> {
  return command(ctx, by, unit => requestTaskIn(unit, orderId, task, asked))
}

/** Why a locked order must not be delivered now, as the domains above know from its money; null if it may be. */
export type MayDeliver = (unit: Unit, order: OrderRow) => Promise<Refusal | null>

/** `userId`: who must own the order (null: any). `note`: an operator's, for the customer. */
export type TaskScope = { userId: number | null; deliveryRefusal: MayDeliver; note?: Note | undefined }

type RequestedTask = { task_id: string; status: 'queued' }

/** `requestTask` as part of a larger write. */
export async function requestTaskIn(
  unit: Unit,
  orderId: number,
  task: OrderTask,
  { userId, deliveryRefusal, note = {} }: TaskScope
): Promise<Result<RequestedTask>> {
  const order = await lockOrder(unit, orderId)
  if (!order || order.deletedAt || (userId !== null && order.userId !== userId)) return refuse('not_found')
  const refusal = taskRefusal(order, task, unit.now)
  // A customer is told to order again, which would not help an operator.
  if (refusal) return refuse(refusal === 'order_expired' && userId === null ? 'order_over' : refusal)
  const held = task === 'deliver' ? await deliveryRefusal(unit, order) : null
  if (held) return held
  if (task === 'check' && (await hasClientList(unit.tx, orderId))) return refuse('check_needs_address')
  // An operator's task does not use the customer's quota, even if the operator views the shop as this customer.
  const counted = userId !== null && !actsAsAdmin(unit.by)
  const spent = counted
    ? ((await quotaRefusal(unit, order, task)) ?? (await quarantineRefusal(unit, order, task)))
    : null
  if (spent) return spent
  const isChange = task === 'reset' || task === 'change'
  const byAdmin = actsAsAdmin(unit.by)
  const taskId = await queueTask(unit, order, task, { counted, ...(byAdmin && isChange ? { note } : {}) })
  if (byAdmin && task !== 'check') {
    const told = noteDetail(note)
    unit.audit(`order.${task}`, orderId, Object.keys(told).length > 0 ? { after: told } : {})
  }
  enqueueTask(unit, task, { orderId, taskId, group: groupOf(order.userId, unit.by) })
  return ok({ task_id: taskId, status: 'queued' as const })
}

/** Frequent changes must not put one order's addresses to rest after another, until the group has none left. */
async function quarantineRefusal({ tx, now }: Unit, order: OrderRow, task: OrderTask): Promise<Refusal | null> {
  const until = task === 'change' ? await quarantineEnd(tx, order.id, { now, most: order.quantity }) : null
  return until && refuse('changes_rest', { params: { until: iso(until) } })
}

function taskRefusal(order: OrderRow, task: OrderTask, now: Date) {
  if (!order.paidAt) return 'order_not_paid' as const
  if (order.state === 'refunded') return 'order_refunded' as const
  if (isOver(order, now)) return 'order_expired' as const
  if (taskStateOf(order) !== 'none') return 'order_busy' as const
  // Other addresses, or another password, during a delivery would never settle.
  const underway = order.state === 'delivering' || order.state === 'partly_delivered'
  if (underway && (task === 'change' || task === 'reset')) return 'order_busy' as const
  if (order.deliveryNum === 0 && task !== 'deliver') return 'no_proxies' as const
  return null
}

/** What delivery needs of the domains above it. */
export type DeliveryPorts = {
  /** A locked, failed order was delivered although its payment fell short. The payment counts now. */
  acceptPayment: (ctx: AppContext) => (unit: Unit, order: OrderRow) => Promise<void>
}

/** Runs a requested task. Repeated after a crash, it goes on where it stopped. */
export async function runTask(ctx: AppContext, ports: DeliveryPorts, job: TaskJob): Promise<void> {
  const { orderId, taskId } = job
  const [asked] = await ctx.db
    .select({ task: orders.task, at: orders.taskAt })
    .from(orders)
    .where(and(eq(orders.id, orderId), eq(orders.taskId, taskId), isNull(orders.deletedAt)))
  if (!asked?.task) return
  if (asked.task === 'check') return checkSlice(ctx, job, asked.at ?? ctx.now())
  await command(ctx, SYSTEM, async unit => {
    const order = await lockOrder(unit, orderId)
    if (!order || order.taskId !== taskId) return
    if (taskStateOf(order) === 'queued') {
      await beginTask(unit, order)
      const failure = await runTaskWork(unit, order, ctx, ports)
      if (failure) await failTask(unit, order, failure, { changed: false })
    }
    // If the agents have nothing to do for it, it ends here.
    await advance(unit, [orderId])
  })
}

/**
 * Checks an order's proxies for some seconds; the rest goes to the end of the queue. What has been checked since the
 * task was requested is done, by any process.
 */
export async function checkSlice(
  ctx: AppContext,
  job: TaskJob,
  since: Date,
  { sliceMs = CHECK_SLICE_MS }: { sliceMs?: number } = {}
): Promise<void> {
  const { orderId, taskId } = job
  const { left } = await checkProxies(ctx, orderId, {
    since,
    until: performance.now() + sliceMs,
    async onPage() {
      const done = await countChecked(ctx.db, orderId, since)
      await command(ctx, SYSTEM, unit => recordTaskDone(unit, orderId, taskId, done))
    }
  })
  await command(ctx, SYSTEM, async unit => {
    if (left) enqueueTask(unit, 'check', job)
    else await finishTask(unit, orderId, taskId)
  })
}

/** Does a task on a locked order. @returns why it failed */
async function runTaskWork(
  unit: Unit,
  order: OrderRow,
  ctx: AppContext,
  { acceptPayment }: DeliveryPorts
): Promise<FailedTask | null> {
  if (order.task === 'change') return changeAddresses(unit, order)
  if (order.task === 'reset') return resetPassword(unit, order)
  return deliver(unit, order, acceptPayment(ctx))
}

/** Leases other addresses. When the agents serve them, `advance` gives the old ones back. */
async function changeAddresses(unit: Unit, order: OrderRow): Promise<FailedTask | null> {
  const { tx } = unit
  const held = await holdingsOf(tx, order.id)
  // Replaced addresses still work: an agent refused an earlier change halfway, or operators move the order. The change
  // goes on from there. It leases nothing, so it uses nothing of the quota.
  if (held.some(holding => holding.replaced && !isRetired(holding))) await undoTaskCount(unit, order)
  else {
    const wanted = reservationOf(order)
    // A customer's change never returns addresses that the order has just given away.
    const lease = order.taskCounted
      ? await reserveNotHeldSince(tx, wanted, addDays(unit.now, -order.proxyTime))
      : await reserveOther(tx, wanted)
    if (!lease.ok) return { code: 'out_of_stock' }
    await markReplaced(
      tx,
      held.map(holding => holding.leaseId)
    )
    await activate(tx, order.id)
    await createProxies(unit, order.id, lease.leaseId)
  }
  await setOrderUsers(unit, order, usersOf(order, await servedShares(tx, order.id)))
  await recordAddressChange(unit, order)
  return null
}

async function resetPassword(unit: Unit, order: OrderRow): Promise<null> {
  const changed = await setCredentials(unit, order, randomCode(14))
  await setOrderUsers(unit, changed, usersOf(changed, await servedShares(unit.tx, order.id)))
  return null
}

/** Delivers what is missing: leases again what the order no longer holds, and asks the agents again. */
async function deliver(
  unit: Unit,
  order: OrderRow,
  acceptPayment: (unit: Unit, order: OrderRow) => Promise<void>
): Promise<FailedTask | null> {
  if (order.state === 'paid' || order.state === 'failed') {
    if (!(await startDelivery(unit, order))) return { code: 'out_of_stock' }
    await acceptPayment(unit, order)
    return null
  }
  const { missing } = await leaseMissing(unit, order, 'part')
  await setOrderUsers(unit, order, usersOf(order, await servedShares(unit.tx, order.id)))
  return missing === 0 ? null : { code: 'out_of_stock' }
}
