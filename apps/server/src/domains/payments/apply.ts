import { refuse, type InboxEntry } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { isDeleted } from '../accounts/index.ts'
import { enqueueTags, type EventRow } from '../commerce/index.ts'
import { startDelivery } from '../delivery/index.ts'
import { bringBack, lockOrderByPublicId, markPaid, note, replacePayment, type OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { lockEarners, useCoupons } from '../rewards/index.ts'
import { readSettings } from '../settings/index.ts'
import { acceptPayment, grantPoints } from './accept.ts'
import { refusedByForeign } from './foreign-amount.ts'
import { paymentOf, setAccepted, type PaymentRow } from './rows.ts'
import { purchaseTerm } from './settle-purchase.ts'
import { renewBy } from './settle-renewal.ts'
import { codesOf, detailsOf } from './settling.ts'
import { isPaidInTime } from './sold-today.ts'
import { payments } from './tables.ts'
import { mailReceipt } from './tell.ts'

/** A locked event that is still open, its payment, and what the platform said of it. */
export type OpenEvent = { event: EventRow; entry: InboxEntry; paid: PaidOrder | null; payment: PaymentRow | null }

/** Money that is the shop's again: what it had paid for, nobody tells a second time. */
const CAME_BACK = new Set<EventRow['outcome']>(['dispute_won', 'refund_failed'])

type Applying = Pick<AppContext, 'secrets' | 'config'>

/** Settles the payment of an open event on the order of this public number: as its purchase, or as a renewal. */
export async function applyTo(
  unit: Unit,
  ctx: Applying,
  { event, paid, payment }: OpenEvent,
  publicId: string
): Promise<Result<OrderRow>> {
  if (!payment || (!paid && !CAME_BACK.has(event.outcome))) return refuse('payment_not_applicable')
  if (payment.refundedAt) return refuse('payment_given_back')
  const held = await refusedByForeign(unit.tx, payment)
  if (held) return held
  const order = await lockOrderByPublicId(unit, publicId)
  // Nobody is there any more to whom it could be delivered.
  if (!order || (await isDeleted(unit.tx, order.userId)))
    return fieldRefusal('order', 'order_not_found', { order: publicId })
  const other = await orderPaidBy(unit, payment)
  if (other && other.id !== order.id) return refuse('payment_on_order', { params: { order: other.publicId } })
  if (payment.accepted && event.outcome !== 'too_late')
    return refuse('payment_settled', { params: { order: order.publicId } })
  const inTime = isPaidInTime(order, paid ?? {}, payment.createdAt)
  const settled = await settleOn(unit, ctx, await bringBack(unit, order), { payment, inTime })
  if (!settled.ok) return settled
  if (paid) await useCoupons(unit, order.userId, codesOf(paid))
  return ok(order)
}

/** The order that was marked as paid by this payment, whatever became of it. */
async function orderPaidBy({ tx }: Unit, { orderId, platformOrderId }: PaymentRow) {
  if (orderId === null) return undefined
  const [order] = await tx
    .select({ id: orders.id, publicId: orders.publicId, platformOrderId: orders.platformOrderId })
    .from(orders)
    .where(eq(orders.id, orderId))
  return order?.platformOrderId === platformOrderId ? order : undefined
}

type Applied = { payment: PaymentRow; inTime: boolean }

async function settleOn(unit: Unit, ctx: Applying, order: OrderRow, applied: Applied): Promise<Result<null>> {
  const { payment } = applied
  if (!order.paidAt) return buy(unit, ctx, order, applied)
  if (order.state === 'failed') return deliverFailed(unit, ctx, order, applied)
  const settings = await readSettings(unit.tx, ctx.secrets)
  const renewal = await moveTo(unit, order, payment, 'renewal')
  if (await renewBy(unit, ctx, { order, payment: renewal, settings })) return ok(null)
  return refuse('order_cannot_renew', { params: { order: order.publicId, state: order.state } })
}

async function buy(unit: Unit, ctx: Applying, order: OrderRow, { payment, inTime }: Applied): Promise<Result<null>> {
  const moved = await moveTo(unit, order, payment, 'purchase')
  const days = await purchaseTerm(unit, order, inTime)
  const paidOrder = await markPaid(unit, order, { ...detailsOf(moved), days })
  await setAccepted(unit, paidOrder, moved)
  await grantPoints(unit, await readSettings(unit.tx, ctx.secrets), order, detailsOf(moved))
  return deliver(unit, ctx, paidOrder, moved)
}

async function deliverFailed(unit: Unit, ctx: Applying, order: OrderRow, applied: Applied): Promise<Result<null>> {
  const { payment, inTime } = applied
  if (order.platformOrderId === payment.platformOrderId) return deliver(unit, ctx, order, payment)
  const first = order.platformOrderId ? await paymentOf(unit.tx, order.platformOrderId) : undefined
  if (first?.accepted) return refuse('order_has_payment', { params: { order: order.publicId } })
  await lockEarners(unit.tx, order.userId)
  const moved = await moveTo(unit, order, payment, 'purchase')
  const days = await purchaseTerm(unit, order, inTime)
  return deliver(unit, ctx, await replacePayment(unit, order, { ...detailsOf(moved), days }), moved)
}

async function deliver(unit: Unit, ctx: Applying, order: OrderRow, payment: PaymentRow): Promise<Result<null>> {
  if (!(await startDelivery(unit, order, acceptPayment(ctx)))) return refuse('out_of_stock')
  const { platformOrderId, platformOrderNumber: platform_order, charged: amount } = payment
  await note(unit, order.id, 'payment_applied', { platform_order, amount })
  enqueueTags(unit, { platformOrderId, tags: ['payment_applied'], note: `Settled order ${order.publicId}` }, 'applied')
  await mailReceipt(unit, ctx, order, payment)
  return ok(null)
}

async function moveTo(
  unit: Unit,
  order: OrderRow,
  payment: PaymentRow,
  kind: 'purchase' | 'renewal'
): Promise<PaymentRow> {
  const [moved] = await unit.tx
    .update(payments)
    .set({ orderId: order.id, kind })
    .where(eq(payments.id, payment.id))
    .returning()
  if (!moved) throw new Error(`There is no payment ${payment.id}`)
  return moved
}
