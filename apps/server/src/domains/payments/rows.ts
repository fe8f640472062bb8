import { fromCents, toCents, type Settings } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { moneyOf, sumRefunds, wholeCents } from './compare-payment.ts'
import { payments } from './tables.ts'

export type PaymentRow = typeof payments.$inferSelect

/** The payment of one platform order; undefined where it is not known. */
export async function paymentOf(db: Executor, platformOrderId: string): Promise<PaymentRow | undefined> {
  const [payment] = await db.select().from(payments).where(eq(payments.platformOrderId, platformOrderId))
  return payment
}

/** Writes a payment down, held, or refunded where all of it was given back before it came. */
export async function addPayment(
  unit: Unit,
  paid: PaidOrder,
  added: {
    orderId: number | null
    kind: 'purchase' | 'renewal'
    settings: Pick<Settings, 'shop_currency' | 'accept_test_payments'>
    refunds: readonly { amount: string | null }[]
  }
): Promise<PaymentRow> {
  const { orderId, kind, settings, refunds } = added
  const amount = moneyOf(paid, settings)
  const charged = wholeCents(paid.total_price)
  const back = sumRefunds(refunds, charged)
  const [payment] = await unit.tx
    .insert(payments)
    .values({
      orderId,
      platformOrderId: paid.id,
      platformOrderNumber: paid.name.slice(0, 100),
      kind,
      amount,
      discount: wholeCents(paid.total_discounts),
      charged,
      currency: paid.currency.slice(0, 10),
      accepted: false,
      refundedAmount: givenBackOf(amount, back.sum),
      refundedAt: back.all ? unit.now : null,
      createdAt: unit.now
    })
    .returning()
  if (!payment) throw new Error('the payment was not added')
  return payment
}

/** What of a payment's money was given back: not more than it brought. */
export const givenBackOf = (amount: string, sum: bigint): string => {
  const most = toCents(amount)
  return fromCents(sum < most ? sum : most)
}

/** It counts from now on. */
export async function setAccepted(unit: Unit, id: number, change: Partial<PaymentRow> = {}): Promise<void> {
  await unit.tx
    .update(payments)
    .set({ ...change, accepted: true, ignoredAt: null })
    .where(eq(payments.id, id))
}
