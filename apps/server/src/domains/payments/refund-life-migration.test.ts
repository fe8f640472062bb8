import { sql, type SQL } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, openDatabase, type Database } from '../../infra/db/client.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { migrationStatements } from '../../testing/migrations.ts'

let database: TestDatabase
let db: Database

/** The tables before refunds had states. */
const BEFORE = sql`
  alter table payment_refunds drop column state, drop column asked_by;
  alter table payments drop column buyer_amount, drop column buyer_currency, add column refund_requested_at timestamptz,
    add column refund_requested_by text, add column refund_id text, add column refund_unanswered boolean not null default false;
  alter table platform_events drop constraint platform_events_outcome;
  alter table platform_events add constraint platform_events_outcome check (true);
  alter table orders drop constraint orders_fail_code, drop constraint orders_task_error;
  alter table orders add constraint orders_fail_code check (true), add constraint orders_task_error check (true)`

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url)
})
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

const rowsOf = async (query: SQL) => (await db.execute(query)).rows

test('existing refunds and requests get their states, and payments held by an unknown amount can still be decided', async () => {
  await db.execute(BEFORE)
  await db.execute(sql`insert into payments
    (platform_order_id, platform_order_number, kind, amount, discount, charged, accepted, created_at,
      refund_requested_at, refund_requested_by, refund_id, refund_unanswered) values
    ('1', '#1', 'purchase', 20, 0, 20, false, '2026-01-01', '2026-02-01', 'boss', '77', false),
    ('2', '#2', 'purchase', 20, 0, 20, false, '2026-01-01', '2026-02-02', 'boss', null, true),
    ('3', '#3', 'purchase', 20, 0, 20, false, '2026-01-01', null, null, null, false)`)
  await db.execute(sql`insert into payment_refunds (key, platform_order_id, amount, foreign_amount, reversed_at, created_at) values
    ('refund:1', '3', 5, null, null, '2026-01-02'), ('refund:2', '3', 5, null, '2026-01-03', '2026-01-02'),
    ('foreign:2', '3', 0, '4.00 GBP', null, '2026-01-02'), ('foreign:3', '3', 0, '4.00 GBP', null, '2026-01-02'),
    ('foreign:4', '3', null, null, null, '2026-01-02'),
    ('cancellation:3', '3', null, null, null, '2026-01-02'), ('cancellation:4', '4', null, null, null, '2026-01-02'),
    ('reported:4', '4', null, null, null, '2026-01-02')`)
  await db.execute(sql`insert into platform_events (event_id, topic, payload, received_at, outcome, detail) values
    ('a', 'refunds/create', '{}', '2026-01-01', 'foreign_refund', '{"amount": "4.00 GBP", "key": "foreign:3"}'),
    ('b', 'orders/paid', '{}', '2026-01-01', 'refund_amount_unknown', '{"amount": "4.00 GBP"}')`)
  for (const statement of migrationStatements('_refund_life.sql')) await db.execute(sql.raw(statement))
  const rows = await rowsOf(sql`select key, state, amount, foreign_amount as told,
    awaits_decision as unread, asked_by as by from payment_refunds order by key`)
  expect(rows.map(row => Object.values(row).join(' '))).toEqual([
    'asked:2-0-0.00-20.00 unanswered 20.00  false boss',
    'operator:foreign:4 counted   false ',
    'refund:1 counted 5.00  false ',
    'refund:2 returned 5.00  false ',
    'refund:3 counted 0.00 4.00 GBP true ',
    'refund:77 answered 20.00  false boss',
    'reported:3 counted   false ',
    'reported:4 counted   false '
  ])
  expect(await rowsOf(sql`select outcome, detail from platform_events order by event_id`)).toEqual([
    { outcome: 'partly_refunded', detail: { amount: '4.00 GBP' } },
    { outcome: 'lines_missing', detail: { amount: '4.00 GBP', missing: '4.00 GBP' } }
  ])
})
