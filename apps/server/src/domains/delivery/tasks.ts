import { refuse, type Order } from '@netlet/contract'
import { randomUUID } from 'node:crypto'
import { and, eq, isNull } from 'drizzle-orm'
import { transact } from '../../platform/db/transact.ts'
import { ok, type Result } from '../../platform/result.ts'
import type { Shop } from '../../platform/shop.ts'
import { randomCode } from '../../platform/secrets.ts'
import { wantUsers } from '../fleet/index.ts'
import { leasesOf, reserveOther } from '../inventory/index.ts'
import { lockOrder, note, type OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { advance } from './advance.ts'
import { checkProxies } from './checks/index.ts'
import { orderTaskQueue } from './queues.ts'
import { createProxies, startDelivery, usersOf } from './start.ts'

export type OrderTask = NonNullable<Order['task']>

/**
 * Asks for a piece of work on an order: it is queued, and the order's row shows it until it ends.
 * @param userId only the user's own order (null: anyone's)
 */
export async function requestTask(
  shop: Pick<Shop, 'db' | 'jobs' | 'now'>,
  orderId: number,
  task: OrderTask,
  userId: number | null
): Promise<Result<{ task_id: string; status: 'queued' }>> {
  return transact(shop.db, async tx => {
    const order = await lockOrder(tx, orderId)
    if (!order || order.deletedAt || (userId !== null && order.userId !== userId)) return refuse('not_found')
    const refusal = unfit(order, task)
    if (refusal) return refuse(refusal)
    const taskId = randomUUID()
    await tx.update(orders).set({ task, taskId, taskAt: shop.now(), taskError: null }).where(eq(orders.id, orderId))
    await note(tx, orderId, 'task asked', { task })
    await shop.jobs.send(tx, orderTaskQueue, { orderId, taskId }, { key: `${orderId}:${taskId}` })
    return ok({ task_id: taskId, status: 'queued' as const })
  })
}

function unfit(order: OrderRow, task: OrderTask) {
  if (order.state === 'placed' || order.state === 'timed_out') return 'order_not_paid' as const
  if (order.state === 'expired') return 'order_expired' as const
  if (order.task) return 'order_busy' as const
  // Other addresses, or another password, for what is still on its way would never settle.
  const underway = order.state === 'delivering' || order.state === 'partly_delivered'
  if (underway && (task === 'change' || task === 'reset')) return 'order_busy' as const
  if (order.deliveryNum === 0 && task !== 'deliver') return 'no_proxies' as const
  return null
}

/** Runs what was asked for. Repeating it after a crash goes on where it stopped. */
export async function runTask(shop: Shop, { orderId, taskId }: { orderId: number; taskId: string }): Promise<void> {
  const [asked] = await shop.db
    .select({ task: orders.task, at: orders.taskAt })
    .from(orders)
    .where(and(eq(orders.id, orderId), eq(orders.taskId, taskId), isNull(orders.deletedAt)))
  if (!asked?.task) return
  if (asked.task === 'check') {
    await checkProxies(shop, orderId)
    return endTask(shop, orderId, taskId, null)
  }
  const failure = await shop.db.transaction(async tx => {
    const order = await lockOrder(tx, orderId)
    if (!order || order.taskId !== taskId) return null
    if (order.task === 'change') return changeAddresses(tx, shop, order)
    if (order.task === 'reset') return resetPassword(tx, shop, order)
    return deliver(tx, shop, order)
  })
  if (failure) await endTask(shop, orderId, taskId, failure)
}

type Tx = Parameters<Parameters<Shop['db']['transaction']>[0]>[0]

/** Leases other addresses; when the agents serve them, `advance` gives the old ones back. */
async function changeAddresses(tx: Tx, shop: Shop, order: OrderRow): Promise<string | null> {
  const held = await leasesOf(tx, order.id)
  if (new Set(held.map(share => share.leaseId)).size > 1) {
    await advance(tx, shop, [order.id])
    return null
  }
  const lease = await reserveOther(tx, {
    orderId: order.id,
    groupId: order.serverGroupId,
    step: order.cartStep,
    rules: order.rules,
    quantity: order.quantity
  })
  if (!lease.ok) return 'Out of stock'
  await createProxies(tx, order.id, lease.leaseId)
  await wantUsers(tx, shop.jobs, usersOf(order, await leasesOf(tx, order.id)))
  await tx.update(orders).set({ resetTime: shop.now() }).where(eq(orders.id, order.id))
  return null
}

async function resetPassword(tx: Tx, shop: Shop, order: OrderRow): Promise<null> {
  // Asked for again after a crash: the new password is there already.
  if (order.taskAt && order.resetTime && order.resetTime >= order.taskAt) return null
  const proxyPassword = randomCode(14)
  await tx.update(orders).set({ proxyPassword, resetTime: shop.now() }).where(eq(orders.id, order.id))
  await wantUsers(tx, shop.jobs, usersOf({ ...order, proxyPassword }, await leasesOf(tx, order.id)))
  return null
}

/** Delivers what is missing: leases anew where there is nothing, else asks the agents again. */
async function deliver(tx: Tx, shop: Shop, order: OrderRow): Promise<string | null> {
  if (order.state === 'paid' || order.state === 'failed') {
    return (await startDelivery(tx, shop, order)) ? null : 'Out of stock'
  }
  await wantUsers(tx, shop.jobs, usersOf(order, await leasesOf(tx, order.id)))
  return null
}

async function endTask(shop: Pick<Shop, 'db'>, orderId: number, taskId: string, failure: string | null): Promise<void> {
  await shop.db.transaction(async tx => {
    const ended = await tx
      .update(orders)
      .set({ task: null, taskId: null, taskAt: null, taskError: failure })
      .where(and(eq(orders.id, orderId), eq(orders.taskId, taskId)))
      .returning({ id: orders.id })
    if (ended.length > 0) await note(tx, orderId, failure ? 'task failed' : 'task done', failure ? { failure } : {})
  })
}
