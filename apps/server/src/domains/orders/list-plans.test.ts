import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, openDatabase, type Database } from '../../infra/db/client.ts'
import { matchingIds, paginate } from '../../infra/list/index.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { rowsVisited } from '../../testing/rows-visited.ts'
import { vacuumFully } from '../../testing/vacuum.ts'
import { addGroup, addOrders } from '../inventory/inventory.fixture.ts'
import { orderList, type OrderQuery } from './list.ts'

/** One every ten minutes until now. */
const ORDERS = 60_000
const NOW = new Date('2026-06-30T12:00:00.000Z')
/** A month has about 4,320. */
const OF_A_MONTH = 4500
/** Both ends included. */
const OF_A_WEEK = 1009
/** The oldest ones still run. */
const LIVE = 2000

let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url)
  await addOrders(db, await addGroup(db, 'all', []), ORDERS)
  await db.transaction(async tx => {
    // Without triggers and foreign keys, which would check each row.
    await tx.execute(sql`set local session_replication_role = replica`)
    await tx.execute(sql`update orders o set created_at = at, paid_at = at - nth % 50 * interval '1 second', delivered_at = at, pay_amount = amount,
        expired_at = at + interval '30 days', delivery_num = quantity,
        state = case when nth <= ${LIVE} then 'delivered' else 'expired' end
      from (select id, row_number() over (order by id) as nth,
          ${NOW.toISOString()}::timestamptz - (${ORDERS} - row_number() over (order by id)) * interval '10 minutes' as at
        from orders) made where made.id = o.id`)
    await tx.execute(sql`insert into order_events (order_id, kind, at)
      select o.id, kind, o.created_at from orders o cross join unnest(array['placed', 'pay', 'start_delivery', 'deliver_all']) kind
      order by o.id`)
  })
  await vacuumFully(db, 'orders', 'order_events')
}, 120_000)
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

const list = () => orderList({ userId: null, now: NOW, ordersPaidBy: () => Promise.resolve([]) })
const asked = (query: Partial<OrderQuery>): OrderQuery => ({
  limit: 10,
  offset: 0,
  sort_by: 'id',
  sort_order: 'desc',
  ...query
})

/** Rows visited for a first page, without its total. */
const firstOf = async (query: Partial<OrderQuery>) => {
  const { rows, told } = await rowsVisited(db, watched => matchingIds(watched, list(), asked(query), { limit: 10 }))
  expect(told, JSON.stringify(query)).toHaveLength(10)
  return rows
}

test.each<[Partial<OrderQuery>]>([
  [{ placed_in: '2025-12' }],
  [{ paid_in: '2025-12' }],
  [{ placed_on: '2025-12-15' }],
  [{ placed_in: '2025-12', sort_order: 'asc' }],
  [{ paid_in: '2025-12', placed_on: '2025-12-15' }],
  [{ delivered_in: 'week' }]
])('the first rows of %j are found by the events of that time, regardless of later ones', async query => {
  expect(await firstOf(query)).toBeLessThan(OF_A_MONTH + 300)
})

test.each<[Partial<OrderQuery>]>([
  [{ live: '1' }],
  [{ live: '1', sort_by: 'expired_at' }],
  [{ live: '1', sort_by: 'expired_at', sort_order: 'asc' }]
])('the first rows of %j come from an index, wherever these orders are', async query => {
  expect(await firstOf(query)).toBeLessThan(200)
})

test('the slowest deliveries are found among those of a week, by the histories of that time', async () => {
  const query = asked({ sort_by: 'delivery_seconds' })
  const { rows, told } = await rowsVisited(db, watched => paginate(watched, list(), query))
  if (!told.ok) throw new Error(told.reason)
  expect(told.data).toMatchObject({ total: OF_A_WEEK, total_exact: true })
  expect(told.data.data.every(order => order.delivery_seconds === 49)).toBe(true)
  // Page and total each read the week's events and orders only.
  expect(rows).toBeLessThan(5 * OF_A_WEEK)
})

test('a month of any year is counted by its own orders, and has exactly these', async () => {
  const { rows, told } = await rowsVisited(db, watched => paginate(watched, list(), asked({ placed_in: '2025-12' })))
  const { rows: counted } = await db.execute<{ count: number }>(sql`select count(*) as count from orders
    where created_at >= '2025-12-01T00:00:00Z' and created_at < '2026-01-01T00:00:00Z'`)
  expect(told).toMatchObject({ ok: true, data: { total: counted[0]?.count, total_exact: true } })
  expect(counted[0]?.count).toBeGreaterThan(4000)
  expect(rows).toBeLessThan(3 * OF_A_MONTH + 300)
  expect(await paginate(db, list(), asked({ placed_in: '2019-12' }))).toMatchObject({
    ok: true,
    data: { data: [], total: 0 }
  })
})
