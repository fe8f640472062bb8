import { and, asc, eq, gt } from 'drizzle-orm'
import { iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { pagesById } from '../../infra/db/pages-by-id.ts'
import { orders } from '../orders/tables.ts'
import { payments } from './tables.ts'

/** A user's payments for the download of the own data, in batches. */
export async function* exportPayments(db: Executor, userId: number): AsyncGenerator<object[]> {
  const pages = pagesById(({ after, limit }) =>
    db
      .select({ id: payments.id, payment: payments, orderId: orders.publicId })
      .from(payments)
      .innerJoin(orders, eq(orders.id, payments.orderId))
      .where(and(eq(orders.userId, userId), gt(payments.id, after)))
      .orderBy(asc(payments.id))
      .limit(limit)
  )
  for await (const rows of pages)
    yield rows.map(({ payment, orderId }) => ({
      order_id: orderId,
      platform_order: payment.platformOrderNumber,
      kind: payment.kind,
      amount: payment.amount,
      discount: payment.discount,
      charged: payment.charged,
      currency: payment.currency,
      refunded_amount: payment.refundedAmount,
      accepted: payment.accepted,
      created_at: iso(payment.createdAt)
    }))
}
