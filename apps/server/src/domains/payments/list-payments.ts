import type { Payment } from '@netlet/contract'
import { desc, eq } from 'drizzle-orm'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { orders } from '../orders/tables.ts'
import { shownPayment } from './rows.ts'
import { payments } from './tables.ts'

/** Payments of so many of a user's orders are listed, the newest. */
const MOST_ORDERS = 10_000

/** Payments of a user's orders. Money that names no order of ours is in the inbox only. */
export const userPaymentList = (userId: number) =>
  defineList<ListInput<'id'>, Payment>({
    name: 'user_payments',
    table: payments,
    id: payments.id,
    sort: { id: payments.id },
    async match(db) {
      const own = await db
        .select({ id: orders.id })
        .from(orders)
        .where(eq(orders.userId, userId))
        .orderBy(desc(orders.id))
        .limit(MOST_ORDERS + 1)
      const ids = own.slice(0, MOST_ORDERS).map(({ id }) => id)
      return { anyOf: [{ column: payments.orderId, among: ids }], capped: own.length > MOST_ORDERS }
    },
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
