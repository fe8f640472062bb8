import { and, eq, inArray, ne, notInArray } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { agentProgress, removeDesiredUsers, setDesiredUsers } from '../fleet/index.ts'
import { leasesOf, release } from '../inventory/index.ts'
import {
  finishTask,
  lockOrders,
  markDelivered,
  markPartlyDelivered,
  recordProgress,
  taskStateOf,
  type FailedTask,
  type Failure,
  type OrderRow
} from '../orders/index.ts'
import { deliveredQueue } from './queues.ts'
import { servedShares, usersOf } from './start.ts'
import { proxies } from './tables.ts'

/**
 * Takes each order as far as its agents allow: what they confirmed becomes live, what they gave up returns to stock.
 * It looks at the state of things only, so it may run at any time, any number of times.
 */
export async function advance(unit: Unit, orderIds: number[]): Promise<void> {
  const given: number[] = []
  for (const order of await lockOrders(unit, orderIds)) given.push(...(await advanceOne(unit, order)))
  // In one call, since each takes the locks of the inventory in ascending order.
  if (given.length > 0) await release(unit.tx, { leaseIds: given })
}

/** @returns leases that no agent serves any more */
async function advanceOne(unit: Unit, order: OrderRow): Promise<number[]> {
  const { tx } = unit
  const agents = await agentProgress(tx, order.id)
  const behind = agents.filter(agent => !agent.inStep)
  if (order.state === 'expired' || order.state === 'refunded') {
    if (agents.length > 0) return []
    return [...new Set((await leasesOf(tx, order.id)).map(share => share.leaseId))]
  }
  if (order.state !== 'delivering' && order.state !== 'partly_delivered' && order.state !== 'delivered') return []

  await markLive(
    unit,
    order.id,
    behind.map(agent => agent.serverId)
  )
  const live = await tx.$count(proxies, and(eq(proxies.orderId, order.id), eq(proxies.state, 'live')))
  const deliveryNum = Math.min(live, order.quantity)
  const refusal = agents.find(agent => agent.refusal !== null)?.refusal ?? null
  const failure = failureToShow(order, refusal, behind.length === 0 ? order.quantity - live : 0)
  const isNews = await recordProgress(unit, order, { deliveryNum, failure })
  if (refusal && isNews) await tellAdmins(unit, order, refusal)
  if (behind.length > 0) {
    if (deliveryNum > 0 && order.state === 'delivering') await markPartlyDelivered(unit, order)
    // Trying the same again would be refused again, so the task ends now.
    if (refusal) await finishRunningTask(unit, order, { code: 'agent_refused', params: { message: refusal } })
    return []
  }

  const held = [...new Set((await leasesOf(tx, order.id)).map(share => share.leaseId))]
  const older = held.filter(leaseId => leaseId !== Math.max(...held))
  if (older.length > 0) return withdraw(unit, order, older)

  if (live >= order.quantity && order.state !== 'delivered') {
    await markDelivered(unit, order)
    unit.jobs.send(deliveredQueue, { orderId: order.id })
  }
  await finishRunningTask(unit, order, null)
  return []
}

async function tellAdmins(unit: Unit, order: OrderRow, refusal: string): Promise<void> {
  await notifyAdmins(unit, {
    subject: `A server refuses proxies of order ${order.publicId}`,
    text: `The agent of a server refused what it should serve for order ${order.publicId}: ${refusal}.\n\nIts row under Orders shows the same. 'Deliver' asks the agent again.`,
    key: `refused:${order.id}`
  })
}

/** Why an order is not as it should be; a failure that is recorded already stays. */
function failureToShow(order: OrderRow, refusal: string | null, missing: number): Failure | null {
  if (refusal) return { code: 'agent_refused', params: { message: refusal } }
  if (missing > 0) return { code: 'addresses_lost', params: { count: missing } }
  if (order.failCode === null || order.failCode === 'agent_refused') return null
  return { code: order.failCode, ...(order.failParams ? { params: order.failParams } : {}) }
}

/**
 * The new addresses of a change work: the old ones are first taken off the agents and, once those have confirmed, go
 * back to stock.
 */
async function withdraw(unit: Unit, order: OrderRow, older: number[]): Promise<number[]> {
  const { tx, now } = unit
  const stillServed = await tx
    .update(proxies)
    .set({ state: 'retired', updatedAt: now })
    .where(and(eq(proxies.orderId, order.id), inArray(proxies.leaseId, older), ne(proxies.state, 'retired')))
    .returning({ id: proxies.id })
  if (stillServed.length === 0) {
    await finishRunningTask(unit, order, null)
    return older
  }
  const users = usersOf(order, await servedShares(tx, order.id))
  await setDesiredUsers(unit, users)
  const left = (await agentProgress(tx, order.id))
    .map(agent => agent.serverId)
    .filter(id => !users.some(user => user.serverId === id))
  if (left.length > 0) await removeDesiredUsers(unit, order.id, left)
  return []
}

async function markLive({ tx, now }: Unit, orderId: number, behind: number[]): Promise<void> {
  await tx
    .update(proxies)
    .set({ state: 'live', updatedAt: now })
    .where(
      and(
        eq(proxies.orderId, orderId),
        eq(proxies.state, 'pending'),
        behind.length > 0 ? notInArray(proxies.serverId, behind) : undefined
      )
    )
}

/** Ends the task that the agents were working on; one whose work has not been done yet is not touched. */
async function finishRunningTask(unit: Unit, order: OrderRow, failure: FailedTask | null): Promise<void> {
  if (!order.taskId || order.task === 'check' || taskStateOf(order) !== 'running') return
  await finishTask(unit, order.id, order.taskId, failure)
}
