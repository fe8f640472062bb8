import { and, eq, isNull, not, sql } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { kept } from '../orders/index.ts'
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

/** Daily figures, counted from the orders and payments. Reads every order. */
export const counted = sql`(
  select (created_at at time zone 'UTC')::date as day, 1 as orders, (paid_at is not null)::int as paid, 0::numeric as revenue
  from ${orders} where deleted_at is null
  union all
  select (p.created_at at time zone 'UTC')::date, 0, 0, p.amount - p.refunded_amount
  from ${payments} p join ${orders} o on o.id = p.order_id where p.accepted and o.deleted_at is null) counted`

type Difference = { day: string; orders: number; paid: number; revenue: string }

/**
 * Compares stored figures with counted ones by day, in one statement and so at one instant.
 * @returns the days that differ, as counted minus stored
 */
export async function compareFigures(db: Executor): Promise<Difference[]> {
  const { rows } = await db.execute<Difference>(sql`
    select day::text, sum(orders)::bigint as orders, sum(paid)::bigint as paid, sum(revenue)::numeric(16, 2)::text as revenue
    from (select day, orders, paid, revenue from ${counted}
      union all select day, -orders, -paid, -revenue from ${kept}) both_of_them
    group by day having sum(orders) <> 0 or sum(paid) <> 0 or sum(revenue) <> 0 order by day`)
  return rows
}

/** Our orders that a platform order paid for, including by renewal, for the search by its id. */
export async function ordersPaidBy(db: Executor, platformOrderId: string): Promise<number[]> {
  const rows = await db
    .select({ id: payments.orderId })
    .from(payments)
    .where(eq(payments.platformOrderId, platformOrderId))
  return rows.flatMap(({ id }) => id ?? [])
}
