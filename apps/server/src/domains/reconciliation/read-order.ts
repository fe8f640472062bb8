import { toCents } from '@netlet/contract/money'
import { and, asc, eq, isNotNull, notExists, or, sql } from '../../infra/db/drizzle.ts'
import type { ShopifyOrder } from '../../integrations/shopify/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import { EDITED, openPlatform, storeEvent } from '../commerce/index.ts'
import {
  downToCents,
  hasNoResult,
  paymentOf,
  paymentStateOf,
  queueOrderRead,
  refundRowsOf,
  setAwaitsRead
} from '../payments/index.ts'
import { asEvent } from './as-event.ts'
import { findHandledEvents, findMissedEvents, selectOurOrders } from './reconcile.ts'
import { holdPending } from './pending-payments.ts'
import { endAwaitedRefunds, isRefundDue, readAwaitedRefunds } from './pending-refunds.ts'
import { paymentRefunds, payments } from '../payments/tables.ts'

const MOST_ORDERS = 50
/** The interval of the reconciliation. */
const EVERY = 5 * MINUTE

/**
 * Reads a platform's order after its checkout ended without a payment, or a refund or dispute was reported. Stores what no webhook reported as events, and
 * judges a held payment, or one that grew, again. If the platform does not answer, the next reconciliation asks again.
 */
export async function readOrder(ctx: AppContext, { platformOrderId }: { platformOrderId: string }): Promise<void> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return
  // A refund that is made in between counts as pending, and the order already lists it.
  const refunds = await readAwaitedRefunds(ctx, platform.data, platformOrderId)
  const read = await platform.data.order(platformOrderId)
  if (!read.ok) {
    ctx.log.warn({ platformOrderId, reason: read.message }, 'the refunds of an order cannot be read')
    if (read.reason === 'not_found') await command(ctx, SYSTEM, unit => setAwaitsRead(unit, platformOrderId, false))
    return
  }
  const ours = await selectOurOrders(ctx, [read.value])
  if (ours.length === 0) {
    await command(ctx, SYSTEM, unit => setAwaitsRead(unit, platformOrderId, false))
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
  await storeEvent(unit, { eventId, topic: 'orders/paid', payload: asEvent(order) })
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

/** Queues reads of at most `MOST_ORDERS` orders. Each run takes the next ones, so that no order blocks others. */
export async function queueUnreadOrders(ctx: AppContext): Promise<void> {
  const unread = await unreadOrders(ctx.db, ctx.now())
  if (unread.length === 0) return
  const start =
    unread.length <= MOST_ORDERS ? 0 : (Math.floor(ctx.now().getTime() / EVERY) * MOST_ORDERS) % unread.length
  const next = [...unread.slice(start), ...unread.slice(0, start)].slice(0, MOST_ORDERS)
  await command(ctx, SYSTEM, async unit => {
    for (const { platformOrderId } of next) queueOrderRead(unit, platformOrderId)
  })
}
