import { refuse, type Order } from '@netlet/contract'
import { randomUUID } from 'node:crypto'
import { and, eq, isNull } from 'drizzle-orm'
import type { Transaction } from '../../infra/db/client.ts'
import { actsAsAdmin, SYSTEM, type Actor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { randomCode } from '../../infra/secrets.ts'
import { wantUsers } from '../fleet/index.ts'
import { activate, leasesOf, reserveOther } from '../inventory/index.ts'
import { lockOrder, note, type OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { advance } from './advance.ts'
import { checkProxies } from './checks/index.ts'
import { queueOf } from './queues.ts'
import { sendLast } from './send-last.ts'
import { createProxies, servedShares, startDelivery, usersOf, type Delivering } from './start.ts'
import { finishTask, hasBegun, markBegun } from './task-marks.ts'

export type OrderTask = NonNullable<Order['task']>

/**
 * Asks for a piece of work on an order: it is queued, and the order's row shows it until it ends.
 * @param userId only the user's own order (null: anyone's)
 * @param actor the administrator that the audit log is to name
 */
export async function requestTask(
  ctx: Pick<AppContext, 'db' | 'jobs' | 'now' | 'changes'>,
  orderId: number,
  task: OrderTask,
  userId: number | null,
  actor: Actor | null = null
): Promise<Result<RequestedTask>> {
  return command(ctx, actor ?? SYSTEM, unit => requestTaskIn(unit, orderId, task, userId))
}

type RequestedTask = { task_id: string; status: 'queued' }

/** `requestTask` as part of a larger write. */
export async function requestTaskIn(
  unit: Unit,
  orderId: number,
  task: OrderTask,
  userId: number | null
): Promise<Result<RequestedTask>> {
  const { tx, now } = unit
  const order = await lockOrder(tx, orderId)
  if (!order || order.deletedAt || (userId !== null && order.userId !== userId)) return refuse('not_found')
  const refusal = unfit(order, task, now)
  if (refusal) return refuse(refusal)
  const taskId = randomUUID()
  await tx.update(orders).set({ task, taskId, taskAt: now, taskError: null }).where(eq(orders.id, orderId))
  await note(tx, orderId, 'task asked', { task })
  if (actsAsAdmin(unit.by) && task !== 'check') unit.audit(`order.${task}`, orderId)
  unit.jobs.send(queueOf(task), { orderId, taskId }, { key: `${orderId}:${taskId}` })
  return ok({ task_id: taskId, status: 'queued' as const })
}

function unfit(order: OrderRow, task: OrderTask, now: Date) {
  if (order.state === 'placed' || order.state === 'timed_out') return 'order_not_paid' as const
  if (order.state === 'expired' || (order.expiredAt && order.expiredAt <= now)) return 'order_expired' as const
  if (order.task) return 'order_busy' as const
  // Other addresses, or another password, for what is still on its way would never settle.
  const underway = order.state === 'delivering' || order.state === 'partly_delivered'
  if (underway && (task === 'change' || task === 'reset')) return 'order_busy' as const
  if (order.deliveryNum === 0 && task !== 'deliver') return 'no_proxies' as const
  return null
}

/** Runs what was asked for. Repeating it after a crash goes on where it stopped. */
export async function runTask(
  ctx: AppContext,
  { orderId, taskId }: { orderId: number; taskId: string }
): Promise<void> {
  const [asked] = await ctx.db
    .select({ task: orders.task })
    .from(orders)
    .where(and(eq(orders.id, orderId), eq(orders.taskId, taskId), isNull(orders.deletedAt)))
  if (!asked?.task) return
  if (asked.task === 'check') {
    await checkProxies(ctx, orderId)
    return ctx.db.transaction(tx => finishTask(tx, orderId, taskId, null))
  }
  await ctx.db.transaction(async tx => {
    const order = await lockOrder(tx, orderId)
    if (!order || order.taskId !== taskId || !order.task) return
    const jobs = sendLast(ctx.jobs)
    if (!(await hasBegun(tx, orderId, taskId))) {
      await markBegun(tx, orderId, order.task, taskId)
      const failure = await WORK[order.task as keyof typeof WORK](tx, { ...ctx, jobs }, order)
      if (failure) await finishTask(tx, orderId, taskId, failure)
    }
    // The agents may have nothing to do for it: then it ends here.
    await advance(tx, { now: ctx.now, jobs }, [orderId])
    await jobs.flush(tx)
  })
}

/** What each task does to a locked order, in one transaction. Each gives back why it failed, for people. */
const WORK = { change: changeAddresses, reset: resetPassword, deliver }

/** Leases other addresses; when the agents serve them, `advance` gives the old ones back. */
async function changeAddresses(tx: Transaction, ctx: Delivering, order: OrderRow): Promise<string | null> {
  // More than one lease: an earlier change was refused by an agent halfway. It is taken up where it stands.
  if (new Set((await leasesOf(tx, order.id)).map(share => share.leaseId)).size === 1) {
    const lease = await reserveOther(tx, {
      orderId: order.id,
      groupId: order.serverGroupId,
      step: order.cartStep,
      rules: order.rules,
      quantity: order.quantity
    })
    if (!lease.ok) return 'Out of stock'
    await activate(tx, order.id)
    await createProxies(tx, order.id, lease.leaseId)
  }
  await wantUsers(tx, ctx.jobs, usersOf(order, await servedShares(tx, order.id)))
  await tx.update(orders).set({ resetTime: ctx.now() }).where(eq(orders.id, order.id))
  return null
}

async function resetPassword(tx: Transaction, ctx: Delivering, order: OrderRow): Promise<null> {
  const proxyPassword = randomCode(14)
  await tx.update(orders).set({ proxyPassword, resetTime: ctx.now() }).where(eq(orders.id, order.id))
  await wantUsers(tx, ctx.jobs, usersOf({ ...order, proxyPassword }, await servedShares(tx, order.id)))
  return null
}

/** Delivers what is missing: leases anew where there is nothing, else asks the agents again. */
async function deliver(tx: Transaction, ctx: Delivering, order: OrderRow): Promise<string | null> {
  if (order.state === 'paid' || order.state === 'failed') {
    return (await startDelivery(tx, ctx, order)) ? null : 'Out of stock'
  }
  await wantUsers(tx, ctx.jobs, usersOf(order, await servedShares(tx, order.id)))
  return null
}
