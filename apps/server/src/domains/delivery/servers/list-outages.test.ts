import { sql } from '../../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, openDatabase, type Database } from '../../../infra/db/client.ts'
import { paginate } from '../../../infra/list/index.ts'
import { createTestDatabase, type TestDatabase } from '../../../testing/database.ts'
import { rowsVisited } from '../../../testing/rows-visited.ts'
import { vacuumFully } from '../../../testing/vacuum.ts'
import { addGroup, addOrders, addServer } from '../../inventory/inventory.fixture.ts'
import { outagesList } from './lost-time.ts'

const ORDERS = 300
const OUTAGES = 100
const NOW = new Date('2026-03-01T00:00:00.000Z')

let database: TestDatabase
let db: Database

/**
 * Times are whole minutes of a day, so that many of them are equal: orders that came once, came again or stayed, and
 * orders whose term ended or never began, on two servers, in up to three pieces each.
 */
beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url)
  const servers = [await addServer(db, 'one'), await addServer(db, 'two')]
  await addOrders(db, await addGroup(db, 'all', servers), ORDERS)
  await db.transaction(async tx => {
    // Without triggers and foreign keys, because leases do not matter here.
    await tx.execute(sql`set local session_replication_role = replica`)
    const at = (minute: string) =>
      sql.raw(`timestamptz '${NOW.toISOString()}' - interval '1 day' + (${minute}) * interval '1 minute'`)
    await tx.execute(sql`update orders set paid_at = case when id % 17 <> 0 then created_at end,
      pay_amount = case when id % 17 <> 0 then amount end, deleted_at = case when id % 19 = 0 then now() end,
      expired_at = case when id % 7 = 0 then ${at('id % 700')} when id % 11 <> 0 then ${at('9999')} end`)
    await tx.execute(sql`insert into proxies (created_at, order_id, lease_id, server_id, ip, state, live_at, updated_at)
      select now(), id, 1, case when id % 3 = 0 then ${servers[1]}::bigint else ${servers[0]}::bigint end,
        '10.0.0.0'::inet + id * 8 + nth, case when id % 5 = 0 then 'live' else 'retired' end,
        ${at('(id * 37 + nth * 211) % 600')}, ${at('(id * 37 + nth * 211) % 600 + 1 + id * 13 % 240')}
      from orders cross join generate_series(1, 6) nth where nth <= 1 + id % 3 * 2`)
    await tx.execute(sql`insert into server_outages (created_at, server_id, started_at, ended_at)
      select now(), case when n % 2 = 0 then ${servers[1]}::bigint else ${servers[0]}::bigint end, ${at('n * 10')},
        case when n < ${OUTAGES} then ${at('n * 10 + 1 + n % 9')} end
      from generate_series(1, ${OUTAGES}::int) n`)
  })
  await vacuumFully(db, 'orders', 'proxies', 'server_outages')
}, 120_000)
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

test('each outage names how many orders it concerns, without comparing each order with each outage', async () => {
  const { rows, told } = await rowsVisited(db, watched =>
    paginate(
      watched,
      outagesList(() => NOW),
      { limit: OUTAGES, offset: 0, sort_by: 'id', sort_order: 'desc' }
    )
  )
  const found = await db.execute<{ id: number; orders: number }>(sql`
    select s.id, count(distinct o.id)::int as orders from server_outages s
      left join proxies p on p.server_id = s.server_id and p.live_at < coalesce(s.ended_at, ${NOW.toISOString()}::timestamptz)
        and (p.state <> 'retired' or p.updated_at > s.started_at)
      left join orders o on o.id = p.order_id and o.paid_at is not null and o.deleted_at is null
        and o.expired_at > s.started_at and o.expired_at > p.live_at
    group by s.id order by s.id desc`)
  if (!told.ok) throw new Error('the list was refused')
  expect(told.data.data.map(({ id, orders }) => ({ id, orders }))).toEqual(found.rows)
  const counts = found.rows.map(({ orders }) => orders)
  expect(Math.max(...counts) - Math.min(...counts)).toBeGreaterThan(20)
  expect(rows).toBeLessThan(10_000)
})
