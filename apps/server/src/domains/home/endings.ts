import type { Endings } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { served } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'

const DAYS = 14

/** How many orders that are served end on each of the next days (UTC), today with all of its hours. */
export async function readEndings(db: Executor, now: Date): Promise<Endings> {
  const today = now.toISOString().slice(0, 10)
  // A served order cannot be deleted, so the index of those that are live has all that is asked for.
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
