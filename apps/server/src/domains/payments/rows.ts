import { fromCents, toCents } from '@netlet/contract'
import { and, asc, desc, eq, gt, isNull, ne, not, sql } from '../../infra/db/drizzle.ts'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { partlyRefundOrder, receiptDateOf, type OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { readSettings } from '../settings/index.ts'
import { chargedOf, downToCents, type Line, moneyOf, type MoneyRules } from './paid-order.ts'
import {
  blockingRefundOf,
  counted,
  sumRefunds,
  toPaymentCurrency,
  type Rate,
  type RefundRow,
  type ReportedMoney
} from './refund-rows.ts'
import { paymentRefunds, payments, type PaidLine } from './tables.ts'

export type PaymentRow = typeof payments.$inferSelect

export async function paymentOf(db: Executor, platformOrderId: string): Promise<PaymentRow | undefined> {
  const [payment] = await db.select().from(payments).where(eq(payments.platformOrderId, platformOrderId))
  return payment
}

/** What an order's latest payment brought that counts and was not fully refunded. */
export async function lastAmountOf(db: Executor, orderId: number): Promise<string | null> {
  const [latest] = await db
    .select({ amount: payments.amount })
    .from(payments)
    .where(and(eq(payments.orderId, orderId), payments.accepted, isNull(payments.refundedAt)))
    .orderBy(desc(payments.id))
    .limit(1)
  return latest?.amount ?? null
}

/** A payment's report. `payment`: as known before. `refunds`: all that is known now. */
type Report = {
  paid: PaidOrder
  kind: 'purchase' | 'renewal'
  payment: PaymentRow | null
  money: MoneyRules
  refunds: readonly RefundRow[]
  about: { order: Pick<OrderRow, 'id'> } | null
}

/**
 * Records a report. A new payment is held, or refunded if all of it went back before. If a known payment is now fully
 * refunded, only its refunds change it.
 */
export async function recordPayment(unit: Unit, report: Report): Promise<PaymentRow> {
  const { paid, kind, payment: known, about } = report
  const columns = { ...columnsOf(unit, report), kind }
  if (known) {
    const change = columns.refundedAt
      ? { reportedAt: columns.reportedAt ?? known.reportedAt }
      : { ...columns, orderId: about?.order.id ?? known.orderId }
    const [changed] = await unit.tx.update(payments).set(change).where(eq(payments.id, known.id)).returning()
    if (changed) return changed
  } else {
    const orderId = about?.order.id ?? null
    const [added] = await unit.tx
      .insert(payments)
      .values({
        ...columns,
        orderId,
        platformOrderId: paid.id,
        accepted: false,
        paidAt: receiptDateOf(paid, unit.now),
        createdAt: unit.now
      })
      .returning()
    if (added) return added
  }
  throw new Error(`the payment of ${paid.id} was not written`)
}

function columnsOf(unit: Unit, { paid, money, refunds, payment: known }: Report) {
  const rate = rateOf(paid)
  // The settings may have changed since it was accepted. A free one shows nothing of them.
  const isKnown = known?.accepted && toCents(known.charged) > 0n
  const accepted = isKnown && (known.amount === known.charged ? rate.charged : known.amount)
  const amount = accepted || moneyOf(paid, money)
  const back = sumRefunds(counted(refunds), rate.charged)
  return {
    platformOrderNumber: paid.name.slice(0, 100),
    amount,
    discount: downToCents(paid.total_discounts),
    ...rate,
    lines: paid.line_items.map(paidLine),
    refundedAmount: refundedPartOf(amount, back.sum),
    refundedAt: back.all ? unit.now : null,
    // While a refund of it is pending, a new payment is not judged.
    reportedAt: !known?.reportedAt && blockingRefundOf(refunds, unit.now) ? null : timeOf(paid.updated_at)
  }
}

/** The rate at which the platform converted a payment from the buyer's currency. */
export function rateOf(paid: PaidOrder): Rate {
  const charged = chargedOf(paid)
  const asked = toCents(downToCents(paid.total_price))
  const buyer = paid.total_price_set?.presentment_money
  const askedOfBuyer = buyer ? toCents(downToCents(buyer.amount)) : 0n
  return {
    currency: paid.currency.slice(0, 10),
    charged,
    buyerAmount: buyer ? fromCents(asked === 0n ? 0n : (askedOfBuyer * toCents(charged)) / asked) : null,
    buyerCurrency: buyer?.currency_code ?? null
  }
}

const paidLine = (line: Line): PaidLine => ({
  title: line.title,
  variant: line.variant_title ?? null,
  variant_id: line.variant_id ?? null,
  quantity: line.current_quantity ?? line.quantity,
  price: downToCents(line.price)
})

/** A time of the platform, such as that of its order's last change; null if it does not say. */
export function timeOf(text: string | null | undefined): Date | null {
  const at = new Date(text ?? Number.NaN)
  return Number.isNaN(at.getTime()) ? null : at
}

/** The refunded part of a payment, at most what it brought. @param sum cents */
export const refundedPartOf = (amount: string, sum: bigint): string => {
  const most = toCents(amount)
  return fromCents(sum < most ? sum : most)
}

export const minus = (one: string, other: string): string => fromCents(toCents(one) - toCents(other))

/** The part of a payment that the shop keeps, which earns points and coins. */
export const keptOf = ({ amount, refundedAmount }: Pick<PaymentRow, 'amount' | 'refundedAmount'>) => ({
  amount: minus(amount, refundedAmount),
  of: amount
})

/**
 * The payment counts from now on. What was refunded of it before now counts on its order too.
 * @param days the term that it gives
 */
export async function setAccepted(
  unit: Unit,
  order: OrderRow,
  payment: PaymentRow,
  days: number = order.proxyTime
): Promise<void> {
  await unit.tx.update(payments).set({ accepted: true, ignoredAt: null, days }).where(eq(payments.id, payment.id))
  const { refundedAmount: amount, platformOrderNumber } = payment
  const refunded = { amount, reported: amount, platformOrderNumber, reason: 'refund' } as const
  if (toCents(amount) > 0n) await partlyRefundOrder(unit, order, refunded)
}

/** The shop keeps the money, and it settles nothing. */
export async function markIgnored({ tx, now }: Unit, { id }: Pick<PaymentRow, 'id'>): Promise<void> {
  await tx.update(payments).set({ ignoredAt: now }).where(eq(payments.id, id))
}

/** Days that an order's other payments gave, if they count and were not refunded. */
export async function daysOfOtherPayments(db: Executor, order: OrderRow, paymentId: number): Promise<number> {
  const { id, proxyTime } = order
  const [row] = await db
    .select({ days: sql<number>`coalesce(sum(coalesce(${payments.days}, ${proxyTime}::int)), 0)::int` })
    .from(payments)
    .where(and(eq(payments.orderId, id), ne(payments.id, paymentId), payments.accepted, isNull(payments.refundedAt)))
  return row?.days ?? 0
}

/** The platform's id of a user's oldest payment that counts, brought money and was not refunded. */
export async function standingPayment({ tx }: Unit, userId: number): Promise<string | null> {
  const [row] = await tx
    .select({ platformOrderId: payments.platformOrderId })
    .from(payments)
    .innerJoin(orders, eq(orders.id, payments.orderId))
    .where(and(eq(orders.userId, userId), payments.accepted, isNull(payments.refundedAt), gt(payments.amount, '0')))
    .orderBy(asc(payments.id))
    .limit(1)
  return row?.platformOrderId ?? null
}

/** Renewals that count and were not fully refunded. */
export const isPaidRenewal = and(eq(payments.kind, 'renewal'), payments.accepted, isNull(payments.refundedAt))

/** What was paid for an order's renewals less refunds: '20.00 USD, 15.00 EUR'; null if there are none. */
export async function paidRenewals({ tx }: Unit, orderId: number): Promise<string | null> {
  const back = sql`(select coalesce(sum(f.amount), 0) from ${paymentRefunds} f
    where f.platform_order_id = ${payments.platformOrderId} and f.state = 'counted')`
  const sums = await tx
    .select({ left: sql<string>`sum(${payments.charged} - ${back}) || ' ' || ${payments.currency}` })
    .from(payments)
    .where(and(eq(payments.orderId, orderId), isPaidRenewal))
    .groupBy(payments.currency)
    .orderBy(asc(payments.currency))
  return sums.map(({ left }) => left).join(', ') || null
}

/** Reported money in the payment's currency if it can be converted, and in the buyer's. */
export async function reportedMoney(
  { tx }: Unit,
  { secrets }: Pick<AppContext, 'secrets'>,
  platformOrderId: string,
  reported: readonly ReportedMoney[]
): Promise<{ amount: string; foreignAmount: string | null }> {
  const rate = (await paymentOf(tx, platformOrderId)) ?? null
  const own = rate?.currency ?? (await readSettings(tx, secrets)).shop_currency
  const known = reported.map(one => toPaymentCurrency(rate, own, one))
  const amount = known.includes(null) ? '0.00' : sumOf(known.map(one => one ?? '0'))
  const foreign = reported.find(({ currency }) => currency && currency !== own)?.currency
  const sum = sumOf(reported.map(one => downToCents(one.amount)))
  return { amount, foreignAmount: foreign ? `${sum} ${foreign}`.slice(0, 100) : null }
}

const sumOf = (amounts: readonly string[]): string => fromCents(amounts.reduce((sum, one) => sum + toCents(one), 0n))

/** Does the shop hold money of this user that settled nothing and was neither refunded nor ignored? */
export async function holdsUnsettledMoney(db: Executor, userId: number): Promise<boolean> {
  const { accepted, refundedAt, ignoredAt } = payments
  const isHeld = and(not(accepted), isNull(refundedAt), isNull(ignoredAt))
  return (await db.$count(payments, and(eq(payments.userId, userId), isHeld))) > 0
}

/** The platform's ids of a user's payments. */
export async function paidBy(db: Executor, userId: number): Promise<string[]> {
  const rows = await db.select({ id: payments.platformOrderId }).from(payments).where(eq(payments.userId, userId))
  return rows.map(({ id }) => id)
}

/** Our orders that a platform order paid for, including by renewal, for the search by its id. */
export async function ordersPaidBy(db: Executor, platformOrderId: string): Promise<number[]> {
  const payment = await paymentOf(db, platformOrderId)
  return payment?.orderId ? [payment.orderId] : []
}
