import {
  CUSTOMER_FAILURES,
  type LevelDiscount,
  ORDER_FAILURES,
  type Order,
  type OrderFailure,
  type Params,
  TASK_FAILURES,
  type TaskFailure,
  fillIn,
  refuse
} from '@netlet/contract'
import { iso, isoOrNull } from '../../infra/clock.ts'
import { canReopen } from './move-commands.ts'
import { quotaLeft, type Quotas } from './quotas.ts'
import { orderTranslations, rulesIn, type ProductName } from './order-mail.ts'
import { isOver, isUnsettled, renewable, renewableUntil } from './renew.ts'
import type { OrderRow } from './transition.ts'
import { and, eq } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { type Result, ok } from '../../infra/result.ts'
import { orders } from './tables.ts'

type PaymentStatus = {
  status: 'pending' | 'success' | 'timeout'
  is_cancelled: boolean
  payment_pending: boolean
  pay_status: 0 | 1
  delivery_num: number
  proxy_num: number
  /** Why the payment does not count. */
  fail: Order['fail']
}

/** The state that the payment dialog polls. One look-up by a unique key, only for the buyer. */
export async function paymentStatus(
  db: Executor,
  userId: number,
  publicId: string,
  now: Date
): Promise<Result<PaymentStatus>> {
  const [order] = await db
    .select({
      state: orders.state,
      failCode: orders.failCode,
      failParams: orders.failParams,
      paidAt: orders.paidAt,
      reservedUntil: orders.reservedUntil,
      graceUntil: orders.graceUntil,
      pendingUntil: orders.pendingUntil,
      deliveryNum: orders.deliveryNum,
      quantity: orders.quantity
    })
    .from(orders)
    .where(and(eq(orders.publicId, publicId), eq(orders.userId, userId)))
  if (!order) return refuse('not_found')
  const paid = !isUnsettled(order)
  const isHeld = order.paidAt !== null && !paid
  const late = (order.state !== 'placed' && !isHeld) || order.reservedUntil <= now
  return ok({
    status: paid ? 'success' : late ? 'timeout' : 'pending',
    is_cancelled: order.state === 'cancelled',
    payment_pending: isPaymentPending(order, now),
    pay_status: paid ? 1 : 0,
    delivery_num: order.deliveryNum,
    proxy_num: order.quantity,
    fail: isHeld ? failureOf(order, 'customer') : null
  })
}

/**
 * `renewalDays`: the current term of its plan. `taskWaits`: a server with unconfirmed changes of the task is away.
 * `holdsAddresses`: as in the inventory; read for administrators only.
 */
export type OrderWithPeople = {
  order: OrderRow
  username: string
  email: string
  renewalDays: number
  taskWaits: boolean
  holdsAddresses: boolean
  product: ProductName
}

export const isPayable = ({ state, reservedUntil }: Pick<OrderRow, 'state' | 'reservedUntil'>, now: Date): boolean =>
  state === 'placed' && reservedUntil > now

/** Is the payment of an order, or of a renewal, on its way? See pending.ts. */
const isPaymentPending = (
  order: Pick<OrderRow, 'state' | 'paidAt' | 'reservedUntil' | 'graceUntil' | 'pendingUntil'>,
  now: Date
): boolean =>
  order.pendingUntil !== null && order.pendingUntil > now && (isPayable(order, now) || renewable(order, now).ok)

export type Viewer = 'customer' | 'admin'

type Context = {
  now: Date
  viewer: Viewer
  quotas: Quotas
  /** The discount of each level code, for orders that can still be paid. */
  discounts: ReadonlyMap<string | null, LevelDiscount>
}

/** An order in the reply to this viewer. `rules`: names of access rules, by id. */
export function presentOrder(
  { order, username, email, renewalDays, taskWaits, holdsAddresses, product }: OrderWithPeople,
  rules: ReadonlyMap<number, ProductName>,
  { now, viewer, quotas, discounts }: Context
): Order {
  const open = isPayable(order, now)
  const isPending = isPaymentPending(order, now)
  const failure = order.failCode && sayFailure(ORDER_FAILURES, order.failCode, order.failParams, viewer)
  const taskFailure =
    order.taskErrorCode && sayFailure(TASK_FAILURES, order.taskErrorCode, order.taskErrorParams, viewer)
  return {
    id: order.id,
    order_id: order.publicId,
    order_number: order.platformOrderNumber,
    shopify_order_id: order.platformOrderId,
    shopify_order_number: order.platformOrderNumber,
    username,
    uid: order.userId,
    email,
    product_id: order.productId,
    product_name: order.productName,
    variant_name: order.variantName,
    variant_id: order.variantId,
    label: order.label,
    note: order.note,
    product_quantity: order.quantity,
    amount: order.amount,
    pay_amount: order.payAmount,
    last_amount: order.lastAmount ?? order.amount,
    refunded_amount: order.refundedAmount,
    pay_status: order.paidAt ? 1 : 0,
    // The job that times orders out may not have run yet.
    state: order.state === 'placed' && !open ? 'timed_out' : order.state,
    is_expired: isOver(order, now),
    created_at: iso(order.createdAt),
    delivered_at: isoOrNull(order.deliveredAt),
    delivery_seconds:
      order.deliveredAt && order.paidAt
        ? Math.max(0, (order.deliveredAt.getTime() - order.paidAt.getTime()) / 1000)
        : null,
    expired_at: isoOrNull(order.expiredAt),
    grace_until: isoOrNull(renewableUntil(order, renewalDays, now)),
    renewal_days: renewalDays,
    can_reopen: canReopen(order, now),
    holds_addresses: holdsAddresses,
    reset_time: isoOrNull(order.resetTime),
    changes_left: quotaLeft(order, 'change', { now, quotas }),
    changes_per_term: quotas.change,
    resets_per_term: quotas.reset,
    resets_left: quotaLeft(order, 'reset', { now, quotas }),
    fail_reason: failure && failure.sentence,
    fail: failureOf(order, viewer),
    acl_selected: order.rules.join(','),
    acl_names: rulesIn('en', order.rules, rules),
    ...orderTranslations(order, product, rules),
    proxy_num: order.quantity,
    address_family: order.addressFamily,
    egress: order.egress,
    delivery_num: order.deliveryNum,
    task: order.task,
    task_done: order.task === null ? null : order.taskDone,
    task_waits: taskWaits,
    task_error: taskFailure && taskFailure.sentence,
    task_fail: taskFailure && { code: taskFailure.code, params: taskFailure.params },
    payment_pending: isPending,
    checkout_url: open && !isPending ? order.checkoutUrl : null,
    discount: (open && discounts.get(order.discountCode)) || null,
    reserved_until: open ? iso(order.reservedUntil) : null
  }
}

/** An order's failure, as this viewer may see it. */
function failureOf({ failCode, failParams }: Pick<OrderRow, 'failCode' | 'failParams'>, viewer: Viewer): Order['fail'] {
  if (!failCode) return null
  const { code, params } = sayFailure(ORDER_FAILURES, failCode, failParams, viewer)
  return { code, params }
}

/** A failure's sentence with its parameters. A customer gets only the parameters that its sentence contains. */
function sayFailure<Code extends OrderFailure | TaskFailure>(
  sentences: Record<Code, string>,
  code: Code,
  known: Params | null,
  viewer: Viewer
): { code: Code; sentence: string; params: Params } {
  const given = known ?? {}
  if (viewer === 'admin') return { code, sentence: fillIn(sentences[code], given), params: { ...given } }
  const forCustomers: Partial<Record<OrderFailure | TaskFailure, string>> = CUSTOMER_FAILURES
  const sentence = forCustomers[code] ?? sentences[code]
  const params = Object.fromEntries(Object.entries(given).filter(([name]) => sentence.includes(`{${name}}`)))
  return { code, sentence: fillIn(sentence, params), params }
}
