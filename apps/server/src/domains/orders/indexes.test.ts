import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, openDatabase, type Database } from '../../infra/db/client.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { addPlan } from '../../testing/rows.ts'
import { systemClock } from '../../infra/clock.ts'

let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url)
  // Enough rows of each kind that the indexes differ in cost.
  await addPlan({ db, now: systemClock })
  await db.execute(sql`insert into users (created_at, username, email, password_hash, invite_code)
    select now(), 'u' || n, 'u' || n || '@example.com', 'x', 'i' || n from generate_series(1, 1000) n`)
  await db.execute(sql`insert into orders (created_at, order_id, user_id, product_id, variant_id, server_group_id, state, product_name,
      variant_name, quantity, cart_step, proxy_time, variant_price, acl_price, amount, rules, reserved_until,
      expired_at, proxy_username, proxy_password)
    select now(), 'NL-' || n, 1 + n % 1000, 1, 1, 1, (array['placed', 'timed_out', 'delivered', 'expired', 'failed'])[1 + n % 5], 'Plan',
      'Here', 8, 8, 30, 2, 0.5, 20, array[1], now() + n * interval '1 minute',
      case when n % 5 in (2, 3) then now() + n * interval '1 minute' end, 'p' || n, 'x' from generate_series(1, 3000) n`)
  await db.execute(sql`analyze orders`)
})
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

test('what is asked every few seconds finds its rows by an index', async () => {
  const plans: Record<string, [query: ReturnType<typeof sql>, index: string]> = {
    'the payment poll': [
      sql`select state from orders where order_id = 'NL-x' and user_id = 1`,
      'orders_orderId_unique'
    ],
    'a user’s list': [
      sql`select * from orders where user_id = 1 and deleted_at is null order by id desc limit 5`,
      'orders_user'
    ],
    'a settlement': [sql`select * from orders where order_id = 'NL-x' for update`, 'orders_orderId_unique'],
    'events that wait': [
      sql`select event_id from platform_events where processed_at is null and received_at < now() order by received_at limit 200`,
      'platform_events_waiting'
    ],
    'a known payment': [sql`select 1 from payments where platform_order_id = '1'`, 'payments_platformOrderId_unique'],
    'time-outs': [
      sql`select id from orders where state = 'placed' and reserved_until <= now() order by reserved_until limit 100`,
      'orders_reservations'
    ],
    expiries: [
      sql`select * from orders where state in ('delivering', 'partly_delivered', 'delivered') and expired_at <= now()
        order by expired_at, id limit 50 for update skip locked`,
      'orders_live'
    ],
    'graces that are over': [
      sql`select * from orders where state = 'expired' and grace_until <= now() order by grace_until limit 50`,
      'orders_grace'
    ],
    'what a customer holds unpaid': [
      sql`select sum(quantity) from orders where user_id = 1 and paid_at is null and reserved_until > now()`,
      'orders_user'
    ],
    'failed reservations': [
      sql`select id from orders where state = 'failed' and expired_at is null and reserved_until <= now()`,
      'orders_failed'
    ],
    reminders: [
      sql`select id from orders where state = 'delivered' and expired_at > now() and expired_at <= now() + interval '3 days'
        order by expired_at, id limit 100`,
      'orders_live'
    ],
    'deliveries that wait for no agent': [
      sql`select id from orders where state in ('delivering', 'partly_delivered') and id > 0 and not exists (
        select 1 from agent_users where order_id = orders.id and generation <> applied_generation) order by id limit 100`,
      'orders_underway'
    ],
    'orders that lost addresses': [
      sql`select id from orders where fail_code = 'addresses_lost' and state in ('delivering', 'partly_delivered', 'delivered')`,
      'orders_incomplete'
    ],
    'the list': [sql`select id from orders where deleted_at is null order by id desc limit 11`, 'orders_listed'],
    'the list by end': [
      sql`select id from orders where deleted_at is null order by coalesce(expired_at, 'infinity') desc, id desc limit 11`,
      'orders_by_expiry'
    ],
    'the list by amount, on from a place': [
      sql`select id from orders where deleted_at is null and (amount, id) < ('20.00', 99) order by amount desc, id desc limit 11`,
      'orders_by_amount'
    ],
    'paid orders': [
      sql`select id from orders where deleted_at is null and paid_at is not null order by id desc limit 11`,
      'orders_paid_listed'
    ],
    'orders with a problem': [
      sql`select id from orders where deleted_at is null and paid_at is not null and delivery_num = 0 and state not in ('expired', 'refunded') order by id desc limit 11`,
      'orders_undelivered'
    ],
    'the open orders of a product': [
      sql`select variant_id, state, count(*) from orders where variant_id = any('{2,3}'::bigint[])
        and state in ('placed', 'paid', 'delivering', 'partly_delivered', 'delivered', 'failed') and deleted_at is null
        group by variant_id, state`,
      'orders_of_variant'
    ],
    'an order by the platform’s number': [
      sql`select id from orders where platform_order_number = '#1001'`,
      'orders_platform_number'
    ],
    tasks: [sql`select id from orders where task is not null and task_at < now() order by task_at`, 'orders_tasks']
  }
  await db.transaction(async tx => {
    // With few rows, this tests whether the index can serve, not whether it is faster yet.
    await tx.execute(sql`set local enable_seqscan = off`)
    await tx.execute(sql`set local enable_bitmapscan = off`)
    // Without a suitable index the planner would sort.
    await tx.execute(sql`set local enable_sort = off`)
    for (const [what, [query, index]] of Object.entries(plans)) {
      const { rows } = await tx.execute<{ 'QUERY PLAN': string }>(sql`explain ${query}`)
      expect(rows.map(row => row['QUERY PLAN']).join('\n'), what).toContain(index)
    }
  })
})
