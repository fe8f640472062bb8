import { refuse, type Reason, type Refusal } from '@netlet/contract'
import { and, desc, eq, gt, ne, sql, type SQL } from '../../infra/db/drizzle.ts'
import { type Actor, mayDo } from '../../infra/actor.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { isDeleted } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import { platformEvents } from '../commerce/tables.ts'
import type { OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { blockingRefundOf, isBlocking, refundRowsOf, UNDERWAY_MS, type RefundRow } from './refund-rows.ts'
import { paymentOf, type PaymentRow } from './rows.ts'
import { paymentRefunds, payments } from './tables.ts'

/** Names the administrator who requested a refund of this payment. */
export const refusedByRequest = (
  { askedBy }: Pick<RefundRow, 'askedBy'>,
  { platformOrderNumber: platform_order }: Pick<PaymentRow, 'platformOrderNumber'>
): Refusal => refuse('refund_running', { params: { by: askedBy ?? '–', platform_order } })

/** The same refusal while a request blocks the payment; null if none does. */
export async function refusedByRefund(db: Executor, payment: PaymentRow, now: Date): Promise<Refusal | null> {
  const blocker = blockingRefundOf(await refundRowsOf(db, payment.platformOrderId), now)
  return blocker ? refusedByRequest(blocker, payment) : null
}

/**
 * Refuses to deliver a locked order if its account was deleted or its money is being refunded. If its payment does not
 * count yet, the delivery settles it, which only those who decide about money may do.
 */
export async function deliveryRefusal({ tx, now, by }: Unit, order: OrderRow): Promise<Refusal | null> {
  const { platformOrderId, userId, publicId } = order
  if (await isDeleted(tx, userId)) return refuse('order_of_deleted', { params: { order: publicId } })
  const payment = platformOrderId ? await paymentOf(tx, platformOrderId) : undefined
  if (!payment) return null
  if (!payment.accepted && !decidesAboutMoney(by)) return refuse('role_not_allowed')
  return refusedByRefund(tx, payment, now)
}

/** The same as an expression over orders: the reason, or null. */
export function deliveryRefusalSql(by: Actor, now: Date): SQL<Reason | null> {
  const ofDeleted = sql`exists (select 1 from ${users} where ${users.id} = ${orders.userId} and ${users.deletedAt} is not null)`
  return sql<Reason | null>`case when ${ofDeleted} then 'order_of_deleted' else (select case
      when not ${payments.accepted} and not ${decidesAboutMoney(by)}::boolean then 'role_not_allowed'
      when exists (select 1 from ${paymentRefunds}
        where ${paymentRefunds.platformOrderId} = ${payments.platformOrderId} and ${isBlocking(now)}) then 'refund_running'
    end from ${payments} where ${payments.platformOrderId} = ${orders.platformOrderId}) end`
}

const decidesAboutMoney = (by: Actor): boolean => by.kind !== 'user' || mayDo(by, 'payments.change')

/**
 * Names the administrator who just applied this payment or delivered its order: another administrator's list may be out
 * of date. The one who did it may refund it at once.
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
        gt(platformEvents.resolvedAt, new Date(now.getTime() - UNDERWAY_MS)),
        ne(platformEvents.resolvedBy, username)
      )
    )
    .orderBy(desc(platformEvents.id))
    .limit(1)
  return applied ? refuse('payment_just_applied', { params: { by: applied.by ?? '–', platform_order } }) : null
}
