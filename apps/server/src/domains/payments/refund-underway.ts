import { mayOperate, refuse, toCents, type Reason, type Refusal } from '@netlet/contract'
import { and, desc, eq, gt, ne, sql, type SQL } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { isDeleted } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import { EventWaits } from '../commerce/index.ts'
import { platformEvents } from '../commerce/tables.ts'
import type { OrderRow } from '../orders/index.ts'
import { orderEvents, orders } from '../orders/tables.ts'
import { holdsPayment, refusedByForeign } from './foreign-amount.ts'
import { paymentOf, type PaymentRow } from './rows.ts'
import { paymentRefunds, payments } from './tables.ts'

/** For so long a refund that was started keeps the payment from anything else: the platform has yet to report it. */
const UNDERWAY = 10 * MINUTE

/** By so many cents the platform's report may differ from what was asked for: it converts to the buyer's currency and back. */
const CONVERTED = 2n

type Requested = Pick<PaymentRow, 'refundRequestedAt' | 'refundRequestedBy' | 'platformOrderNumber'>

/** Has an administrator just asked the platform to give money of this payment back? */
export const isRefundUnderway = ({ refundRequestedAt }: Pick<Requested, 'refundRequestedAt'>, now: Date): boolean =>
  refundRequestedAt !== null && refundRequestedAt.getTime() > now.getTime() - UNDERWAY

/** Says who has started a refund of this payment, and of which; null where nobody has. */
export function refusedByRefund(payment: Requested, now: Date): Refusal | null {
  if (!isRefundUnderway(payment, now)) return null
  const { refundRequestedBy, platformOrderNumber: platform_order } = payment
  return refuse('refund_running', { params: { by: refundRequestedBy ?? '–', platform_order } })
}

/**
 * Delivering a locked order is refused where its account was deleted, and while its money is on its way back. Where its
 * payment does not count yet, delivering it settles that payment: this is for those who decide about money.
 */
export async function mayDeliver({ tx, now, by }: Unit, order: OrderRow): Promise<Refusal | null> {
  const { platformOrderId, userId, publicId } = order
  if (await isDeleted(tx, userId)) return refuse('order_of_deleted', { params: { order: publicId } })
  const payment = platformOrderId ? await paymentOf(tx, platformOrderId) : undefined
  if (!payment) return null
  const decides = by.kind !== 'user' || mayOperate(by.role, 'payments.change')
  if (!payment.accepted && !decides) return refuse('role_not_allowed')
  return refusedByRefund(payment, now) ?? refusedByForeign(tx, payment)
}

/** The same as an expression of a query over orders: the reason, or null. */
export function deliveryHeld(by: Actor, now: Date): SQL<Reason | null> {
  const decides = by.kind !== 'user' || mayOperate(by.role, 'payments.change')
  const since = new Date(now.getTime() - UNDERWAY)
  const ofDeleted = sql`exists (select 1 from ${users} where ${users.id} = ${orders.userId} and ${users.deletedAt} is not null)`
  return sql<Reason | null>`case when ${ofDeleted} then 'order_of_deleted' else (select case
      when not ${payments.accepted} and not ${decides}::boolean then 'role_not_allowed'
      when ${gt(payments.refundRequestedAt, since)} then 'refund_running'
      when exists (select 1 from ${paymentRefunds}
        where ${paymentRefunds.platformOrderId} = ${payments.platformOrderId} and ${holdsPayment}) then 'refund_amount_unknown'
    end from ${payments} where ${payments.platformOrderId} = ${orders.platformOrderId}) end`
}

/**
 * Says who has just applied this payment, or had its order delivered: another administrator's list may still show it as it
 * was. Whoever did it knows, and may refund it at once. Null where nobody else has.
 */
export async function refusedByApplication(
  { tx, now }: Unit,
  { platformOrderId, platformOrderNumber: platform_order }: PaymentRow,
  username: string
): Promise<Refusal | null> {
  const [applied] = await tx
    .select({ by: platformEvents.resolvedBy })
    .from(platformEvents)
    .where(
      and(
        eq(platformEvents.platformOrderId, platformOrderId),
        eq(platformEvents.resolution, 'applied'),
        gt(platformEvents.resolvedAt, new Date(now.getTime() - UNDERWAY)),
        ne(platformEvents.resolvedBy, username)
      )
    )
    .orderBy(desc(platformEvents.id))
    .limit(1)
  return applied ? refuse('payment_just_applied', { params: { by: applied.by ?? '–', platform_order } }) : null
}

/** No refund of a payment is under way. */
export const NO_REFUND = { refundRequestedAt: null, refundRequestedBy: null, refundId: null, refundUnanswered: false }

/** For so long the platform's answer to a request may still come. Later, our process died with it. */
const ANSWERED_WITHIN = 2 * MINUTE

/**
 * Is this the refund that an administrator asked for, and not another one of the same payment? By the id that the platform
 * answered; where its answer was cut off, by the amount: the order's history has what was asked for.
 * @param reported.refundId the platform's id of it; without one it is not reported by the platform
 * @param reported.amount what the platform gave back, in the payment's currency; undefined: not known
 * @throws `EventWaits` while the answer, with its id, has yet to come
 */
export async function isRequested(
  { tx, now }: Unit,
  payment: PaymentRow,
  { refundId, amount }: { refundId: string | undefined; amount?: string }
): Promise<boolean> {
  const { orderId, refundRequestedAt, platformOrderNumber } = payment
  if (refundRequestedAt === null || orderId === null || refundId === undefined) return false
  if (payment.refundId !== null) return payment.refundId === refundId
  if (!payment.refundUnanswered && refundRequestedAt.getTime() > now.getTime() - ANSWERED_WITHIN)
    throw new EventWaits(`the platform has yet to answer the request for a refund of ${platformOrderNumber}`)
  if (amount === undefined) return false
  const [asked] = await tx
    .select({ amount: sql<string>`${orderEvents.detail} ->> 'amount'` })
    .from(orderEvents)
    .where(
      and(
        eq(orderEvents.orderId, orderId),
        eq(orderEvents.kind, 'refund_requested'),
        sql`${orderEvents.detail} ->> 'platform_order' = ${platformOrderNumber}`
      )
    )
    .orderBy(desc(orderEvents.id))
    .limit(1)
  if (!asked) return false
  const difference = toCents(amount) - toCents(asked.amount)
  return difference <= CONVERTED && difference >= -CONVERTED
}
