import type { ReplyOf, routes } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import { job, queue, type Job } from '../../infra/jobs.ts'
import { orderFigureDeltas, orderFigures, orders, payments } from './tables.ts'

export type Statistics = ReplyOf<(typeof routes)['orders']['statistics']>

/** The figures by day: what was folded, and what has come since. */
const kept = sql`(select day, orders, paid, revenue from ${orderFigures}
  union all select day, orders, paid, revenue from ${orderFigureDeltas}) kept`

/** The same from the orders and payments themselves. */
const counted = sql`(
  select (created_at at time zone 'UTC')::date as day, 1 as orders, (paid_at is not null)::int as paid, 0::numeric as revenue
  from ${orders} where deleted_at is null
  union all
  select (p.created_at at time zone 'UTC')::date, 0, 0, p.amount
  from ${payments} p join ${orders} o on o.id = p.order_id where p.accepted and o.deleted_at is null) counted`

/**
 * Figures of all orders that are not deleted. Money is what accepted payments brought, renewals among them, by the day
 * they came. Days and months are UTC.
 */
export const statistics = (db: Executor, now: Date): Promise<Statistics> => figuresOf(db, kept, now)

/** The same, counted: reads every order. For the nightly comparison. */
export const countStatistics = (db: Executor, now: Date): Promise<Statistics> => figuresOf(db, counted, now)

async function figuresOf(db: Executor, from: typeof kept, now: Date): Promise<Statistics> {
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

/** How many orders there are that are not deleted. */
export async function countKept(db: Executor): Promise<number> {
  const { rows } = await db.execute<{ total: number }>(
    sql`select coalesce(sum(orders), 0)::bigint as total from ${kept}`
  )
  return rows[0]?.total ?? 0
}

/**
 * Adds the deltas that are there to the days they belong to. Twice, or at once with itself: each delta is deleted, and
 * so counted, by one of them.
 * @returns how many deltas were folded
 */
export async function foldFigures({ db }: Pick<AppContext, 'db'>): Promise<number> {
  return db.transaction(async tx => {
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
}

/**
 * Compares the kept figures with counted ones, day by day, in one statement and so at one instant.
 * @returns the days that differ, with the counted figures less the kept ones
 */
export async function compareFigures(db: Executor): Promise<Difference[]> {
  const { rows } = await db.execute<Difference>(sql`
    select day::text, sum(orders)::bigint as orders, sum(paid)::bigint as paid, sum(revenue)::numeric(16, 2)::text as revenue
    from (select day, orders, paid, revenue from ${counted}
      union all select day, -orders, -paid, -revenue from ${kept}) both_of_them
    group by day having sum(orders) <> 0 or sum(paid) <> 0 or sum(revenue) <> 0 order by day`)
  return rows
}

type Difference = { day: string; orders: number; paid: number; revenue: string }

export const foldFiguresQueue = queue('fold-order-figures')
export const compareFiguresQueue = queue('compare-order-figures', { expireInSeconds: 600 })

export const figureJobs: Job[] = [
  job(foldFiguresQueue, {
    purpose: 'Adds what changed in the figures of orders to the days they belong to',
    cron: '* * * * *',
    run: ctx => foldFigures(ctx)
  }),
  job(compareFiguresQueue, {
    purpose: 'Counts the figures of orders anew and logs where the kept ones differ',
    cron: '41 3 * * *',
    run: async ctx => {
      const different = await compareFigures(ctx.db)
      if (different.length > 0)
        ctx.log.error({ days: different.slice(0, 31) }, 'figures of orders differ from the orders')
    }
  })
]
