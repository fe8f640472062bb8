import { SYSTEM } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { and, asc, eq, gt, inArray, isNotNull, lt, notExists, sql } from '../../infra/db/drizzle.ts'
import { notifyAdmins } from '../accounts/index.ts'
import type { ConfirmPort } from '../convergence/index.ts'
import { leasesOf, release } from '../inventory/index.ts'
import {
  type FailedTask,
  type Failure,
  type OrderRow,
  emitOrderEvent,
  failTask,
  finishTask,
  lockOrders,
  markDelivered,
  markPartlyDelivered,
  recordProgress,
  taskStateOf
} from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { agentProgress, enqueueConverge, removeDesiredUsers, serversBehind } from '../servers/index.ts'
import { agentUsers } from '../servers/tables.ts'
import {
  type OrderLease,
  holdingsOf,
  isRetired,
  keepPendingReturns,
  missingAmong,
  retireProxies,
  sumOf
} from './holdings.ts'
import { LOST_AFTER_MS, deliveredQueue, enqueueTask, groupOf } from './queues.ts'
import { servedShares, setOrderUsers, usersOf } from './start.ts'
import { proxies } from './tables.ts'

/**
 * Convergence calls this with the outcomes of an agent. The orders are locked before it writes its users, because
 * every change of an order locks in this sequence. Then the orders advance, in the same command.
 */
export const confirmOutcomes =
  (ctx: AppContext): ConfirmPort =>
  (orderIds, write) =>
    command(ctx, SYSTEM, async unit => {
      const locked = await lockOrders(unit, orderIds)
      await write(unit)
      await advanceLocked(unit, locked)
    })

/**
 * Takes each order as far as its agents allow: what they confirmed becomes live, what they gave up returns to stock. It
 * only reads the current state, so it may run at any time and any number of times.
 */
export async function advance(unit: Unit, orderIds: number[]): Promise<void> {
  await advanceLocked(unit, await lockOrders(unit, orderIds))
}

/** @param locked current rows of locked orders */
async function advanceLocked(unit: Unit, locked: readonly OrderRow[]): Promise<void> {
  const given: number[] = []
  for (const order of locked) given.push(...(await advanceOne(unit, order)))
  // In one call, because each call takes the inventory's locks in ascending order.
  if (given.length > 0) await release(unit.tx, { leaseIds: given })
}

/** @returns leases that no agent serves any more */
async function advanceOne(unit: Unit, order: OrderRow): Promise<number[]> {
  const { tx } = unit
  const agents = await agentProgress(tx, order.id)
  if (order.state === 'expired' || order.state === 'refunded') {
    // An expired order keeps its addresses during its grace period.
    if (order.graceUntil !== null || agents.length > 0) return []
    return [...new Set((await leasesOf(tx, order.id)).map(share => share.leaseId))]
  }
  if (order.state !== 'delivering' && order.state !== 'partly_delivered' && order.state !== 'delivered') return []

  const isDelivered = order.state === 'delivered'
  const brought = await markLive(
    unit,
    order.id,
    agents.filter(agent => agent.wanted && agent.inStep).map(agent => agent.serverId)
  )
  if (isDelivered && brought > 0) await emitOrderEvent(unit, 'proxies.changed', order)
  const held = await keepHoldings(unit, order)
  const kept = held.filter(holding => !holding.replaced && !isRetired(holding))
  const concerned = agents.filter(agent => concerns(agent, kept))
  const live = sumOf(held, holding => (holding.replaced ? 0 : holding.live))
  const working = Math.min(
    sumOf(held, holding => holding.live),
    order.quantity
  )
  const refusing = concerned.find(agent => agent.refusal !== null)
  const refusal = refusing?.refusal ?? null
  const waits = concerned.some(isAwaited)
  const lost = missingAmong(order, held)
  // Addresses to be given back still work, but do not count for what is missing.
  const failure = failureToShow(order, { refusal, waits, missing: order.quantity - live, lost })
  const isNews = await recordProgress(unit, order, { deliveryNum: working, failure, server: refusing?.server })
  if (refusal && isNews) await notifyOfFailure(unit, order, refusal)
  if (waits || refusal) {
    if (working > 0 && order.state === 'delivering') await markPartlyDelivered(unit, order)
    // Another try would be refused again, so the task ends now.
    if (refusal) await failRunningTask(unit, order, { code: 'agent_refused', params: { message: refusal } }, kept)
    return givenBack(held, agents)
  }
  if (live < order.quantity) {
    if (working > 0 && order.state === 'delivering') await markPartlyDelivered(unit, order)
    // A new password is on what works. For a change or a delivery there are no addresses.
    if (order.task === 'reset') await finishRunningTask(unit, order)
    else await failRunningTask(unit, order, { code: 'out_of_stock' }, kept)
    return givenBack(held, agents)
  }

  // Replaced addresses leave the agents. If an agent serves others of the order, it must confirm that first.
  const left = held.filter(holding => holding.replaced)
  const served = left.filter(holding => !isRetired(holding))
  if (served.length > 0) await withdraw(unit, order, served)
  // Addresses that came at once were reported above.
  if (isDelivered && served.length > 0 && brought === 0) await emitOrderEvent(unit, 'proxies.changed', order)
  const later = served.length > 0 ? await agentProgress(tx, order.id) : agents
  if (order.state !== 'delivered') {
    await markDelivered(unit, order)
    unit.jobs.send(deliveredQueue, { orderId: order.id })
  }
  if (!later.some(agent => concerns(agent, kept) && isAwaited(agent))) await finishRunningTask(unit, order)
  return givenBack(
    left.map(holding => ({ ...holding, live: 0, pending: 0 })),
    later
  )
}

/** What an order holds, after it has kept what it lacks of the addresses that it was to give back. */
async function keepHoldings(unit: Unit, order: OrderRow): Promise<OrderLease[]> {
  const held = await holdingsOf(unit.tx, order.id)
  const lost = missingAmong(order, held)
  if (lost <= 0 || !held.some(holding => holding.replaced && !isRetired(holding))) return held
  await keepPendingReturns(unit, order, lost)
  return holdingsOf(unit.tx, order.id)
}

type Agent = Awaited<ReturnType<typeof agentProgress>>[number]

/** An agent that must serve the order and has not confirmed. One that must drop it delays nothing. */
const isAwaited = (agent: Agent): boolean => agent.wanted && !agent.inStep

/** Whether the agent serves addresses that the order keeps, or must drop its user. Others serve only what goes back. */
const concerns = (agent: Agent, kept: OrderLease[]): boolean =>
  !agent.wanted || kept.some(({ serverIds }) => serverIds.includes(agent.serverId))

/** Replaced leases that no agent serves any more: each has dropped the order's user, or serves it without them. */
const givenBack = (held: OrderLease[], agents: Agent[]): number[] =>
  held
    .filter(holding => holding.replaced && isRetired(holding))
    .filter(({ serverIds }) => !agents.some(agent => !agent.inStep && serverIds.includes(agent.serverId)))
    .map(holding => holding.leaseId)

async function notifyOfFailure(unit: Unit, order: OrderRow, refusal: string): Promise<void> {
  await notifyAdmins(unit, {
    words: 'order_refused',
    params: { order: order.publicId, message: refusal },
    // Each new refusal is a cause of its own.
    key: `refused:${order.id}:${iso(unit.now)}`,
    cause: 'order_trouble',
    about: order.id
  })
}

/**
 * Why an order is not as it should be. A failure that is recorded already stays.
 * @param missing addresses that do not work
 * @param lost those of them that it does not even hold
 */
function failureToShow(
  order: OrderRow,
  { refusal, waits, missing, lost }: { refusal: string | null; waits: boolean; missing: number; lost: number }
): Failure | null {
  if (refusal) return { code: 'agent_refused', params: { message: refusal } }
  if (missing > 0 && !waits) return { code: 'addresses_lost', params: { count: missing } }
  // The rescue looks for others each minute, even while agents are awaited.
  if (lost > 0 && order.failCode !== 'server_unreachable') return { code: 'addresses_lost', params: { count: lost } }
  if (order.failCode === null || order.failCode === 'agent_refused') return null
  // These end when nothing is missing or awaited.
  const passes = order.failCode === 'server_unreachable' || order.failCode === 'addresses_lost'
  if (passes && (missing === 0 || !waits)) return null
  return { code: order.failCode, ...(order.failParams ? { params: order.failParams } : {}) }
}

/**
 * Takes replaced addresses off the agents, because the new ones work. Once the agents have confirmed, the addresses
 * return to stock. Agents that serve none of them are left alone, so that one that is away does not hold this up.
 */
async function withdraw(unit: Unit, order: OrderRow, left: OrderLease[]): Promise<void> {
  const { tx } = unit
  await retireProxies(
    unit,
    order.id,
    inArray(
      proxies.leaseId,
      left.map(holding => holding.leaseId)
    )
  )
  const servers = new Set(left.flatMap(holding => holding.serverIds))
  const users = usersOf(order, await servedShares(tx, order.id))
  await setOrderUsers(
    unit,
    order,
    users.filter(user => servers.has(user.serverId))
  )
  const gone = [...servers].filter(id => !users.some(user => user.serverId === id))
  if (gone.length > 0) await removeDesiredUsers(unit, order.id, gone)
}

/** @param confirmed servers whose agents are in step @returns how many proxies work from now on */
async function markLive({ tx, now }: Unit, orderId: number, confirmed: number[]): Promise<number> {
  if (confirmed.length === 0) return 0
  const { rowCount } = await tx
    .update(proxies)
    .set({ state: 'live', updatedAt: now, liveAt: sql`coalesce(${proxies.liveAt}, ${now.toISOString()}::timestamptz)` })
    .where(and(eq(proxies.orderId, orderId), eq(proxies.state, 'pending'), inArray(proxies.serverId, confirmed)))
  return rowCount ?? 0
}

/** Ends the task that the agents were working on. A task that has not begun stays. */
async function finishRunningTask(unit: Unit, order: OrderRow): Promise<void> {
  if (order.taskId && isAwaitedTask(order)) await finishTask(unit, order.id, order.taskId)
}

/**
 * Fails the running task. A change that keeps new addresses still counts, because the agents will complete it.
 * @param kept what the order holds and does not give back
 */
async function failRunningTask(unit: Unit, order: OrderRow, failure: FailedTask, kept: OrderLease[]): Promise<void> {
  if (!isAwaitedTask(order)) return
  await failTask(unit, order, failure, { changed: order.task !== 'change' || kept.length > 0 })
}

const isAwaitedTask = (order: OrderRow): boolean => order.task !== 'check' && taskStateOf(order) === 'running'

const BATCH = 200

/**
 * Takes up what a process left behind when it died: agents that are behind, deliveries that wait for no agent, and
 * tasks whose job is gone. It runs each minute and when a worker starts; doing it twice does no harm.
 */
export async function sweep(ctx: AppContext): Promise<void> {
  const behind = await serversBehind(ctx.db)
  if (behind.length > 0) await command(ctx, SYSTEM, async unit => enqueueConverge(unit, behind))
  await sweepDeliveries(ctx)
  await sweepTasks(ctx)
}

/** Deliveries that wait for no agent. The others advance when their agents confirm. */
async function sweepDeliveries(ctx: AppContext): Promise<void> {
  for (let after = 0; ;) {
    const some = await ctx.db
      .select({ id: orders.id })
      .from(orders)
      .where(
        and(
          inArray(orders.state, ['delivering', 'partly_delivered']),
          gt(orders.id, after),
          notExists(
            ctx.db
              .select({ one: sql`1` })
              .from(agentUsers)
              .where(
                and(eq(agentUsers.orderId, orders.id), sql`${agentUsers.generation} <> ${agentUsers.appliedGeneration}`)
              )
          )
        )
      )
      .orderBy(asc(orders.id))
      .limit(BATCH)
    for (const { id } of some) await command(ctx, SYSTEM, unit => advance(unit, [id]))
    after = some.at(-1)?.id ?? after
    if (some.length < BATCH) return
  }
}

async function sweepTasks(ctx: AppContext): Promise<void> {
  const before = new Date(ctx.now().getTime() - LOST_AFTER_MS)
  const tasks = await ctx.db
    .select({ orderId: orders.id, userId: orders.userId, taskId: orders.taskId, task: orders.task })
    .from(orders)
    .where(and(isNotNull(orders.task), lt(orders.taskAt, before)))
    .orderBy(asc(orders.taskAt))
  await command(ctx, SYSTEM, async unit => {
    for (const { orderId, userId, taskId, task } of tasks)
      if (taskId && task) enqueueTask(unit, task, { orderId, taskId, group: groupOf(userId) })
  })
}
