/** Whether the books agree with their records, for the backup and each night. */
import { sql } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { dailyFigures } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { payments } from '../payments/tables.ts'

/**
 * Checks the books of a shop whose records no operator has edited: coins and points equal the sums of their records,
 * invitation coins are the whole part of all millionths earned, each payment that counts has earned its points and
 * millionths, and a refunded one has none left.
 * @returns what is wrong, including owed coins
 */
export async function wrongBooks(db: Executor): Promise<unknown[]> {
  const { rows } = await db.execute(sql`
    with sums as (
      select u.id, u.coins, u.level_points, u.coins_owed, u.coin_millionths,
        coalesce(sum(r.point) filter (where r.kind = 'coins'), 0) as coins_of_records,
        coalesce(sum(r.point) filter (where r.kind = 'level'), 0) as level_of_records,
        coalesce(sum(r.point) filter (
          where r.kind = 'coins' and r.reason_code in ('invited_payment', 'refund_invited', 'withheld')), 0) as paid_out,
        coalesce(sum(r.nominal - r.taken_back) filter (where r.reason_code = 'invited_payment'), 0) as millionths
      from users u left join point_records r on r.user_id = u.id group by u.id
    ), earned as (
      select * from point_records where reason_code in ('payment', 'invited_payment', 'invited') and payment is not null
    )
    select 'balance' as wrong, id, jsonb_build_array(coins, coins_of_records, level_points, level_of_records) as figures
      from sums where coins <> coins_of_records or level_points <> level_of_records or coins < 0
    union all
    select 'invitations', id, jsonb_build_array(paid_out, coins_owed, coin_millionths, millionths)
      from sums where (paid_out - coins_owed) * 1000000 + coin_millionths <> millionths
    union all
    select 'millionths', p.id, jsonb_build_array(p.amount - p.refunded_amount, max(r.rate), sum(r.nominal - r.taken_back))
      from payments p join earned r on r.payment = p.platform_order_id and r.reason_code = 'invited_payment'
      where p.accepted and p.refunded_at is null group by p.id
      having sum(r.nominal - r.taken_back) <> trunc((p.amount - p.refunded_amount) * max(r.rate)::numeric * 1000000)
    union all
    select 'no payment', r.id, to_jsonb(r.payment) from earned r
      where r.taken_back_at is null and not exists (
        select 1 from payments p where p.platform_order_id = r.payment and p.accepted and p.refunded_at is null)
    union all
    select 'nothing earned', p.id, to_jsonb(p.amount) from payments p
      where p.accepted and p.refunded_at is null and p.amount - p.refunded_amount >= 1 and not exists (
        select 1 from earned r where r.payment = p.platform_order_id and r.reason_code = 'payment' and r.taken_back_at is null)`)
  return rows
}

/** Daily figures, counted from the orders and payments. Reads every order. */
export const countedFigures = sql`(
  select (created_at at time zone 'UTC')::date as day, 1 as orders, (paid_at is not null)::int as paid, 0::numeric as revenue
  from ${orders} where deleted_at is null
  union all
  select (coalesce(p.paid_at, p.created_at) at time zone 'UTC')::date, 0, 0, p.amount - p.refunded_amount
  from ${payments} p join ${orders} o on o.id = p.order_id where p.accepted and o.deleted_at is null) counted`

type Difference = { day: string; orders: number; paid: number; revenue: string }

/**
 * Compares stored figures with counted ones by day, in one statement and so at one instant.
 * @returns the days that differ, as counted minus stored
 */
export async function compareFigures(db: Executor): Promise<Difference[]> {
  const { rows } = await db.execute<Difference>(sql`
    select day::text, sum(orders)::bigint as orders, sum(paid)::bigint as paid, sum(revenue)::numeric(16, 2)::text as revenue
    from (select day, orders, paid, revenue from ${countedFigures}
      union all select day, -orders, -paid, -revenue from ${dailyFigures}) both_of_them
    group by day having sum(orders) <> 0 or sum(paid) <> 0 or sum(revenue) <> 0 order by day`)
  return rows
}

export const statementJobs: Job[] = [
  job(queue<object>('compare-order-figures', { expireInSeconds: 600, deleteAfterSeconds: 86_400 }), {
    purpose: 'Recounts order figures, and logs where the stored ones differ.',
    cron: '41 3 * * *',
    run: async ctx => {
      const days = await compareFigures(ctx.db)
      if (days.length > 0) ctx.log.error({ days: days.slice(0, 31) }, 'figures of orders differ from the orders')
    }
  })
]
