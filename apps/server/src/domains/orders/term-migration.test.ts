import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, openDatabase, type Database } from '../../infra/db/client.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { migrationStatements } from '../../testing/migrations.ts'
import { addGroup, addOrders } from '../inventory/inventory.fixture.ts'

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

/** A migration's changes of rows; its tables and columns already exist. */
async function migrateRows(name: string, count: number): Promise<void> {
  const changes = migrationStatements(name).filter(statement => /^\s*(--.*\n)?\s*UPDATE /.test(statement))
  expect(changes).toHaveLength(count)
  for (const statement of changes) await db.execute(sql.raw(statement))
}

test('orders that were delivered keep their end; those under way get theirs with the delivery, and their renewals', async () => {
  const groupId = await addGroup(db, 'here', [])
  const [delivered, reminded, coming, part, over, never] = await addOrders(db, groupId, 6)
  await db.execute(sql`update orders set paid_at = '2026-01-01T00:00:00Z', pay_amount = 1,
    expired_at = case when id = ${reminded} then now() + interval '2 hours' else '2100-01-01T00:00:00Z'::timestamptz end,
    delivery_num = case when id in (${coming}, ${never}) then 0 else 1 end,
    reminder_sent_at = case when id = ${reminded} then now() end,
    state = case when id = ${coming} then 'delivering' when id = ${part} then 'partly_delivered'
      when id in (${over}, ${never}) then 'expired' else 'delivered' end`)
  await db.execute(sql`insert into order_events (at, order_id, kind) values
    (now(), ${coming}, 'renewed'), (now(), ${coming}, 'renewed'), (now(), ${coming}, 'leased'), (now(), ${delivered}, 'renewed')`)
  // The column counted terms then, and days later.
  await db.execute(sql`alter table orders rename column extra_days to extra_terms`)
  await migrateRows('_customer_orders.sql', 3)
  await db.execute(sql`alter table orders rename column extra_terms to extra_days`)
  await migrateRows('_renewal_terms.sql', 2)
  const { rows } = await db.execute(sql`select id, extra_days as extra, expired_at is not null as ends,
    delivered_at = paid_at as counted, last_reminder_sent_at is not null as reminded from orders order by id`)
  expect(rows).toEqual([
    { id: delivered, extra: 0, ends: true, counted: true, reminded: false },
    { id: reminded, extra: 0, ends: true, counted: true, reminded: true },
    { id: coming, extra: 60, ends: false, counted: null, reminded: false },
    { id: part, extra: 0, ends: false, counted: null, reminded: false },
    { id: over, extra: 0, ends: true, counted: true, reminded: false },
    { id: never, extra: 0, ends: true, counted: null, reminded: false }
  ])
})
