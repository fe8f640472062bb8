import type { ReplyOf, routes } from '@netlet/contract'
import { sql, type SQL } from '../../infra/db/drizzle.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { orderFigureDeltas, orderFigures } from './tables.ts'

export type Statistics = ReplyOf<(typeof routes)['orders']['statistics']>

/** The figures by day: the folded ones, and the deltas since. */
export const dailyFigures = sql`(select day, orders, paid, revenue from ${orderFigures}
  union all select day, orders, paid, revenue from ${orderFigureDeltas}) kept`

/**
 * Figures of all orders that are not deleted. Revenue is what accepted payments brought, including renewals, by the day
 * of the payment. Days and months are UTC.
 */
export const statistics = (db: Executor, now: Date): Promise<Statistics> => figuresOf(db, dailyFigures, now)

/** @param from rows of (day, orders, paid, revenue) */
export async function figuresOf(db: Executor, from: SQL, now: Date): Promise<Statistics> {
  const today = now.toISOString().slice(0, 10)
  const month = `${today.slice(0, 7)}-01`
  const money = (since?: string) =>
    sql`coalesce(sum(revenue) ${since ? sql`filter (where day >= ${since}::date)` : sql``}, 0)::numeric(16, 2)::text`
  const { rows } = await db.execute<Statistics>(sql`
    select coalesce(sum(orders), 0)::bigint as total, coalesce(sum(paid), 0)::bigint as paid,
      coalesce(sum(orders) - sum(paid), 0)::bigint as unpaid,
      coalesce(sum(orders) filter (where day >= ${today}::date), 0)::bigint as today,
      ${money()} as "totalAmount", ${money(month)} as "monthlyAmount", ${money(today)} as "dailyAmount"
    from ${from}`)
  const [row] = rows
  if (!row) throw new Error('the figures are one row')
  return row
}

/** How many orders are not deleted. */
export async function countKept(db: Executor): Promise<number> {
  const { rows } = await db.execute<{ total: number }>(
    sql`select coalesce(sum(orders), 0)::bigint as total from ${dailyFigures}`
  )
  return rows[0]?.total ?? 0
}

/**
 * Folds the deltas into their days. Each delta is deleted and counted in one statement, so a repeated or concurrent run
 * counts it once.
 * @returns how many deltas were folded
 */
export const foldFigures = (ctx: AppContext): Promise<number> =>
  command(ctx, SYSTEM, async ({ tx }) => {
    await lock(tx, 'orderFigures')
    const { rows } = await tx.execute<{ folded: number }>(sql`
      with gone as (delete from ${orderFigureDeltas} returning day, orders, paid, revenue),
      added as (
        insert into ${orderFigures} as kept (day, orders, paid, revenue)
        select day, sum(orders), sum(paid), sum(revenue) from gone group by day
        on conflict (day) do update set orders = kept.orders + excluded.orders, paid = kept.paid + excluded.paid,
          revenue = kept.revenue + excluded.revenue)
      select count(*) as folded from gone`)
    return rows[0]?.folded ?? 0
  })
