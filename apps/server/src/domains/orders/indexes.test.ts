import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, openDatabase, type Database } from '../../platform/db/client.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'

let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url)
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
    'a known payment': [sql`select 1 from payments where platform_order_id = '1'`, 'payments_platformOrderId_unique'],
    'time-outs': [
      sql`select id from orders where state = 'placed' and reserved_until <= now() order by reserved_until limit 100`,
      'orders_reservations'
    ],
    expiries: [
      sql`select * from orders where state in ('paid', 'delivering', 'partly_delivered', 'delivered') and expired_at <= now() order by expired_at, id limit 50`,
      'orders_expiry'
    ],
    'failed reservations': [
      sql`select id from orders where state = 'failed' and expired_at is null and reserved_until <= now()`,
      'orders_expiry'
    ],
    tasks: [sql`select id from orders where task is not null and task_at < now() order by task_at`, 'orders_tasks']
  }
  await db.transaction(async tx => {
    // Few rows here: whether the index can serve, not whether it already pays.
    await tx.execute(sql`set local enable_seqscan = off`)
    await tx.execute(sql`set local enable_bitmapscan = off`)
    for (const [what, [query, index]] of Object.entries(plans)) {
      const { rows } = await tx.execute<{ 'QUERY PLAN': string }>(sql`explain ${query}`)
      expect(rows.map(row => row['QUERY PLAN']).join('\n'), what).toContain(index)
    }
  })
})
