import { fillIn, ORDER_FAILURES, TASK_FAILURES, type Order } from '@netlet/contract'
import { iso, isoOrNull } from '../../infra/clock.ts'
import { isOver } from './renew.ts'
import type { OrderRow } from './transition.ts'

export type OrderWithPeople = { order: OrderRow; username: string; email: string }

/** An order as the wire shows it. `ruleNames` maps the ids of access rules to their names. */
export function presentOrder(
  { order, username, email }: OrderWithPeople,
  ruleNames: ReadonlyMap<number, string>,
  now: Date
): Order {
  const open = order.state === 'placed' && order.reservedUntil > now
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
    product_quantity: order.quantity,
    amount: order.amount,
    pay_amount: order.payAmount,
    refunded_amount: order.refundedAmount,
    pay_status: order.paidAt ? 1 : 0,
    // The clock decides, not the job that will soon follow it.
    state: order.state === 'placed' && !open ? 'timed_out' : order.state,
    is_expired: isOver(order, now),
    created_at: iso(order.createdAt),
    delivered_at: isoOrNull(order.deliveredAt),
    expired_at: isoOrNull(order.expiredAt),
    grace_until: order.state === 'expired' && order.graceUntil && order.graceUntil > now ? iso(order.graceUntil) : null,
    reset_time: isoOrNull(order.resetTime),
    fail_reason: order.failCode && fillIn(ORDER_FAILURES[order.failCode], order.failParams ?? {}),
    fail: order.failCode && { code: order.failCode, params: { ...order.failParams } },
    acl_selected: order.rules.join(','),
    acl_names: order.rules.map(id => ruleNames.get(id) ?? `#${id}`),
    proxy_num: order.quantity,
    delivery_num: order.deliveryNum,
    task: order.task,
    task_done: order.task === null ? null : order.taskDone,
    task_error: order.taskErrorCode && fillIn(TASK_FAILURES[order.taskErrorCode], order.taskErrorParams ?? {}),
    checkout_url: open ? order.checkoutUrl : null,
    reserved_until: open ? iso(order.reservedUntil) : null
  }
}
