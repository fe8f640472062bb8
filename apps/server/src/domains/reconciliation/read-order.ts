import { fromCents, toCents } from '@netlet/contract/money'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, asc, desc, eq, gte, inArray, isNotNull, isNull, lte, notExists, or, sql } from '../../infra/db/drizzle.ts'
import { lock } from '../../infra/db/locks.ts'
import type {
  RefundOutcome,
  RefundRead,
  Shopify,
  ShopifyOrder,
  TransactionEvent
} from '../../integrations/shopify/index.ts'
import {
  type DoubtfulRefund,
  EDITED,
  type EventResult,
  RECONCILED,
  openPlatform,
  storeEvent
} from '../commerce/index.ts'
import { forgetPending, formerlyPending } from '../orders/index.ts'
import {
  PENDING_MS,
  type RefundRow,
  downToCents,
  hasNoResult,
  isMarked,
  moveRefund,
  paymentOf,
  paymentStateOf,
  pendingKey,
  enqueueOrderRead,
  recordRead,
  refundIdOf,
  refundRowsOf,
  setAwaitsRead,
  setRefundAmount
} from '../payments/index.ts'
import { platformEvents } from '../commerce/tables.ts'
import { paymentRefunds, payments } from '../payments/tables.ts'
import { holdPending } from './pending-payments.ts'
import { findHandledEvents, findMissedEvents, selectOurOrders } from './reconcile.ts'
import { VOID_AFTER, amountOf, toEvent } from './refund-differences.ts'

const MOST_ORDERS = 50
/** The interval of the reconciliation. */
const EVERY = 5 * MINUTE

/**
 * Reads a platform's order after its checkout ended without a payment, or after a refund or dispute was reported.
 * Stores what no webhook reported as events. Judges a payment again if it is held or has grown. If the platform does
 * not answer, the next reconciliation asks again.
 */
export async function readOrder(ctx: AppContext, { platformOrderId }: { platformOrderId: string }): Promise<void> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return
  // A refund that is made in between counts as pending, and the order already lists it.
  const refunds = await readAwaitedRefunds(ctx, platform.data, platformOrderId)
  const read = await platform.data.order(platformOrderId)
  if (!read.ok) {
    ctx.log.warn({ platformOrderId, reason: read.message }, 'the refunds of an order cannot be read')
    const isGone = read.reason === 'not_found'
    if (isGone || read.reason === 'unauthorized')
      await command(ctx, SYSTEM, async unit => {
        await endUnreadRefunds(unit, platformOrderId, isGone)
        if (isGone) await forgetPending(unit, platformOrderId)
      })
    return
  }
  const ours = await selectOurOrders(ctx, [read.value])
  if (ours.length === 0) {
    await command(ctx, SYSTEM, async unit => {
      await setAwaitsRead(unit, platformOrderId, false)
      await forgetPending(unit, platformOrderId)
    })
    return
  }
  await holdPending(ctx, platform.data, ours)
  const missed = await findMissedEvents(ctx, ours)
  for (const event of missed) await command(ctx, SYSTEM, unit => storeEvent(unit, event))
  // Refunds can be compared only after the missed events are handled.
  const explaining = missed.filter(({ isAside }) => !isAside)
  const areHandled = (await findHandledEvents(ctx, explaining)).size === explaining.length
  await command(ctx, SYSTEM, async unit => {
    await lock(unit.tx, 'platformOrder', platformOrderId)
    await setAwaitsRead(unit, platformOrderId, false, isDispute)
    if (areHandled) await endAwaitedRefunds(unit, read.value, refunds)
    await judgeAgain(unit, read.value)
    await forgetPending(unit, platformOrderId)
    unit.publish('platform_event')
  })
}

/** Stores the same event as for an edited order: a held payment may settle now, and a refunded one may have grown. */
async function judgeAgain(unit: Unit, order: ShopifyOrder): Promise<void> {
  const payment = await paymentOf(unit.tx, order.id)
  const state = payment && paymentStateOf(payment)
  const isMore = payment && toCents(downToCents(order.received)) > toCents(payment.charged)
  if (state !== 'held' && !(state === 'refunded' && isMore)) return
  // The number of refunds that have a result allows one more judgement after each of them.
  const known = (await refundRowsOf(unit.tx, order.id)).filter(row => !hasNoResult(row)).length
  const eventId = `${EDITED}${order.id}:${order.updatedAt}:refunds:${known}`
  await storeEvent(unit, { eventId, topic: 'orders/paid', payload: toEvent(order) })
}

const isDispute = sql`starts_with(${paymentRefunds.key}, 'dispute:')`

/**
 * Platform orders to read, oldest first: those with a won dispute, and those with a refund, once after its report and
 * then each hour while it is pending. A won dispute does not matter if the whole payment is refunded.
 */
function unreadOrders(db: Executor, now: Date) {
  const isBack = db
    .select({ one: sql`1` })
    .from(payments)
    .where(and(eq(payments.platformOrderId, paymentRefunds.platformOrderId), isNotNull(payments.refundedAt)))
  return db
    .select({ platformOrderId: paymentRefunds.platformOrderId })
    .from(paymentRefunds)
    .where(and(paymentRefunds.awaitsRead, or(isRefundDue(now), and(isDispute, notExists(isBack)))))
    .groupBy(paymentRefunds.platformOrderId)
    .orderBy(asc(sql`min(${paymentRefunds.id})`))
}

/**
 * Queues reads of at most `MOST_ORDERS` orders with a refund or dispute, and as many that may have taken a part of the
 * money of ours that ended. Each run takes the next ones, so that no order blocks others.
 */
export async function queueUnreadOrders(ctx: AppContext): Promise<void> {
  const past = await formerlyPending(ctx.db, ctx.now(), MOST_ORDERS)
  const unread = await unreadOrders(ctx.db, ctx.now())
  if (past.length + unread.length === 0) return
  const start =
    unread.length <= MOST_ORDERS ? 0 : (Math.floor(ctx.now().getTime() / EVERY) * MOST_ORDERS) % unread.length
  const next = [...unread.slice(start), ...unread.slice(0, start)].slice(0, MOST_ORDERS)
  await command(ctx, SYSTEM, async unit => {
    for (const platformOrderId of past) enqueueOrderRead(unit, platformOrderId)
    for (const { platformOrderId } of next) enqueueOrderRead(unit, platformOrderId)
  })
}

/** How often the platform is asked about a pending refund. It may need some business days. */
const ASKED_EVERY = HOUR

const before = (now: Date, milliseconds: number): Date => new Date(now.getTime() - milliseconds)

/** A refund that was reported long enough ago for the platform's list to be final, and not just asked about. */
const isRefundDue = (now: Date) =>
  and(
    sql`not starts_with(${paymentRefunds.key}, 'dispute:')`,
    lte(paymentRefunds.createdAt, before(now, VOID_AFTER)),
    or(isNull(paymentRefunds.readAt), lte(paymentRefunds.readAt, before(now, ASKED_EVERY)))
  )

const awaitedRefunds = async (db: AppContext['db'] | Unit['tx'], platformOrderId: string, now: Date) =>
  (await refundRowsOf(db, platformOrderId)).filter(
    ({ key, awaitsRead, createdAt }) =>
      awaitsRead && !key.startsWith('dispute:') && createdAt <= before(now, VOID_AFTER)
  )

/** What became of the refunds of an order that wait for it, by the platform's id. No answer means still pending. */
async function readAwaitedRefunds(
  ctx: AppContext,
  platform: Pick<Shopify, 'readRefund'>,
  platformOrderId: string
): Promise<Map<string, RefundRead>> {
  const rows = await awaitedRefunds(ctx.db, platformOrderId, ctx.now())
  const found = new Map<string, RefundRead>()
  for (const id of new Set(rows.flatMap(row => refundIdOf(row) ?? []))) {
    const read = await platform.readRefund(id)
    found.set(id, read.ok ? read.value : { outcome: 'pending', parts: [] })
  }
  return found
}

/**
 * A refund was made or has failed: its order is read if one is pending. A bank may also return a refund that was made
 * days ago, and the order then does not count as changed.
 */
export async function readTransaction(unit: Unit, event: TransactionEvent): Promise<EventResult> {
  const { order_id: platformOrderId, kind, status } = event
  if (kind !== 'refund') return { outcome: 'ignored' }
  await lock(unit.tx, 'platformOrder', platformOrderId)
  if (status !== 'success') await setAwaitsRead(unit, platformOrderId, true, isCountedRefund)
  const rows = await refundRowsOf(unit.tx, platformOrderId)
  if (!rows.some(row => row.awaitsRead || row.state === 'answered')) return { outcome: 'ignored' }
  enqueueOrderRead(unit, platformOrderId)
  // An order that cannot be read does not tell, so that `reportedResult` looks for this.
  return { outcome: 'ignored', about: { platformOrderId }, detail: { status } }
}

const isCountedRefund = sql`${paymentRefunds.state} = 'counted' and not starts_with(${paymentRefunds.key}, 'dispute:')`

/** After an order was read: ends the wait for refunds with a result. An administrator looks at one that has none. */
async function endAwaitedRefunds(
  unit: Unit,
  { id: platformOrderId, name }: Pick<ShopifyOrder, 'id' | 'name'>,
  found: ReadonlyMap<string, RefundRead>
): Promise<void> {
  for (const row of await awaitedRefunds(unit.tx, platformOrderId, unit.now)) {
    const id = refundIdOf(row)
    const read = found.get(id ?? '')
    if (read) await learnAmount(unit, row, read)
    const outcome = resultFor(row, read?.outcome)
    // The platform was not asked about it: it has just become due.
    if (id !== undefined && outcome === undefined) continue
    // The platform may have made it after its order was read, or list one that failed, which is then read again.
    const isPart = row.key === pendingKey(`refund:${id}`)
    const isLate = row.state === 'counted' && !isMarked(row) && read?.outcome === 'failed'
    const isOpen = outcome === 'pending' || isLate || (row.state === 'answered' && outcome === 'made' && !isPart)
    // A part that was made is counted by now, as a change of its refund.
    if (row.state === 'answered' && (outcome === 'failed' || (isPart && !isOpen))) await endFailed(unit, row, name)
    else await awaitResult(unit, row, { name, isOpen })
  }
}

async function endFailed(unit: Unit, row: RefundRow, name: string): Promise<void> {
  await moveRefund(unit, row, 'refuse', { awaitsRead: false })
  if (Number(row.amount) > 0) await tellOf(unit, row, { name, status: 'FAILURE' })
}

async function awaitResult(unit: Unit, row: RefundRow, { name, isOpen }: { name: string; isOpen: boolean }) {
  const isOver = row.createdAt <= before(unit.now, PENDING_MS)
  await recordRead(unit, row, isOpen && !isOver)
  if (isOpen && isOver && row.state === 'answered')
    await tellOf(unit, row, { name, status: 'PENDING', days: PENDING_MS / DAY })
}

/**
 * The platform's order is gone, or too old for the app to read. A pending refund of it ends with the webhook of its
 * result. Without one, an administrator looks at it after the same time as at others.
 */
async function endUnreadRefunds(unit: Unit, platformOrderId: string, isGone: boolean): Promise<void> {
  await lock(unit.tx, 'platformOrder', platformOrderId)
  const payment = await paymentOf(unit.tx, platformOrderId)
  if (isGone) await setAwaitsRead(unit, platformOrderId, false, payment && isReported)
  if (!payment) return
  const name = payment.platformOrderNumber
  const rows = await refundRowsOf(unit.tx, platformOrderId)
  for (const row of rows.filter(({ state }) => state === 'answered')) {
    const outcome = await reportedResult(unit.tx, row, rows)
    if (outcome === 'failed') await endFailed(unit, row, name)
    else if (outcome === 'made' && Number(row.amount) > 0) await countAwaited(unit, row)
    else await awaitResult(unit, row, { name, isOpen: true })
  }
}

const isReported = sql`${paymentRefunds.state} <> 'answered'`

/** The result that a webhook reported since. It names no refund, so it decides only if there was no other one. */
async function reportedResult(db: Executor, row: RefundRow, rows: readonly RefundRow[]) {
  const isOnly = rows.every(other => other.id === row.id || (!hasNoResult(other) && other.createdAt < row.createdAt))
  if (!isOnly) return undefined
  const { platformOrderId, topic, detail, receivedAt, id } = platformEvents
  const status = sql<string>`${detail} ->> 'status'`
  const [last] = await db
    .select({ status })
    .from(platformEvents)
    .where(
      and(
        eq(platformOrderId, row.platformOrderId),
        eq(topic, 'order_transactions/create'),
        inArray(status, ['success', 'failure', 'error']),
        gte(receivedAt, row.createdAt)
      )
    )
    .orderBy(desc(id))
    .limit(1)
  return last && (last.status === 'success' ? 'made' : 'failed')
}

/** Counts a pending refund as if its report had come. */
const countAwaited = (unit: Unit, { key, platformOrderId: order_id, amount }: RefundRow) =>
  storeEvent(unit, {
    eventId: `${RECONCILED}result:${key}`,
    topic: 'refunds/create',
    payload: { id: refundIdOf({ key }), order_id, transactions: [{ kind: 'refund', status: 'success', amount }] }
  })

/** No webhook reported a pending refund, and its order lists it without its money. */
async function learnAmount(unit: Unit, row: RefundRow, { outcome, parts }: RefundRead): Promise<void> {
  if (row.state !== 'answered' || row.amount !== '0.00' || outcome === 'made' || parts.length === 0) return
  const payment = await paymentOf(unit.tx, row.platformOrderId)
  row.amount = fromCents(parts.reduce((sum, part) => sum + toCents(amountOf(part, payment)), 0n))
  await setRefundAmount(unit, row, row.amount)
}

/** A refund without transactions may have none yet. Without an amount it returned goods only. */
function resultFor({ state, amount }: RefundRow, reported: RefundOutcome | undefined): RefundOutcome | undefined {
  if (reported !== 'unknown') return reported
  return state === 'answered' && Number(amount) > 0 ? 'pending' : 'failed'
}

type Doubt = Pick<DoubtfulRefund, 'name' | 'status' | 'days'>

const tellOf = (unit: Unit, { key, platformOrderId, amount }: RefundRow, doubt: Doubt) =>
  storeEvent(unit, {
    eventId: `${RECONCILED}${doubt.days === undefined ? 'failed' : 'stuck'}:${key}`,
    topic: 'reconciled/doubt',
    payload: { order_id: platformOrderId, amount: amount ?? '0.00', key, ...doubt }
  })
