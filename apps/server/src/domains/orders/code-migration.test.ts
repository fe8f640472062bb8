import { sql, type SQL } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, openDatabase, type Database } from '../../infra/db/client.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { migrationStatements } from '../../testing/migrations.ts'
import { addGroup, addOrders } from '../inventory/inventory.fixture.ts'

let database: TestDatabase
let db: Database

/** The tables before failures, tasks and outcomes were codes. */
const BEFORE = sql`
  alter table orders drop constraint orders_fail_code, drop constraint orders_task, drop constraint orders_task_error,
    drop constraint orders_task_begun, drop column fail_code, drop column fail_params, drop column task_begun_at,
    drop column task_error_code, drop column task_error_params, add column fail_reason text, add column task_error text;
  alter table order_events drop constraint order_events_kind;
  alter table platform_events drop constraint platform_events_outcome, drop column detail;
  alter table proxies add column port integer`

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url)
})
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

async function migrate(): Promise<void> {
  for (const statement of migrationStatements('_orders_commerce.sql')) await db.execute(sql.raw(statement))
}

const rowsOf = async (query: SQL) => (await db.execute(query)).rows

test('old sentences become codes with parameters', async () => {
  await db.execute(BEFORE)
  const groupId = await addGroup(db, 'here', [])
  const ids = await addOrders(db, groupId, 5)
  const [late, short, refused, lost, busy] = ids
  await db.execute(sql`update orders set fail_reason = case id
      when ${late} then 'Out of stock: the addresses were gone when the payment arrived'
      when ${short} then 'Too little money: paid 19.99 of 20.00'
      when ${refused} then 'A server refused the proxies: no such range: 127.0.0.0/29'
      when ${lost} then '3 addresses belong to no server any more' end,
    task_error = case id when ${late} then 'Out of stock' when ${refused} then 'A server refused the proxies: no' end`)
  await db.execute(sql`update orders set task = 'reset', task_id = 't2', task_at = now() where id = ${busy}`)
  for (const kind of [
    'placed',
    'task asked',
    'task done',
    'task failed',
    'expiry set',
    'paid again',
    'reservation ended'
  ])
    await db.execute(sql`insert into order_events (at, order_id, kind) values (now(), ${late}, ${kind})`)
  await db.execute(sql`insert into order_events (order_id, kind, detail, at) values
    (${busy}, 'task begun', '{"task_id": "t1"}', '2026-01-01'), (${busy}, 'task begun', '{"task_id": "t2"}', '2026-02-01')`)
  const outcomes = [
    'settled',
    'known',
    'no order of ours is named (order_id NL-none)',
    'order NL-1: paid 1.00 of 2.00',
    'order NL-1 was paid too late: its addresses are gone',
    'order NL-1 was paid already; refund #77',
    'order NL-1 is timed_out and cannot be renewed; refund #77',
    'renewal of order NL-1: paid 1.00 of 2.00',
    'unreadable: this is no paid order',
    'not understood',
    'nothing to do',
    'not in the shop',
    'older than what is known',
    'withdrawn'
  ]
  for (const [at, outcome] of outcomes.entries())
    await db.execute(sql`insert into platform_events (received_at, event_id, topic, payload, processed_at, outcome)
      values (now(), ${String(at).padStart(2, '0')}, 'orders/paid', '{}', now(), ${outcome})`)
  await db.execute(
    sql`insert into platform_events (received_at, event_id, topic, payload) values (now(), 'waits', 'orders/paid', '{}')`
  )

  await migrate()

  expect(
    await rowsOf(sql`select fail_code, fail_params, task_error_code, task_error_params from orders order by id`)
  ).toEqual([
    { fail_code: 'out_of_stock', fail_params: null, task_error_code: 'out_of_stock', task_error_params: null },
    {
      fail_code: 'underpaid',
      fail_params: { paid: '19.99', due: '20.00' },
      task_error_code: null,
      task_error_params: null
    },
    {
      fail_code: 'agent_refused',
      fail_params: { message: 'no such range: 127.0.0.0/29' },
      task_error_code: 'agent_refused',
      task_error_params: { message: 'no' }
    },
    { fail_code: 'addresses_lost', fail_params: { count: 3 }, task_error_code: null, task_error_params: null },
    { fail_code: null, fail_params: null, task_error_code: null, task_error_params: null }
  ])
  expect(
    await rowsOf(
      sql`select id, task_begun_at at time zone 'UTC' = '2026-02-01' as begun from orders where task is not null`
    )
  ).toEqual([{ id: busy, begun: true }])
  expect(
    (await rowsOf(sql`select kind from order_events where order_id = ${late} order by id`)).map(row => row['kind'])
  ).toEqual(['placed', 'task_requested', 'task_done', 'task_failed', 'expiry_set', 'paid_again', 'reservation_ended'])
  const paid = { order_id: 'NL-1', paid: '1.00', due: '2.00' }
  const events = await rowsOf(sql`select outcome, detail from platform_events order by event_id`)
  expect(events.map(row => [row['outcome'], row['detail']])).toEqual([
    ['settled', null],
    ['duplicate', null],
    ['unknown_order', { order_id: 'NL-none' }],
    ['underpaid', paid],
    ['too_late', { order_id: 'NL-1' }],
    ['paid_twice', { order_id: 'NL-1', platform_order: '#77' }],
    ['renewal_too_late', { order_id: 'NL-1', state: 'timed_out', platform_order: '#77' }],
    ['renewal_underpaid', paid],
    ['unreadable', null],
    ['unreadable', null],
    ['ignored', null],
    ['not_sold', null],
    ['older', null],
    ['withdrawn', null],
    [null, null]
  ])
})
