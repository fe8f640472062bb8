import { and, eq, inArray, ne, notInArray, sql } from 'drizzle-orm'
import type { Transaction } from '../../platform/db/client.ts'
import type { Shop } from '../../platform/shop.ts'
import { agentProgress, unwantUsers, wantUsers } from '../fleet/index.ts'
import { leasesOf, release } from '../inventory/index.ts'
import { lockOrder, note, transition, type OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { deliveredQueue } from './queues.ts'
import { usersOf } from './start.ts'
import { proxies } from './tables.ts'

type Advancing = Pick<Shop, 'jobs' | 'now'>

/**
 * Takes each order as far as its agents allow: what they confirmed becomes live, what they gave up returns to stock.
 * It looks at the state of things only, so it may run at any time, any number of times.
 * @param orderIds ascending
 */
export async function advance(tx: Transaction, shop: Advancing, orderIds: number[]): Promise<void> {
  const given: number[] = []
  for (const id of orderIds) {
    const order = await lockOrder(tx, id)
    if (order) given.push(...(await advanceOne(tx, shop, order)))
  }
  // In one call, since each takes the locks of the inventory in ascending order.
  if (given.length > 0) await release(tx, { leaseIds: given })
}

/** @returns leases that no agent serves any more */
async function advanceOne(tx: Transaction, shop: Advancing, order: OrderRow): Promise<number[]> {
  const agents = await agentProgress(tx, order.id)
  const behind = agents.filter(agent => !agent.inStep)
  await markLive(
    tx,
    order.id,
    behind.map(agent => agent.serverId)
  )
  const live = await tx.$count(proxies, and(eq(proxies.orderId, order.id), eq(proxies.state, 'live')))
  const deliveryNum = Math.min(live, order.quantity)
  const refusal = agents.find(agent => agent.refusal !== null)?.refusal ?? null
  if (deliveryNum !== order.deliveryNum || (refusal && refusal !== order.failReason)) {
    await tx
      .update(orders)
      .set({ deliveryNum, ...(refusal ? { failReason: `A server refused the proxies: ${refusal}` } : {}) })
      .where(eq(orders.id, order.id))
  }
  if (behind.length > 0) {
    if (deliveryNum > 0 && order.state === 'delivering') await transition(tx, order, 'deliver_part')
    return []
  }

  const held = await leasesOf(tx, order.id)
  if (order.state === 'expired') return held.map(share => share.leaseId)
  const newest = Math.max(...held.map(share => share.leaseId))
  const older = [...new Set(held.map(share => share.leaseId))].filter(leaseId => leaseId !== newest)
  if (older.length > 0) return withdraw(tx, shop, order, newest, older)

  if (live >= order.quantity && (order.state === 'delivering' || order.state === 'partly_delivered')) {
    await transition(tx, order, 'deliver_all', { failReason: null })
    await shop.jobs.send(tx, deliveredQueue, { orderId: order.id })
  }
  if (order.task === 'change' || order.task === 'reset' || order.task === 'deliver') await endTask(tx, order)
  return []
}

/**
 * The new addresses of a change work: the old ones are first taken off the agents and, once those have confirmed, go
 * back to stock.
 */
async function withdraw(
  tx: Transaction,
  shop: Advancing,
  order: OrderRow,
  newest: number,
  older: number[]
): Promise<number[]> {
  const stillServed = await tx
    .update(proxies)
    .set({ state: 'retired', updatedAt: shop.now() })
    .where(and(eq(proxies.orderId, order.id), inArray(proxies.leaseId, older), ne(proxies.state, 'retired')))
    .returning({ id: proxies.id })
  if (stillServed.length === 0) {
    if (order.task === 'change') await endTask(tx, order)
    return older
  }
  const current = (await leasesOf(tx, order.id)).filter(share => share.leaseId === newest)
  const users = usersOf(order, current)
  await wantUsers(tx, shop.jobs, users)
  const left = (await agentProgress(tx, order.id))
    .map(agent => agent.serverId)
    .filter(id => !users.some(user => user.serverId === id))
  if (left.length > 0) await unwantUsers(tx, shop.jobs, order.id, left)
  return []
}

async function markLive(tx: Transaction, orderId: number, behind: number[]): Promise<void> {
  await tx
    .update(proxies)
    .set({ state: 'live', updatedAt: sql`now()` })
    .where(
      and(
        eq(proxies.orderId, orderId),
        eq(proxies.state, 'pending'),
        behind.length > 0 ? notInArray(proxies.serverId, behind) : undefined
      )
    )
}

async function endTask(tx: Transaction, order: OrderRow): Promise<void> {
  await tx
    .update(orders)
    .set({ task: null, taskId: null, taskAt: null, taskError: null })
    .where(eq(orders.id, order.id))
  await note(tx, order.id, 'task done', { task: order.task })
}
