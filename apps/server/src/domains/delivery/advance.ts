import { withUnit } from '../../infra/legacy-unit.ts'
import { and, eq, inArray, ne, notInArray } from 'drizzle-orm'
import type { Clock } from '../../infra/clock.ts'
import type { Transaction } from '../../infra/db/client.ts'
import type { Sender } from '../../infra/jobs.ts'
import { agentProgress, unwantUsers, wantUsers } from '../fleet/index.ts'
import { leasesOf, release } from '../inventory/index.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { lockOrders, transition, type OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { deliveredQueue } from './queues.ts'
import { sendLast } from './send-last.ts'
import { servedShares, usersOf } from './start.ts'
import { proxies } from './tables.ts'
import { finishTask, hasBegun } from './task-marks.ts'

type Advancing = { jobs: Sender; now: Clock }

const REFUSED = 'A server refused the proxies: '

/**
 * Takes each order as far as its agents allow: what they confirmed becomes live, what they gave up returns to stock.
 * It looks at the state of things only, so it may run at any time, any number of times.
 */
export async function advance(tx: Transaction, ctx: Advancing, orderIds: number[]): Promise<void> {
  const jobs = sendLast(ctx.jobs)
  const given: number[] = []
  for (const order of await lockOrders(tx, orderIds)) {
    given.push(...(await advanceOne(tx, { now: ctx.now, jobs }, order)))
  }
  // In one call, since each takes the locks of the inventory in ascending order.
  if (given.length > 0) await release(tx, { leaseIds: given })
  await jobs.flush(tx)
}

/** @returns leases that no agent serves any more */
async function advanceOne(tx: Transaction, ctx: Advancing, order: OrderRow): Promise<number[]> {
  const agents = await agentProgress(tx, order.id)
  const behind = agents.filter(agent => !agent.inStep)
  if (order.state === 'expired') {
    if (agents.length > 0) return []
    return [...new Set((await leasesOf(tx, order.id)).map(share => share.leaseId))]
  }
  if (order.state !== 'delivering' && order.state !== 'partly_delivered' && order.state !== 'delivered') return []

  await markLive(
    tx,
    ctx,
    order.id,
    behind.map(agent => agent.serverId)
  )
  const live = await tx.$count(proxies, and(eq(proxies.orderId, order.id), eq(proxies.state, 'live')))
  const deliveryNum = Math.min(live, order.quantity)
  const refusal = agents.find(agent => agent.refusal !== null)?.refusal ?? null
  const failReason = reasonToShow(order, refusal, behind.length === 0 ? order.quantity - live : 0)
  if (deliveryNum !== order.deliveryNum || failReason !== order.failReason) {
    await tx.update(orders).set({ deliveryNum, failReason }).where(eq(orders.id, order.id))
    if (refusal && failReason !== order.failReason) await tellAdmins(tx, ctx, order, refusal)
  }
  if (behind.length > 0) {
    if (deliveryNum > 0 && order.state === 'delivering') await transition(tx, order, 'deliver_part')
    // Trying the same again would be refused again: whoever asked has to know now, not to wait for ever.
    if (refusal) await finishOwnTask(tx, order, `${REFUSED}${refusal}`)
    return []
  }

  const held = [...new Set((await leasesOf(tx, order.id)).map(share => share.leaseId))]
  const older = held.filter(leaseId => leaseId !== Math.max(...held))
  if (older.length > 0) return withdraw(tx, ctx, order, older)

  if (live >= order.quantity && order.state !== 'delivered') {
    await transition(tx, order, 'deliver_all', { failReason: null })
    await ctx.jobs.send(tx, deliveredQueue, { orderId: order.id })
  }
  await finishOwnTask(tx, order, null)
  return []
}

async function tellAdmins(tx: Transaction, ctx: Advancing, order: OrderRow, refusal: string): Promise<void> {
  await withUnit(tx, ctx.jobs, unit =>
    notifyAdmins(unit, {
      subject: `A server refuses proxies of order ${order.orderId}`,
      text: `The agent of a server refused what it should serve for order ${order.orderId}: ${refusal}.\n\nIts row under Orders shows the same. 'Deliver' asks the agent again.`,
      key: `refused:${order.id}`
    })
  )
}

/** Why an order is not as it should be, in words for its row; another reason that stands there stays. */
function reasonToShow(order: OrderRow, refusal: string | null, missing: number): string | null {
  if (refusal) return `${REFUSED}${refusal}`
  if (missing > 0) return `${missing} addresses belong to no server any more`
  return order.failReason?.startsWith(REFUSED) ? null : order.failReason
}

/**
 * The new addresses of a change work: the old ones are first taken off the agents and, once those have confirmed, go
 * back to stock.
 */
async function withdraw(tx: Transaction, ctx: Advancing, order: OrderRow, older: number[]): Promise<number[]> {
  const stillServed = await tx
    .update(proxies)
    .set({ state: 'retired', updatedAt: ctx.now() })
    .where(and(eq(proxies.orderId, order.id), inArray(proxies.leaseId, older), ne(proxies.state, 'retired')))
    .returning({ id: proxies.id })
  if (stillServed.length === 0) {
    await finishOwnTask(tx, order, null)
    return older
  }
  const users = usersOf(order, await servedShares(tx, order.id))
  await wantUsers(tx, ctx.jobs, users)
  const left = (await agentProgress(tx, order.id))
    .map(agent => agent.serverId)
    .filter(id => !users.some(user => user.serverId === id))
  if (left.length > 0) await unwantUsers(tx, ctx.jobs, order.id, left)
  return []
}

async function markLive(tx: Transaction, ctx: Advancing, orderId: number, behind: number[]): Promise<void> {
  await tx
    .update(proxies)
    .set({ state: 'live', updatedAt: ctx.now() })
    .where(
      and(
        eq(proxies.orderId, orderId),
        eq(proxies.state, 'pending'),
        behind.length > 0 ? notInArray(proxies.serverId, behind) : undefined
      )
    )
}

/** Ends the task that the agents were working on; one that still waits for its turn is not touched. */
async function finishOwnTask(tx: Transaction, order: OrderRow, failure: string | null): Promise<void> {
  if (!order.taskId || order.task === 'check' || !(await hasBegun(tx, order.id, order.taskId))) return
  await finishTask(tx, order.id, order.taskId, failure)
}
