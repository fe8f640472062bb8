import { refuse } from '@netlet/contract'
import { and, eq } from '../../infra/db/drizzle.ts'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { isDeleted } from '../accounts/index.ts'
import { enqueueTags, resolveEventsOf, type EventRow } from '../commerce/index.ts'
import { restoreDeleted, lockOrderByPublicId, recordEvent, lastRequestOf, type OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { markCouponsUsed } from '../rewards/index.ts'
import { accept, deliver, renew, type Settling } from './apply.ts'
import { judgeApplication } from './judge.ts'
import { refusedByRefund } from './refusals.ts'
import { paymentOf, type PaymentRow } from './rows.ts'
import { gatherOrder } from './settle.ts'
import { ENDED_BY_DELIVERY } from './states.ts'
import { payments } from './tables.ts'

/** `isNew`: the payment was recorded for this decision. */
type Open = { event: Pick<EventRow, 'outcome'>; paid: PaidOrder | null; payment: PaymentRow | null; isNew: boolean }

/** Outcomes for money that the shop has after all. Their events carry no paid order, but their payment is known. */
const CAME_BACK = new Set<EventRow['outcome']>(['dispute_won', 'refund_failed', 'refund_stuck'])

/** Settles an open event's payment on the order that an administrator names, as its purchase or as a renewal. */
export async function applyToNamedOrder(
  unit: Unit,
  ctx: Settling,
  { event, paid, payment: known, isNew }: Open,
  publicId: string
): Promise<Result<OrderRow>> {
  if (!known || (!paid && !CAME_BACK.has(event.outcome))) return refuse('payment_not_applicable')
  if (known.refundedAt) return refuse('payment_given_back')
  // A payment that has just been recorded may have been refunded before.
  const running = await refusedByRefund(unit.tx, known, unit.now)
  if (running) return running
  const named = await lockOrderByPublicId(unit, publicId)
  if (!named || (await isDeleted(unit.tx, named.userId)))
    return fieldRefusal('order', 'order_not_found', { order: publicId })
  // A delivery may have accepted it until now.
  const payment = (await paymentOf(unit.tx, known.platformOrderId)) ?? known
  const other = await orderPaidBy(unit, payment)
  if (other && other.id !== named.id) return refuse('payment_on_order', { params: { order: other.publicId } })
  if (payment.accepted && event.outcome !== 'too_late')
    return refuse('payment_settled', { params: { order: publicId } })
  const order = await restoreDeleted(unit, named)
  const kind = order.paidAt && order.state !== 'failed' ? 'renewal' : 'purchase'
  const about = await gatherOrder(unit.tx, order, { paid: paid ?? {}, kind, heardAt: payment.createdAt })
  const decision = judgeApplication(about, payment)
  if (typeof decision === 'string') return refuse(decision, { params: { order: publicId, state: order.state } })
  const on = { order, payment: await moveTo(unit, order, payment, kind) }
  if (decision.do === 'renew') {
    if (!(await renew(unit, ctx, on, decision))) return refuse('out_of_stock')
  } else {
    if (!(await deliver(unit, ctx, on, decision))) return refuse('out_of_stock')
    const { platformOrderId, platformOrderNumber: platform_order, charged: amount } = payment
    await recordEvent(unit, order.id, 'payment_applied', { platform_order, amount })
    enqueueTags(unit, { platformOrderId, tags: ['payment_applied'], note: `Settled order ${publicId}` }, 'applied')
  }
  if (paid && isNew) await markCouponsUsed(unit, order.userId, paid)
  return ok(order)
}

/** The order that this payment marked as paid, in any state. */
async function orderPaidBy({ tx }: Unit, { orderId, platformOrderId }: PaymentRow) {
  if (orderId === null) return undefined
  const [order] = await tx
    .select({ id: orders.id, publicId: orders.publicId })
    .from(orders)
    .where(and(eq(orders.id, orderId), eq(orders.platformOrderId, platformOrderId)))
  return order
}

async function moveTo({ tx }: Unit, order: OrderRow, payment: PaymentRow, kind: PaymentRow['kind']) {
  const [moved] = await tx
    .update(payments)
    .set({ orderId: order.id, kind })
    .where(eq(payments.id, payment.id))
    .returning()
  if (!moved) throw new Error(`There is no payment ${payment.id}`)
  return moved
}

/**
 * After a failed order was delivered by hand, its payment counts. If an administrator asked for the delivery, closes
 * the events in the inbox and tags the platform's order.
 */
export const acceptDelivered =
  (ctx: Pick<AppContext, 'secrets'>) =>
  async (unit: Unit, order: OrderRow): Promise<void> => {
    const { platformOrderId } = order
    if (!platformOrderId) return
    const [payment] = await unit.tx
      .select()
      .from(payments)
      .where(and(eq(payments.orderId, order.id), eq(payments.platformOrderId, platformOrderId)))
      .for('update')
    if (!payment) return
    await accept(unit, ctx, { order, payment })
    unit.publish('platform_event')
    const by = (await lastRequestOf(unit.tx, order.id)).by ?? null
    if (by === null) return
    await resolveEventsOf(unit, platformOrderId, [...ENDED_BY_DELIVERY], { resolution: 'applied', note: null, by })
    // Replaces the tag and note that said why nothing was delivered.
    enqueueTags(unit, { platformOrderId, tags: ['delivered'], note: `Delivered by ${by}` }, 'by-hand')
  }
