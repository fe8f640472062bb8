/**
 * The console's first screen (setup, attention, sales, stock, endings, delivery times) and the search of its command
 * palette. It owns no table and only reads other domains. Each panel has a call of its own, each kind of search results
 * its permission. It is the top domain: only the composition of the app imports it.
 */
import {
  type DeliveryTimes,
  type Endings,
  type Found,
  FOUND_OF_EACH,
  type Permission,
  routes,
  type Sales
} from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import { type Mount, SENT } from '../../infra/http/mount.ts'
import { csvFile, type CsvFile, sendCsv } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import { countLowStock, searchProducts } from '../catalog/index.ts'
import { attentionFor, readAttention, readSetup } from './attention.ts'
import { readStockMap, sharedRead } from './stock-map.ts'
import { sql } from '../../infra/db/drizzle.ts'
import { DAY, iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { orderEvents, orders } from '../orders/tables.ts'
import { dailyFigures, searchHolders, searchOrders, served } from '../orders/index.ts'
import { payments } from '../payments/tables.ts'
import { mayDo, type UserActor } from '../../infra/actor.ts'
import { searchUsers } from '../accounts/index.ts'
import { searchServers } from '../servers/index.ts'
import { parseAddress, rangeOf } from '../inventory/index.ts'
import { ordersPaidBy } from '../payments/index.ts'

export { readStockMap, sharedRead }

/** Milliseconds for which all open consoles share one read of a panel. */
const BRIEF = 1000
/** The same for expensive counts. They may be this old even after changes. */
const LONG = 15_000

export function homeRoutes(mount: Mount, ctx: AppContext): void {
  const { home } = routes
  const { db, now } = ctx
  // A browser reads again as soon as it hears of a change, so it must not get a reply from before the change.
  let heard = 0
  ctx.changes.subscribe(() => void (heard += 1))
  const changes = () => heard
  const setup = sharedRead(now, BRIEF, () => readSetup(ctx), changes)
  const lowStock = sharedRead(now, LONG, () => db.readLong(countLowStock))
  const attention = sharedRead(now, BRIEF, () => readAttention(ctx, { lowStock }), changes)
  const sales = sharedRead(now, BRIEF, () => db.readLong(from => readSales(from, now())), changes)
  const stock = sharedRead(now, LONG, () => db.readLong(readStockMap))
  const endings = sharedRead(now, LONG, () => db.readLong(from => readEndings(from, now())))
  const deliveries = sharedRead(now, LONG, () => db.readLong(from => readDeliveries(from, now())))

  mount(home.setup, async () => ok(await setup()))
  mount(home.attention, async ({ caller }) => ok(attentionFor(await attention(), caller)))
  mount(home.sales, async () => ok(await sales()))
  mount(home.salesCsv, async ({ query, reply }) => {
    const month = query.in_month ?? now().toISOString().slice(0, 7)
    await sendCsv(reply, await db.readLong(from => salesCsv(from, month)))
    return SENT
  })
  mount(home.stock, async () => ok(await stock()))
  mount(home.endings, async () => ok(await endings()))
  mount(home.deliveries, async () => ok(await deliveries()))
  mount(home.search, async ({ caller, query }) => ok(await search(ctx, caller, query.q)))
}

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

const DAYS = 14

/** How many served orders end on each of the next days (UTC), including all of today. */
async function readEndings(db: Executor, now: Date): Promise<Endings> {
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

const COLUMNS = ['day', 'product', 'currency', 'purchases', 'renewals', 'paid', 'refunded', 'revenue']

/**
 * What a month's payments brought, by day (UTC), product and currency, as CSV. It counts like the figures by day
 * (docs/adr/kept-figures.md): accepted payments of orders that are not deleted, with refunds on the day of their
 * payment. So a day's `revenue` equals the chart's.
 * @param month 'YYYY-MM'
 */
async function salesCsv(db: Executor, month: string): Promise<CsvFile> {
  const first = `${month}-01`
  const { rows } = await db.execute<Record<string, string | number>>(sql`
    select to_char(coalesce(p.paid_at, p.created_at) at time zone 'UTC', 'YYYY-MM-DD') as day, o.product_name as product, p.currency,
      count(*) filter (where p.kind = 'purchase')::int as purchases,
      count(*) filter (where p.kind = 'renewal')::int as renewals,
      sum(p.amount)::numeric(16, 2)::text as paid, sum(p.refunded_amount)::numeric(16, 2)::text as refunded,
      sum(p.amount - p.refunded_amount)::numeric(16, 2)::text as revenue
    from ${payments} p join ${orders} o on o.id = p.order_id
    where p.accepted and o.deleted_at is null and coalesce(p.paid_at, p.created_at) >= ${first}::timestamp at time zone 'UTC'
      and coalesce(p.paid_at, p.created_at) < (${first}::timestamp + interval '1 month') at time zone 'UTC'
    group by 1, 2, 3 order by 1, 2, 3`)
  return csvFile(`sales_${month}.csv`, COLUMNS, rows)
}

/** Sales by day (UTC) from the figures by day: this month until today, and the month before. */
async function readSales(db: Executor, now: Date): Promise<Sales> {
  const today = now.toISOString().slice(0, 10)
  const first = `${today.slice(0, 7)}-01`
  const { rows } = await db.execute<Sales['month'][number]>(sql`
    select d.day::date::text as day, coalesce(sum(orders), 0)::int as orders, coalesce(sum(paid), 0)::int as paid,
      coalesce(sum(revenue), 0)::numeric(16, 2)::text as revenue
    from generate_series(${first}::date - interval '1 month', ${today}::date, interval '1 day') d(day)
    left join ${dailyFigures} on kept.day = d.day::date
    group by d.day order by d.day`)
  return { today, month: rows.filter(({ day }) => day >= first), before: rows.filter(({ day }) => day < first) }
}

/** Rows of each kind that the caller's role may see, by a text: a few concurrent index look-ups. */
async function search(ctx: AppContext, by: UserActor, text: string): Promise<Found> {
  const { db } = ctx
  const may = (permission: Permission) => mayDo(by, permission)
  const limit = FOUND_OF_EACH
  const [orders, users, servers, products, address] = await Promise.all([
    may('orders.view') ? searchOrders(db, text, { limit, ordersPaidBy }) : [],
    may('users.view') ? searchUsers(db, text, limit) : [],
    may('servers.view') ? searchServers(db, text, limit) : [],
    may('products.view') ? searchProducts(db, text, limit) : [],
    findAddress(ctx, by, text)
  ])
  return { orders, users, servers, products, address }
}

/** The live range of an address, and its current holder for callers who may look up addresses. */
async function findAddress(ctx: AppContext, by: UserActor, text: string): Promise<Found['address']> {
  const parsed = parseAddress(text)
  if (!parsed.ok) return null
  const [ip = ''] = parsed.cidr.split('/')
  const mayAsk = mayDo(by, 'addresses.view')
  const mayRange = mayDo(by, 'rules.view')
  if (!mayAsk && !mayRange) return null
  const [range, holders] = await Promise.all([
    mayRange ? rangeOf(ctx.db, ip) : undefined,
    mayAsk && parsed.units === 1 ? searchHolders(ctx, by, ip, FOUND_OF_EACH) : []
  ])
  return { address: text, range: range ? { id: range.id, cidr: range.cidr } : null, holders }
}
