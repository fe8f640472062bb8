import type { Payment } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { orders } from '../orders/tables.ts'
import { shownPayment } from './rows.ts'
import { payments } from './tables.ts'

/** Payments of a user's orders. Money that names no order of ours is in the inbox only. */
export const userPaymentList = (userId: number) =>
  defineList<ListInput<'id'>, Payment>({
    name: 'user_payments',
    table: payments,
    id: payments.id,
    sort: { id: payments.id },
    match: () => ({ where: [eq(payments.userId, userId)] }),
    async load(db, ids) {
      const rows = await db
        .select({ payment: payments, order: orders.publicId, orderId: orders.id })
        .from(payments)
        .innerJoin(orders, eq(orders.id, payments.orderId))
        .where(among(payments.id, ids))
      return rows.map(({ payment, order, orderId }) => ({
        ...shownPayment(payment),
        order,
        order_id: orderId
      }))
    }
  })
