import { refuse } from '@netlet/contract'
import { and, eq } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { orders } from './tables.ts'

export type PaymentStatus = {
  status: 'pending' | 'success' | 'timeout'
  pay_status: 0 | 1
  delivery_num: number
  proxy_num: number
}

/** What the payment dialog polls: one look-up by a unique key, the buyer's own order only. */
export async function paymentStatus(
  db: Executor,
  userId: number,
  publicId: string,
  now: Date
): Promise<Result<PaymentStatus>> {
  const [order] = await db
    .select({
      state: orders.state,
      paidAt: orders.paidAt,
      reservedUntil: orders.reservedUntil,
      deliveryNum: orders.deliveryNum,
      quantity: orders.quantity
    })
    .from(orders)
    .where(and(eq(orders.publicId, publicId), eq(orders.userId, userId)))
  if (!order) return refuse('not_found')
  const paid = order.paidAt !== null
  const late = order.state !== 'placed' || order.reservedUntil <= now
  return ok({
    status: paid ? 'success' : late ? 'timeout' : 'pending',
    pay_status: paid ? 1 : 0,
    delivery_num: order.deliveryNum,
    proxy_num: order.quantity
  })
}
