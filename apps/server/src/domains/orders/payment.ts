import { refuse, type Order } from '@netlet/contract'
import { and, eq } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { failureOf } from './present.ts'
import { isUnsettled } from './renew.ts'
import { orders } from './tables.ts'

export type PaymentStatus = {
  status: 'pending' | 'success' | 'timeout'
  is_cancelled: boolean
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
    pay_status: paid ? 1 : 0,
    delivery_num: order.deliveryNum,
    proxy_num: order.quantity,
    fail: isHeld ? failureOf(order, 'customer') : null
  })
}
