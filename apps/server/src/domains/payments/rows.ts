import { fromCents, toCents } from '@netlet/contract'
import { and, desc, eq, isNull } from 'drizzle-orm'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import { iso } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { partlyRefundOrder, type OrderRow } from '../orders/index.ts'
import { downToCents, moneyOf, type MoneyRules, sumRefunds } from './paid-order.ts'
import { paymentStateOf } from './states.ts'
import { paymentRefunds, payments, type PaidLine } from './tables.ts'

export type PaymentRow = typeof payments.$inferSelect

/** The payment of one platform order; undefined where it is not known. */
export async function paymentOf(db: Executor, platformOrderId: string): Promise<PaymentRow | undefined> {
  const [payment] = await db.select().from(payments).where(eq(payments.platformOrderId, platformOrderId))
  return payment
}

/** What the latest payment of an order brought that counts and was not given back; null where there is none. */
export async function lastAmountOf(db: Executor, orderId: number): Promise<string | null> {
  const [latest] = await db
    .select({ amount: payments.amount })
    .from(payments)
    .where(and(eq(payments.orderId, orderId), payments.accepted, isNull(payments.refundedAt)))
    .orderBy(desc(payments.id))
    .limit(1)
  return latest?.amount ?? null
}

/** What every list shows of a payment; amounts are decimals, `charged` in the payment's currency. */
export const shownPayment = (payment: PaymentRow) => ({
  id: payment.id,
  created_at: iso(payment.createdAt),
  platform_order: payment.platformOrderNumber,
  kind: payment.kind,
  state: paymentStateOf(payment),
  charged: payment.charged,
  currency: payment.currency,
  amount: payment.amount,
  refunded_amount: payment.refundedAmount
})

/** What was given back of the payment of a platform order, and did not come back since. */
export const refundsOf = (db: Executor, platformOrderId: string) =>
  db
    .select()
    .from(paymentRefunds)
    .where(and(eq(paymentRefunds.platformOrderId, platformOrderId), isNull(paymentRefunds.reversedAt)))

/** The parts among them, but those of which nobody knows how much they are: the amount in the payment's currency, and the platform's own name of it. */
export async function partsGivenBack(db: Executor, platformOrderId: string) {
  const refunds = await refundsOf(db, platformOrderId)
  return refunds.flatMap(({ key, amount }) =>
    amount === null || toCents(amount) === 0n
      ? []
      : [{ key, amount, reason: key.startsWith('dispute:') ? 'chargeback' : 'refund' }]
  )
}

/** Writes a payment down, held, or refunded where all of it was given back before it came. */
export async function addPayment(
  unit: Unit,
  paid: PaidOrder,
  added: {
    orderId: number | null
    kind: 'purchase' | 'renewal'
    settings: MoneyRules
    refunds: readonly { amount: string | null }[]
  }
): Promise<PaymentRow> {
  const { orderId, kind, settings, refunds } = added
  const [payment] = await unit.tx
    .insert(payments)
    .values({
      orderId,
      platformOrderId: paid.id,
      kind,
      ...columnsOf(unit, paid, settings, refunds),
      accepted: false,
      createdAt: unit.now
    })
    .returning()
  if (!payment) throw new Error('the payment was not added')
  return payment
}

/** A held payment as the platform tells of it now. */
export async function updatePayment(
  unit: Unit,
  paid: PaidOrder,
  { id, ...change }: Pick<PaymentRow, 'id' | 'orderId' | 'kind'>,
  { settings, refunds }: { settings: MoneyRules; refunds: readonly { amount: string | null }[] }
): Promise<PaymentRow> {
  const [payment] = await unit.tx
    .update(payments)
    .set({ ...change, ...columnsOf(unit, paid, settings, refunds) })
    .where(eq(payments.id, id))
    .returning()
  if (!payment) throw new Error(`There is no payment ${id}`)
  return payment
}

/** What the platform's report says of a payment. */
function columnsOf(unit: Unit, paid: PaidOrder, settings: MoneyRules, refunds: readonly { amount: string | null }[]) {
  const amount = moneyOf(paid, settings)
  const charged = downToCents(paid.total_price)
  const back = sumRefunds(refunds, charged)
  return {
    platformOrderNumber: paid.name.slice(0, 100),
    amount,
    discount: downToCents(paid.total_discounts),
    charged,
    currency: paid.currency.slice(0, 10),
    lines: paid.line_items.map(paidLine),
    refundedAmount: givenBackOf(amount, back.sum),
    refundedAt: back.all ? unit.now : null,
    reportedAt: reportedAt(paid)
  }
}

/** A line as it was when the platform told of it. */
const paidLine = (line: PaidOrder['line_items'][number]): PaidLine => ({
  title: line.title,
  variant: line.variant_title ?? null,
  quantity: line.current_quantity ?? line.quantity,
  price: downToCents(line.price)
})

/** When the platform's order last changed, by the platform's own time; null where it does not say. */
export function reportedAt({ updated_at }: Pick<PaidOrder, 'updated_at'>): Date | null {
  const at = new Date(updated_at ?? Number.NaN)
  return Number.isNaN(at.getTime()) ? null : at
}

/** What of a payment's money was given back: not more than it brought. */
export const givenBackOf = (amount: string, sum: bigint): string => {
  const most = toCents(amount)
  return fromCents(sum < most ? sum : most)
}

/** What of a payment's money is the shop's: points and coins are earned by that. */
export const keptOf = ({ amount, refundedAmount }: Pick<PaymentRow, 'amount' | 'refundedAmount'>) => ({
  amount: fromCents(toCents(amount) - toCents(refundedAmount)),
  of: amount
})

/**
 * It counts from now on, and so does on its order what was given back of it before.
 * @param days the term that it gives: of a purchase, its order's
 */
export async function setAccepted(
  unit: Unit,
  order: OrderRow,
  payment: PaymentRow,
  days: number = order.proxyTime
): Promise<void> {
  await unit.tx.update(payments).set({ accepted: true, ignoredAt: null, days }).where(eq(payments.id, payment.id))
  const { refundedAmount: amount, platformOrderNumber } = payment
  if (toCents(amount) > 0n) await partlyRefundOrder(unit, order, { amount, platformOrderNumber, reason: 'refund' })
}
