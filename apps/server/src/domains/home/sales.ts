import type { Sales } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { kept } from '../orders/index.ts'
import { type CsvFile, csvFile } from '../../infra/list/index.ts'
import { orders } from '../orders/tables.ts'
import { payments } from '../payments/tables.ts'

const COLUMNS = ['day', 'product', 'currency', 'purchases', 'renewals', 'paid', 'refunded', 'revenue']

/**
 * What a month's payments brought, by day (UTC), product and currency, as CSV. It counts like the figures by day
 * (docs/adr/kept-figures.md): accepted payments of orders that are not deleted, with refunds on the day of their
 * payment. So a day's `revenue` equals the chart's.
 * @param month 'YYYY-MM'
 */
export async function salesCsv(db: Executor, month: string): Promise<CsvFile> {
  const first = `${month}-01`
  const { rows } = await db.execute<Record<string, string | number>>(sql`
    select to_char(p.created_at at time zone 'UTC', 'YYYY-MM-DD') as day, o.product_name as product, p.currency,
      count(*) filter (where p.kind = 'purchase')::int as purchases,
      count(*) filter (where p.kind = 'renewal')::int as renewals,
      sum(p.amount)::numeric(16, 2)::text as paid, sum(p.refunded_amount)::numeric(16, 2)::text as refunded,
      sum(p.amount - p.refunded_amount)::numeric(16, 2)::text as revenue
    from ${payments} p join ${orders} o on o.id = p.order_id
    where p.accepted and o.deleted_at is null and p.created_at >= ${first}::timestamp at time zone 'UTC'
      and p.created_at < (${first}::timestamp + interval '1 month') at time zone 'UTC'
    group by 1, 2, 3 order by 1, 2, 3`)
  return csvFile(`sales_${month}.csv`, COLUMNS, rows)
}

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
