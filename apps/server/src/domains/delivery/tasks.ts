import { refuse, type OrderTask } from '@netlet/contract'
import { and, eq, isNull } from 'drizzle-orm'
import { actsAsAdmin, SYSTEM, type Actor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { randomCode } from '../../infra/secrets.ts'
import { setDesiredUsers } from '../fleet/index.ts'
import { activate, leasesOf, reserveOther } from '../inventory/index.ts'
import {
  beginTask,
  finishTask,
  lockOrder,
  markReset,
  queueTask,
  setCredentials,
  taskStateOf,
  type FailedTask,
  type OrderRow
} from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { advance } from './advance.ts'
import { checkProxies } from './checks/index.ts'
import { queueOf, type TaskJob } from './queues.ts'
import { createProxies, servedShares, startDelivery, usersOf, type AcceptPayment } from './start.ts'

/**
 * Asks for a piece of work on an order: it is queued, and the order's row shows it until it ends.
 * @param userId only the user's own order (null: anyone's)
 */
export async function requestTask(
  ctx: AppContext,
  by: Actor,
  orderId: number,
  task: OrderTask,
  userId: number | null
): Promise<Result<RequestedTask>> {
  return command(ctx, by, unit => requestTaskIn(unit, orderId, task, userId))
}

type RequestedTask = { task_id: string; status: 'queued' }

/** `requestTask` as part of a larger write. */
export async function requestTaskIn(
  unit: Unit,
  orderId: number,
  task: OrderTask,
  userId: number | null
): Promise<Result<RequestedTask>> {
  const order = await lockOrder(unit, orderId)
  if (!order || order.deletedAt || (userId !== null && order.userId !== userId)) return refuse('not_found')
  const refusal = unfit(order, task, unit.now)
  if (refusal) return refuse(refusal)
  const taskId = await queueTask(unit, order, task)
  if (actsAsAdmin(unit.by) && task !== 'check') unit.audit(`order.${task}`, orderId)
  unit.jobs.send(queueOf(task), { orderId, taskId }, { key: `${orderId}:${taskId}` })
  return ok({ task_id: taskId, status: 'queued' as const })
}

function unfit(order: OrderRow, task: OrderTask, now: Date) {
  if (!order.paidAt) return 'order_not_paid' as const
  if (order.state === 'refunded') return 'order_refunded' as const
  if (order.state === 'expired' || (order.expiredAt && order.expiredAt <= now)) return 'order_expired' as const
  if (taskStateOf(order) !== 'none') return 'order_busy' as const
  // Other addresses, or another password, for what is still on its way would never settle.
  const underway = order.state === 'delivering' || order.state === 'partly_delivered'
  if (underway && (task === 'change' || task === 'reset')) return 'order_busy' as const
  if (order.deliveryNum === 0 && task !== 'deliver') return 'no_proxies' as const
  return null
}

/** What delivery needs of the domains above it. */
export type DeliveryPorts = { acceptPayment: (ctx: AppContext) => AcceptPayment }

/** Runs what was asked for. Repeating it after a crash goes on where it stopped. */
export async function runTask(ctx: AppContext, ports: DeliveryPorts, { orderId, taskId }: TaskJob): Promise<void> {
  const [asked] = await ctx.db
    .select({ task: orders.task })
    .from(orders)
    .where(and(eq(orders.id, orderId), eq(orders.taskId, taskId), isNull(orders.deletedAt)))
  if (!asked?.task) return
  if (asked.task === 'check') {
    await checkProxies(ctx, orderId)
    return command(ctx, SYSTEM, unit => finishTask(unit, orderId, taskId, null))
  }
  await command(ctx, SYSTEM, async unit => {
    const order = await lockOrder(unit, orderId)
    if (!order || order.taskId !== taskId) return
    if (taskStateOf(order) === 'queued') {
      await beginTask(unit, order)
      const failure = await work(unit, order, ports.acceptPayment(ctx))
      if (failure) await finishTask(unit, orderId, taskId, failure)
    }
    // The agents may have nothing to do for it: then it ends here.
    await advance(unit, [orderId])
  })
}

/** What a task does to a locked order. @returns why it failed */
function work(unit: Unit, order: OrderRow, acceptPayment: AcceptPayment): Promise<FailedTask | null> {
  if (order.task === 'change') return changeAddresses(unit, order)
  if (order.task === 'reset') return resetPassword(unit, order)
  return deliver(unit, order, acceptPayment)
}

/** Leases other addresses; when the agents serve them, `advance` gives the old ones back. */
async function changeAddresses(unit: Unit, order: OrderRow): Promise<FailedTask | null> {
  const { tx } = unit
  // More than one lease: an earlier change was refused by an agent halfway. It is taken up where it stands.
  if (new Set((await leasesOf(tx, order.id)).map(share => share.leaseId)).size === 1) {
    const lease = await reserveOther(tx, {
      orderId: order.id,
      groupId: order.serverGroupId,
      step: order.cartStep,
      rules: order.rules,
      quantity: order.quantity
    })
    if (!lease.ok) return { code: 'out_of_stock' }
    await activate(tx, order.id)
    await createProxies(unit, order.id, lease.leaseId)
  }
  await setDesiredUsers(unit, usersOf(order, await servedShares(tx, order.id)))
  await markReset(unit, order)
  return null
}

async function resetPassword(unit: Unit, order: OrderRow): Promise<null> {
  const changed = await setCredentials(unit, order, randomCode(14))
  await setDesiredUsers(unit, usersOf(changed, await servedShares(unit.tx, order.id)))
  return null
}

/** Delivers what is missing: leases again where there is nothing, else asks the agents again. */
async function deliver(unit: Unit, order: OrderRow, acceptPayment: AcceptPayment): Promise<FailedTask | null> {
  if (order.state === 'paid' || order.state === 'failed') {
    return (await startDelivery(unit, order, acceptPayment)) ? null : { code: 'out_of_stock' }
  }
  await setDesiredUsers(unit, usersOf(order, await servedShares(unit.tx, order.id)))
  return null
}
