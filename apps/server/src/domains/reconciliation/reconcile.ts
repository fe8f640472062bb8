import { toCents } from '@netlet/contract/money'
import { and, asc, inArray, isNotNull, min, sql } from '../../infra/db/drizzle.ts'
import { z } from 'zod'
import {
  readOrderReference,
  type ChangedOrders,
  type ShopifyOrder,
  type UnreadableOrder
} from '../../integrations/shopify/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, HOUR } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { EDITED, saveCheck, openPlatform, readCheck, RECONCILED, storeEvent } from '../commerce/index.ts'
import { users } from '../accounts/tables.ts'
import { platformEvents } from '../commerce/tables.ts'
import {
  counted,
  downToCents,
  type PaymentRow,
  paymentStateOf,
  type RefundRow,
  rowsOf,
  sumRefunds,
  variantsAdded
} from '../payments/index.ts'
import { amountOf, toEvent, differences, pendingRest, asReportedMoney } from './refund-differences.ts'
import { findMissedDisputes } from './missed-disputes.ts'
import { holdPending } from './pending-payments.ts'
import { ourVariants } from '../orders/index.ts'
import { paymentRefunds, payments } from '../payments/tables.ts'

/** How far back the first run looks. The platform retries a webhook for some hours before it gives up. */
const FIRST_LOOK_BACK = 48 * HOUR
/** How far each run looks back before the last known change, because the platform's search may lag. */
const OVERLAP = HOUR

/** Statuses in which the platform has, or had, the whole amount. */
const PAID = new Set(['PAID', 'PARTIALLY_REFUNDED', 'REFUNDED'])

const isPaid = ({ financialStatus }: ShopifyOrder): boolean => PAID.has(financialStatus ?? '')

/** `isAside`: an edit that changed no money. It explains no refund, and an order may be edited before each run. */
type Event = { eventId: string; topic: string; payload: unknown; isAside?: boolean }

/**
 * Asks the platform for changed orders and stores what no webhook reported: payments, refunds, disputes, cancellations,
 * edits of orders with a held payment, and refunds that changed or failed. Each run starts where the last successful one ended,
 * so a long outage loses nothing; it may take several runs. An unreadable order goes to the inbox and stops no others.
 * @returns how many events were found
 * @throws if the platform fails; the health page shows the failure too
 */
export async function reconcilePayments(ctx: AppContext): Promise<number> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return 0
  const last: Position = (await readCheck(ctx.db, 'reconciliation'))?.result ?? {}
  const start = startOf(last, ctx.now())
  const changed = await platform.data.changedOrders(start)
  const failure = changed.ok ? whyNoneReadable(changed.value) : changed.message
  if (!changed.ok || failure !== null) {
    const error = failure ?? 'unknown'
    await saveCheck(ctx, 'reconciliation', { ...positionOf(last), error })
    throw new Error(error)
  }
  const { orders, unreadable, until, more } = changed.value
  const ours = await selectOurOrders(ctx, orders)
  await holdPending(ctx, platform.data, ours)
  const missed = [...(await findMissedEvents(ctx, ours)), ...unreadable.flatMap(order => unreadableEvent(ctx, order))]
  let found = 0
  for (const event of missed) if (await command(ctx, SYSTEM, unit => storeEvent(unit, event))) found++
  // The platform's clock may be ahead of ours.
  const seen = until && new Date(Math.min(until.getTime(), ctx.now().getTime())).toISOString()
  await saveCheck(ctx, 'reconciliation', {
    until: seen ?? last.until ?? start.toISOString(),
    more,
    found,
    unreadable: unreadable.length
  })
  return found
}

type Position = { until?: string; more?: boolean }

const positionOf = ({ until, more }: Position): Position => ({
  ...(until === undefined ? {} : { until }),
  ...(more === undefined ? {} : { more })
})

function startOf({ until, more }: Position, now: Date): Date {
  if (until === undefined) return new Date(now.getTime() - FIRST_LOOK_BACK)
  return new Date(Date.parse(until) - (more ? 0 : OVERLAP))
}

/** If none of many orders can be read, the orders are not at fault. */
function whyNoneReadable({ orders, unreadable }: ChangedOrders): string | null {
  if (orders.length > 0 || unreadable.length <= 5) return null
  return `None of ${unreadable.length} orders of the platform can be read: ${unreadable[0]?.message}`
}

/**
 * Orders that name an order of ours, hold one of our variants, or have a known payment. The platform may have sold the
 * same variants before this shop existed, and an order of any age changes, for example when it is archived.
 */
export async function selectOurOrders(ctx: AppContext, orders: readonly ShopifyOrder[]): Promise<ShopifyOrder[]> {
  const sold = await ourVariants(ctx.db, [...new Set(orders.flatMap(variantsOf))])
  const ids = orders.map(({ id }) => id)
  const known = await ctx.db
    .select({ id: payments.platformOrderId })
    .from(payments)
    .where(sql`${payments.platformOrderId} = any(${sql.param(ids)}::text[])`)
  const isKnown = new Set(known.map(({ id }) => id))
  const [first] = await ctx.db.select({ at: min(users.createdAt) }).from(users)
  // The platform's clock may be behind ours.
  const begun = (first?.at?.getTime() ?? 0) - DAY
  const mayBeOurs = (order: ShopifyOrder) =>
    variantsOf(order).some(id => sold.has(id)) && Date.parse(order.createdAt) > begun
  return orders.filter(order => isKnown.has(order.id) || readOrderReference(toEvent(order)) || mayBeOurs(order))
}

/** What no webhook reported about our orders, and refunds that differ from the platform's. */
export async function findMissedEvents(ctx: AppContext, ours: readonly ShopifyOrder[]): Promise<Event[]> {
  const ids = ours.map(({ id }) => id)
  if (ids.length === 0) return []
  const anyOf = (column: unknown) => sql`${column} = any(${sql.param(ids)}::text[])`
  const [settled, returned] = await Promise.all([
    ctx.db.select().from(payments).where(anyOf(payments.platformOrderId)),
    ctx.db.select().from(paymentRefunds).where(anyOf(paymentRefunds.platformOrderId)).orderBy(asc(paymentRefunds.id))
  ])
  const paymentBy = new Map(settled.map(payment => [payment.platformOrderId, payment]))
  const paidOnce = ours.filter(order => paymentBy.has(order.id) || isPaid(order))
  const disputes = await findMissedDisputes(ctx, paidOnce, returned)
  const refundsBy = Map.groupBy(returned, ({ platformOrderId }) => platformOrderId)
  const compared = ours.map(order => {
    const payment = paymentBy.get(order.id)
    const rows = refundsBy.get(order.id) ?? []
    const own = disputes.filter(({ payload }) => payload.order_id === order.id)
    return { order, payment, rows, missed: [...missedEvents(order, payment, rows), ...own] }
  })
  const handled = await findHandledEvents(
    ctx,
    compared.flatMap(({ missed }) => missed)
  )
  return compared.flatMap(({ order, payment, rows, missed }) => {
    const left: Event[] = missed.filter(({ eventId }) => !handled.has(eventId))
    // The missed events may explain the whole difference, so they go first.
    if (!payment || left.some(({ isAside }) => !isAside)) return left
    const found = differences(order, { payment, rows, now: ctx.now() })
    return [...left, ...found.map(event => ({ ...event, eventId: `${RECONCILED}${event.eventId}` }))]
  })
}

/** The ids of the events that were found before and are handled, with any outcome. */
export async function findHandledEvents({ db }: AppContext, events: readonly Event[]): Promise<Set<string>> {
  if (events.length === 0) return new Set()
  const rows = await db
    .select({ eventId: platformEvents.eventId })
    .from(platformEvents)
    .where(
      and(
        inArray(
          platformEvents.eventId,
          events.map(({ eventId }) => eventId)
        ),
        isNotNull(platformEvents.processedAt)
      )
    )
  return new Set(rows.map(({ eventId }) => eventId))
}

/** The fields of an unreadable order that show whether it may be a paid order of ours. */
const OddOrder = z.object({
  id: z.string().min(1).max(200),
  displayFinancialStatus: z.string().nullish().catch(undefined),
  customAttributes: z
    .array(z.object({ key: z.string() }))
    .nullish()
    .catch(undefined)
})

/** Puts an unreadable order into the inbox, once, for an administrator. */
function unreadableEvent(ctx: AppContext, { raw, message }: UnreadableOrder): Event[] {
  const odd = OddOrder.safeParse(raw)
  ctx.log.error({ order: odd.data?.id, reason: message }, 'an order of the platform cannot be read')
  if (!odd.success) return []
  const { id, displayFinancialStatus: status, customAttributes: attributes } = odd.data
  if ((status && !PAID.has(status)) || (attributes && !attributes.some(({ key }) => key === 'order_id'))) return []
  return [{ eventId: `reconciled:unreadable:${id}`, topic: 'orders/paid', payload: raw }]
}

/** Variants of an order's current lines, without removed ones. */
const variantsOf = ({ lines }: ShopifyOrder): string[] =>
  lines.flatMap(({ variantId, currentQuantity }) => (variantId && currentQuantity > 0 ? [variantId] : []))

/**
 * Was the order edited since its payment's last report? A held payment may settle now. An accepted one may have grown,
 * or be for other lines now; and so may one have grown that its refunds no longer cover.
 */
function isOutdated(payment: PaymentRow, order: ShopifyOrder, rows: readonly RefundRow[]): boolean {
  const { updatedAt } = order
  const received = downToCents(order.received)
  const state = paymentStateOf(payment)
  const isKept = state === 'refunded' ? !sumRefunds(counted(rows), received).all : state !== 'held'
  const isMore = isKept && toCents(received) > toCents(payment.charged)
  const isOther = state === 'accepted' && variantsAdded(payment.lines, toEvent(order)).length > 0
  if (!isPaid(order) || (state !== 'held' && !isMore && !isOther)) return false
  return payment.reportedAt === null || payment.reportedAt < new Date(updatedAt)
}

function missedEvents(order: ShopifyOrder, payment: PaymentRow | undefined, rows: readonly RefundRow[]): Event[] {
  if (!payment && !isPaid(order)) return endedUnpaid(order)
  const { id, name, updatedAt } = order
  const events: Event[] = []
  const payload = toEvent(order)
  if (!payment) events.push({ eventId: `reconciled:${id}`, topic: 'orders/paid', payload })
  else if (isOutdated(payment, order, rows))
    events.push({
      eventId: `${EDITED}${id}:${updatedAt}`,
      topic: 'orders/paid',
      payload,
      isAside: toCents(downToCents(order.received)) === toCents(payment.charged)
    })
  if (order.cancelledAt) {
    const { cancelledAt: cancelled_at, financialStatus } = order
    const payload = { id, name, cancelled_at, financial_status: financialStatus?.toLowerCase() }
    events.push({ eventId: `reconciled:cancellation:${id}`, topic: 'orders/cancelled', payload })
  }
  for (const refund of order.refunds) {
    const isMade = Number(refund.amount) > 0
    const known = rowsOf(rows, `refund:${refund.id}`)
    // A request that the platform answered has the refund's key before its report comes. If only a part of it was made,
    // the payment's refunds are compared.
    const isReported = (row: RefundRow) =>
      row.state === 'counted' ||
      row.state === 'returned' ||
      (payment && row.state === 'answered' && pendingRest(row, toCents(amountOf(refund, payment))) > 0n)
    if (isMade ? known.some(isReported) : known.length > 0) continue
    // Until the platform has its result, a refund is listed without money. It would delay an unknown payment.
    if (!isMade && !payment) continue
    const status = isMade ? 'success' : 'pending'
    const transactions = [{ kind: 'refund', status, ...asReportedMoney(refund, payment) }]
    const payload = { id: refund.id, order_id: id, transactions }
    const eventId = `reconciled:refund:${refund.id}${isMade ? '' : ':pending'}`
    events.push({ eventId, topic: 'refunds/create', payload })
  }
  return events
}

/** The platform has counted the promo codes of an order whose payment has expired, was voided or cancelled. */
function endedUnpaid(order: ShopifyOrder): Event[] {
  const { id, financialStatus, cancelledAt, discountCodes } = order
  const isOver = financialStatus === 'EXPIRED' || financialStatus === 'VOIDED' || cancelledAt !== null
  if (!isOver || discountCodes.length === 0) return []
  const payload = { ...toEvent(order), financial_status: 'expired' }
  return [{ eventId: `${EDITED}${id}:unpaid`, topic: 'orders/paid', payload }]
}
