import { fromCents, refuse, toCents } from '@netlet/contract'
import { and, desc, eq, isNull, or } from 'drizzle-orm'
import type { UserActor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import { lock } from '../../infra/db/locks.ts'
import type { AppContext } from '../../infra/context.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { openPlatform, platformRefusal } from '../commerce/index.ts'
import { lockOrder, note } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { sumRefunds } from './compare-payment.ts'
import { refusedByRefund } from './refund-underway.ts'
import type { PaymentRow } from './rows.ts'
import { paymentRefunds, payments } from './tables.ts'

type Form = { amount?: string | undefined; platform_order?: string | undefined }
type Started = { amount: string; platform_order: string }

/**
 * Has the platform give money of an order's payment back, all that is left of it or a part. What follows from it here
 * follows from the platform's own report. Refused with the platform's words where it refuses.
 */
export async function refundOnPlatform(
  ctx: AppContext,
  by: UserActor,
  orderId: number,
  form: Form
): Promise<Result<Started>> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  const asked = await command(ctx, by, unit => request(unit, by, orderId, form))
  if (!asked.ok) return asked
  const { payment, amount, state } = asked.data
  const refunded = await platform.data.refund(payment.platformOrderId, {
    amount,
    // The platform makes the same refund of the same state once, also where we did not hear its answer.
    key: `netlet-${payment.id}-${state}-${amount}`,
    note: `Refund by ${by.username}`
  })
  if (refunded.ok) return ok({ amount, platform_order: payment.platformOrderNumber })
  // Nobody knows what became of a call without an answer: it stays under way until the platform reports it, or for a time.
  if (!refunded.retryable) await command(ctx, by, unit => forget(unit, payment.id))
  return platformRefusal(refunded)
}

async function request(
  unit: Unit,
  { username: refundRequestedBy }: UserActor,
  orderId: number,
  { amount, platform_order }: Form
): Promise<Result<{ payment: PaymentRow; amount: string; state: string }>> {
  const { tx, now } = unit
  const meant = await meantPayment(unit, orderId, platform_order)
  // Whatever else is done with the payment's money comes before or after this, never between.
  if (meant) await lock(tx, 'platformOrder', meant.platformOrderId)
  const order = await lockOrder(unit, orderId)
  if (!order || order.deletedAt) return refuse('not_found')
  const [payment] = meant
    ? await tx
        .select()
        .from(payments)
        .where(and(eq(payments.id, meant.id), eq(payments.orderId, orderId), isNull(payments.refundedAt)))
        .for('update')
    : []
  if (!payment) return refuse('order_without_payment')
  const running = refusedByRefund(payment, now)
  if (running) return running
  // Somebody has asked for the delivery of what this payment pays for.
  if (!payment.accepted && order.task === 'deliver') return refuse('order_busy')
  // In the payment's currency: `refundedAmount` knows nothing of a payment that brought none of the shop's money.
  const refunds = await tx
    .select()
    .from(paymentRefunds)
    .where(eq(paymentRefunds.platformOrderId, payment.platformOrderId))
  const { sum } = sumRefunds(
    refunds.filter(({ reversedAt }) => !reversedAt),
    payment.charged
  )
  const left = fromCents(toCents(payment.charged) - sum)
  const wanted = amount ?? left
  if (toCents(wanted) <= 0n) return refuse('order_without_payment')
  if (toCents(wanted) > toCents(left)) return fieldRefusal('amount', 'refund_too_large', { left })
  await tx.update(payments).set({ refundRequestedAt: now, refundRequestedBy }).where(eq(payments.id, payment.id))
  const detail = { platform_order: payment.platformOrderNumber, amount: wanted }
  await note(unit, order.id, 'refund_requested', detail)
  unit.audit('order.refund', order.id, { after: detail })
  return ok({ payment, amount: wanted, state: `${refunds.length}-${fromCents(sum)}` })
}

/** The latest payment of an order that this number of the platform names; without one, that of its purchase. */
async function meantPayment({ tx }: Unit, orderId: number, platformOrder: string | undefined) {
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

async function forget({ tx }: Unit, paymentId: number): Promise<void> {
  await tx.update(payments).set({ refundRequestedAt: null, refundRequestedBy: null }).where(eq(payments.id, paymentId))
}
