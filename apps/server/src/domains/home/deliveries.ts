import type { DeliveryTimes } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { DAY, iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { orderEvents, orders } from '../orders/tables.ts'

const SLOWEST = 5

type Row = {
  dayOrders: number
  dayP50: number | null
  dayP99: number | null
  weekOrders: number
  weekP50: number | null
  weekP99: number | null
  slowest: { id: number; order: string; deliveredAt: string; seconds: number }[] | null
}

/**
 * Times from the payment until all addresses first worked, for orders that got there in the last 24 hours and 7 days.
 * The query finds them by the index of order events. An order delivered twice counts once.
 */
export async function readDeliveries(db: Executor, now: Date): Promise<DeliveryTimes> {
  const week = iso(new Date(now.getTime() - 7 * DAY))
  const day = iso(new Date(now.getTime() - DAY))
  const part = (name: string, p: number, since?: string) =>
    sql`(percentile_disc(${p}::float8) within group (order by seconds)
      ${since ? sql`filter (where delivered_at >= ${since}::timestamptz)` : sql``})::float8 as ${sql.raw(`"${name}"`)}`
  const { rows } = await db.execute<Row>(sql`
    with delivered as materialized (
      select o.id, o.order_id, o.delivered_at,
        greatest(extract(epoch from o.delivered_at - o.paid_at), 0)::float8 as seconds
      from (select distinct order_id from ${orderEvents} where at >= ${week}::timestamptz and kind = 'deliver_all') e
      -- The fence has each looked up by its key: orders are not searched by when they were delivered.
      cross join lateral (select * from ${orders} where ${orders.id} = e.order_id offset 0) o
      where o.delivered_at >= ${week}::timestamptz and o.paid_at is not null and o.deleted_at is null)
    select count(*)::int as "weekOrders", ${part('weekP50', 0.5)}, ${part('weekP99', 0.99)},
      (count(*) filter (where delivered_at >= ${day}::timestamptz))::int as "dayOrders",
      ${part('dayP50', 0.5, day)}, ${part('dayP99', 0.99, day)},
      (select json_agg(json_build_object('id', s.id, 'order', s.order_id, 'deliveredAt', s.delivered_at, 'seconds', s.seconds)
          order by s.seconds desc, s.id)
        from (select * from delivered order by seconds desc, id limit ${SLOWEST}) s) as slowest
    from delivered`)
  const [row] = rows
  if (!row) throw new Error('the delivery times are one row')
  return {
    day: { orders: row.dayOrders, p50: row.dayP50, p99: row.dayP99 },
    week: { orders: row.weekOrders, p50: row.weekP50, p99: row.weekP99 },
    slowest: (row.slowest ?? []).map(({ id, order, deliveredAt, seconds }) => ({
      id,
      order,
      delivered_at: iso(new Date(deliveredAt)),
      seconds
    }))
  }
}
