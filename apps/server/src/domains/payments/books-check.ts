import { sql } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'

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
