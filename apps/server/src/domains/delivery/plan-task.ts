import type { BulkEffect, OrderTask, Reason } from '@netlet/contract'
import { eq, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { countOutcomes, type Outcomes } from '../../infra/outcomes.ts'
import { isOverSql, isUnsettledSql } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'

/**
 * Which of these orders would refuse a task, as `requestTaskIn` does, and what it would do to the others.
 * @param held why an order of the query must not be delivered, as the domains above know from its money; or null
 */
export function planTask(
  db: Executor,
  ids: number[],
  task: OrderTask,
  { now, held }: { now: Date; held: SQL<Reason | null> }
): Promise<Outcomes> {
  const underway = sql`${orders.state} in ('delivering', 'partly_delivered')`
  const others = {
    deliver: sql`else ${held}`,
    check: sql`when ${orders.deliveryNum} = 0 then 'no_proxies'`,
    change: sql`when ${underway} then 'order_busy' when ${orders.deliveryNum} = 0 then 'no_proxies'`
  }
  const refused = sql<Reason | null>`case
    when ${orders.id} is null or ${orders.deletedAt} is not null then 'not_found'
    when ${orders.paidAt} is null then 'order_not_paid'
    when ${orders.state} = 'refunded' then 'order_refunded'
    when ${isOverSql(now)} then 'order_over'
    when ${orders.task} is not null then 'order_busy'
    ${others[task === 'reset' ? 'change' : task]}
  end`
  const delivery = sql<BulkEffect>`case
    when ${isUnsettledSql} then 'unsettled'
    when ${orders.state} in ('paid', 'failed') then 'first_delivery'
    when ${orders.deliveryNum} < ${orders.quantity} then 'missing'
    else 'again'
  end`
  const from = sql`unnest(${sql.param(ids)}::bigint[]) as asked(id) left join ${orders} on ${eq(orders.id, sql`asked.id`)}`
  return countOutcomes(db, from, { refused, effect: task === 'deliver' ? delivery : sql<BulkEffect>`'done'` })
}
