import type { Endings } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { served } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'

const DAYS = 14

/** How many served orders end on each of the next days (UTC), including all of today. */
export async function readEndings(db: Executor, now: Date): Promise<Endings> {
  const today = now.toISOString().slice(0, 10)
  // Served orders cannot be deleted, so the index of live orders suffices.
  const { rows } = await db.execute<Endings[number]>(sql`
    with ending as (
      select (expired_at at time zone 'UTC')::date as day, count(*)::int as orders
      from ${orders} where ${served(orders)}
        and expired_at >= ${today}::date::timestamp at time zone 'UTC'
        and expired_at < (${today}::date + ${DAYS}::int)::timestamp at time zone 'UTC'
      group by 1)
    select d.day::date::text as day, coalesce(ending.orders, 0) as orders
    from generate_series(${today}::date, ${today}::date + ${DAYS - 1}::int, interval '1 day') d(day)
    left join ending on ending.day = d.day::date
    order by d.day`)
  return rows
}
