import { fromCents, refuse, toCents } from '@netlet/contract'
import { and, desc, eq, isNull, or } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { orders } from '../orders/tables.ts'
import { moneyText } from './money-text.ts'
import { countedOf } from './refund-differences.ts'
import type { PaymentRow } from './rows.ts'
import { paymentRefunds, payments } from './tables.ts'

export type Refundable = {
  /** What is to be given back, in the payment's currency: `refundedAmount` knows nothing of one that brought none of the shop's money. */
  amount: string
  isAllThatIsLeft: boolean
  /** Of the payment and what was given back of it: another one after each of its refunds and disputes. */
  state: string
  /** The same, and another one after each refund of which the platform made nothing: what was asked for before is asked for anew. */
  key: string
}

/** As the database writes an amount of 0. */
const NOTHING = '0.00'

/** How much of a payment is given back: so much of it, or all that is left. */
export async function refundable(
  db: Executor,
  { id, platformOrderId, charged, currency }: PaymentRow,
  wanted?: string
): Promise<Result<Refundable>> {
  const refunds = await db.select().from(paymentRefunds).where(eq(paymentRefunds.platformOrderId, platformOrderId))
  const sum = countedOf(refunds, charged)
  const left = toCents(charged) - sum
  const amount = wanted === undefined ? left : toCents(wanted)
  if (amount <= 0n) return refuse('order_without_payment')
  if (amount > left) return fieldRefusal('amount', 'refund_too_large', { left: moneyText(fromCents(left), currency) })
  return ok({
    amount: fromCents(amount),
    isAllThatIsLeft: amount === left,
    state: `${id}-${refunds.filter(refund => refund.amount !== NOTHING).length}-${fromCents(sum)}`,
    key: `${id}-${refunds.length}-${fromCents(sum)}`
  })
}

/** The latest payment of an order that this number of the platform names; without one, that of its purchase. */
export async function meantPayment({ tx }: { tx: Executor }, orderId: number, platformOrder: string | undefined) {
  const named = platformOrder
    ? or(eq(payments.platformOrderNumber, platformOrder), eq(payments.platformOrderId, platformOrder))
    : eq(payments.platformOrderId, orders.platformOrderId)
  const [payment] = await tx
    .select({ id: payments.id, platformOrderId: payments.platformOrderId })
    .from(payments)
    .innerJoin(orders, eq(orders.id, payments.orderId))
    .where(and(eq(payments.orderId, orderId), isNull(payments.refundedAt), named))
    .orderBy(desc(payments.id))
    .limit(1)
  return payment
}
