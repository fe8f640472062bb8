import { fromCents, toCents } from '@netlet/contract/money'
import { MINUTE } from '../../infra/clock.ts'
import type { ShopifyOrder } from '../../integrations/shopify/index.ts'
import type { ChangedRefund, DoubtfulRefund, FurtherOutcome } from '../commerce/index.ts'
import {
  type PaymentRow,
  type RefundRow,
  type ReportedMoney,
  ROUNDING_CENTS,
  counted,
  downToCents,
  isPlatformRefund,
  isMarked,
  isUnconverted,
  rowsOf,
  sumRefunds,
  toPaymentCurrency,
  totalOf
} from '../payments/index.ts'

/** A reported refund that the platform does not list after this time, or lists as nothing, was not made. */
export const VOID_AFTER = 10 * MINUTE
/** The platform lists at most this many refunds of an order. More may exist that are not listed. */
const LISTED = 20

type Compared = { payment: PaymentRow; rows: readonly RefundRow[]; now: Date }
type Difference =
  | { eventId: string; topic: 'reconciled/refund'; payload: ChangedRefund }
  | { eventId: string; topic: 'reconciled/doubt'; payload: DoubtfulRefund | FurtherOutcome }

/** The key of a full refund known by the order's status: its single refunds may add up to some cents less. */
const reportedKey = (platformOrderId: string): string => `reported:${platformOrderId}`

/**
 * Compares the platform's refunds of a payment with ours: refunds that grew, shrank or failed, and an order status that
 * contradicts the total. Leaves out disputes and what operators decided.
 * @returns events, each with an id for its difference
 */
export function differences(order: ShopifyOrder, compared: Compared): Difference[] {
  const { payment, rows, now } = compared
  const keys = rows.map(({ key }) => key).filter(key => isPlatformRefund(key) && !/:.*:/.test(key))
  const changes = keys.flatMap(key => {
    const own = rowsOf(rows, key)
    const known = totalOf(counted(own), payment.charged)
    const foreign = unrecordedForeignAmount(order, key, counted(own))
    const isAsReported = known > 0n && foreign?.cents === 0n
    const says = isAsReported ? known : reportedAmount(order, key, payment)
    if (says === null) return []
    // What an operator marked as refunded counts, whether the platform lists it or not. If it does, it was made twice.
    const marked = totalOf(own.filter(isMarked), payment.charged)
    const twice = (says < known ? says : known) - known + marked
    const doubts =
      marked > 0n && twice > ROUNDING_CENTS ? [refundedAgain(order, { key, twice, charged: payment.charged })] : []
    if (says <= known && says >= known - marked) return doubts
    // The platform's list may lag, so a smaller amount counts only after some time.
    if (says < known && !own.every(row => isSettled(row, now))) return []
    if (says < known) return [changeOf(order, { key, known, amount: fromCents(says + marked) })]
    const isForeign = foreign && foreign.currency !== payment.currency && foreign.cents > 0n
    const more = isForeign ? `${fromCents(foreign.cents)} ${foreign.currency}` : undefined
    return [changeOf(order, { key, known, amount: fromCents(says), foreign: more }), ...doubts]
  })
  if (changes.length > 0) return changes
  if (order.financialStatus === 'REFUNDED') return fullyRefunded(order, compared)
  return statusConflicts(order, keys, compared)
}

const isSettled = ({ createdAt }: RefundRow, now: Date): boolean => createdAt.getTime() <= now.getTime() - VOID_AFTER

/** A refund's amount according to the platform, in cents; null if it does not say. */
function reportedAmount(
  { id, refunds, financialStatus }: ShopifyOrder,
  key: string,
  payment: PaymentRow
): bigint | null {
  if (key === reportedKey(id)) return financialStatus === 'REFUNDED' ? null : 0n
  const listed = refunds.find(refund => `refund:${refund.id}` === key)
  if (listed) return toCents(amountOf(listed, payment))
  return financialStatus === 'PAID' && refunds.length < LISTED ? 0n : null
}

/**
 * What the platform lists of a refund beyond our rows, in the buyer's currency; undefined if either does not say. The
 * payment's rate has changed if its order was edited since.
 */
function unrecordedForeignAmount({ refunds }: ShopifyOrder, key: string, rows: readonly RefundRow[]) {
  const buyer = refunds.find(({ id }) => `refund:${id}` === key)?.buyer
  const recordedMoney = rows.map(({ foreignAmount }) => foreignAmount?.split(' ') ?? [])
  if (!buyer || rows.some(isUnconverted) || recordedMoney.some(([, currency]) => currency !== buyer.currency_code))
    return undefined
  const sum = recordedMoney.reduce((cents, [amount = '0']) => cents + toCents(amount), 0n)
  return { cents: toCents(downToCents(buyer.amount)) - sum, currency: buyer.currency_code }
}

type Listed = Omit<ShopifyOrder['refunds'][number], 'id'>

/** A listed refund as a report would say it: in the buyer's currency if the payment's rate converts that. */
export function asReportedMoney({ amount, buyer }: Listed, payment: PaymentRow | undefined): ReportedMoney {
  const inBuyersCurrency = buyer && { amount: buyer.amount, currency: buyer.currency_code }
  return payment && inBuyersCurrency && toPaymentCurrency(payment, payment.currency, inBuyersCurrency) !== null
    ? inBuyersCurrency
    : { amount }
}

/**
 * A listed refund in the payment's currency, converted at the payment's rate like its report. The platform converts it
 * at the current rate.
 */
export function amountOf(listed: Listed, payment: PaymentRow | undefined): string {
  const reported = asReportedMoney(listed, payment)
  return (payment && toPaymentCurrency(payment, payment.currency, reported)) ?? downToCents(reported.amount)
}

/** The cents of a pending refund that are not made yet, if the platform made only this much of it. */
export function pendingRest(awaited: Pick<RefundRow, 'amount'> | undefined, made: bigint): bigint {
  const rest = toCents(awaited?.amount ?? '0') - made
  return rest > ROUNDING_CENTS ? rest : 0n
}

type Change = { key: string; known: bigint; amount: string | null; foreign?: string | undefined }

function changeOf(
  { id, name, updatedAt, financialStatus: status }: ShopifyOrder,
  { key, known, amount, foreign }: Change
): Difference {
  const payload = { order_id: id, name, key, known: fromCents(known), amount, foreign, status }
  const eventId = `${key}:${payload.known}:${amount ?? 'all'}:${updatedAt}`
  return { eventId, topic: 'reconciled/refund', payload }
}

function fullyRefunded(order: ShopifyOrder, { payment, rows }: Compared): Difference[] {
  if (payment.refundedAt || toCents(payment.charged) === 0n) return []
  const key = reportedKey(order.id)
  const known = totalOf(counted(rowsOf(rows, key)), payment.charged)
  return [changeOf(order, { key, known, amount: null })]
}

type Twice = { key: string; twice: bigint; charged: string }

/** The platform made a refund, or so many cents of it, that an operator had marked as made outside the platform. */
function refundedAgain({ id }: ShopifyOrder, { key, twice, charged }: Twice): Difference {
  const detail = { amount: fromCents(twice), charged }
  const eventId = `doubt:${id}:${key}:${detail.amount}`
  return { eventId, topic: 'reconciled/doubt', payload: { order_id: id, outcome: 'refunded_twice', detail } }
}

/** The refunds agree, but the status does not. An administrator decides which is right. */
function statusConflicts(
  { id, name, financialStatus: status }: ShopifyOrder,
  keys: readonly string[],
  { payment: { charged }, rows, now }: Compared
): Difference[] {
  const ownRows = keys.flatMap(key => rowsOf(rows, key)).filter(row => !isMarked(row))
  const { sum } = sumRefunds(counted(ownRows), charged)
  const most = status === 'PAID' ? 0n : toCents(charged) - 1n
  if (sum <= most || status === null || !ownRows.every(row => isSettled(row, now))) return []
  const payload = { order_id: id, name, amount: fromCents(sum), status }
  return [{ eventId: `doubt:${id}:${status}:${payload.amount}`, topic: 'reconciled/doubt', payload }]
}

/** The order in the shape of its webhook. */
export function toEvent(order: ShopifyOrder) {
  return {
    id: order.id,
    order_number: order.number,
    name: order.name,
    email: order.email,
    currency: order.currency,
    financial_status: order.financialStatus?.toLowerCase(),
    total_price: order.received,
    total_price_set: { presentment_money: order.buyerReceived },
    subtotal_price: order.subtotalPrice ?? order.received,
    total_discounts: order.totalDiscounts,
    discount_codes: order.discountCodes.map(code => ({ code, amount: '0.00' })),
    note: order.note,
    note_attributes: Object.entries(order.attributes).map(([name, value]) => ({ name, value })),
    line_items: order.lines.map(({ id, title, variantId, quantity, currentQuantity, price }) => ({
      id,
      title,
      variant_id: variantId,
      quantity,
      current_quantity: currentQuantity,
      price
    })),
    created_at: order.createdAt,
    cancelled_at: order.cancelledAt,
    updated_at: order.updatedAt,
    test: order.test
  }
}
