import { and, eq, isNull, not } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { orders } from '../orders/tables.ts'
import { payments } from './tables.ts'

/** Does the shop hold money of this user that settled nothing and was neither refunded nor ignored? */
export async function holdsUnsettledMoney(db: Executor, userId: number): Promise<boolean> {
  const [held] = await db
    .select({ id: payments.id })
    .from(payments)
    .innerJoin(orders, eq(orders.id, payments.orderId))
    .where(
      and(eq(orders.userId, userId), not(payments.accepted), isNull(payments.refundedAt), isNull(payments.ignoredAt))
    )
    .limit(1)
  return held !== undefined
}

/** The platform's ids of a user's payments. */
export async function paidBy(db: Executor, userId: number): Promise<string[]> {
  const rows = await db.select({ id: payments.platformOrderId }).from(payments).where(eq(payments.userId, userId))
  return rows.map(({ id }) => id)
}

/** Our orders that a platform order paid for, including by renewal, for the search by its id. */
export async function ordersPaidBy(db: Executor, platformOrderId: string): Promise<number[]> {
  const rows = await db
    .select({ id: payments.orderId })
    .from(payments)
    .where(eq(payments.platformOrderId, platformOrderId))
  return rows.flatMap(({ id }) => id ?? [])
}
