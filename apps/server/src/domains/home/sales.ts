import type { Sales } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { kept } from '../orders/index.ts'

/** Sales by day (UTC) from the figures by day: this month until today, and the month before. */
export async function readSales(db: Executor, now: Date): Promise<Sales> {
  const today = now.toISOString().slice(0, 10)
  const first = `${today.slice(0, 7)}-01`
  const { rows } = await db.execute<Sales['month'][number]>(sql`
    select d.day::date::text as day, coalesce(sum(orders), 0)::int as orders, coalesce(sum(paid), 0)::int as paid,
      coalesce(sum(revenue), 0)::numeric(16, 2)::text as revenue
    from generate_series(${first}::date - interval '1 month', ${today}::date, interval '1 day') d(day)
    left join ${kept} on kept.day = d.day::date
    group by d.day order by d.day`)
  return { today, month: rows.filter(({ day }) => day >= first), before: rows.filter(({ day }) => day < first) }
}
