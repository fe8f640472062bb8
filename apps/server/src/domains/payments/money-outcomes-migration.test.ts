import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, openDatabase, type Database } from '../../infra/db/client.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { migrationStatements } from '../../testing/migrations.ts'

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

const BECOMES = {
  underpaid: 'lines_missing',
  renewal_underpaid: 'lines_missing',
  renewal_lines_missing: 'lines_missing',
  renewal_not_sold: 'purchase_not_sold',
  renewal_too_late: 'too_late',
  paid_back: 'refunded',
  refund_kept: 'refunded',
  restored: 'settled',
  duplicate: 'ignored',
  older: 'ignored',
  dispute_won: 'dispute_won',
  ignored: 'ignored'
}

test('existing disputes that a handled event called lost are lost, unless they were won later', async () => {
  const insert = async (id: number, state: string, status: string, processed = '2026-01-02') => {
    await db.execute(sql`insert into payment_refunds (key, platform_order_id, state, created_at) values
      (${`dispute:${id}`}, '1', ${state}, '2026-01-01'), (${`dispute:${id}:2`}, '2', ${state}, '2026-01-01')`)
    for (const platformOrder of ['1', '2'])
      await db.execute(sql`insert into platform_events (event_id, topic, payload, received_at, processed_at, platform_order_id)
        values (${`${id} of ${platformOrder}`}, 'disputes/update', ${JSON.stringify({ id, status })}::jsonb,
          '2026-01-01', ${processed || null}::timestamptz, ${platformOrder})`)
  }
  await insert(1, 'counted', 'lost')
  await insert(11, 'counted', 'needs_response')
  await insert(2, 'returned', 'lost')
  await insert(3, 'counted', 'accepted', '')
  await db.execute(sql`alter table payment_refunds drop column lost`)
  for (const statement of migrationStatements('_lost_disputes.sql')) await db.execute(sql.raw(statement))
  const { rows } = await db.execute<{ key: string }>(sql`select key from payment_refunds where lost order by id`)
  expect(rows).toEqual([{ key: 'dispute:1' }, { key: 'dispute:1:2' }])
  await db.execute(sql`delete from platform_events`)
})

test('existing refunds of all that is left get that amount, which covers nothing that is paid later', async () => {
  await db.execute(sql`delete from payment_refunds`)
  const refunds: [
    order: string,
    charged: string,
    key: string,
    amount: string | null,
    state: string,
    foreign?: string
  ][] = [
    ['whole', '20.00', 'reported:whole', null, 'counted'],
    ['rest', '20.00', 'refund:1', '5.00', 'counted'],
    ['rest', '20.00', 'reported:rest', null, 'counted'],
    ['returned', '20.00', 'refund:2', '5.00', 'returned'],
    ['returned', '20.00', 'reported:returned', null, 'counted'],
    // Nothing was left: the money of the other refund may come back.
    ['nothing left', '20.00', 'refund:3', '25.00', 'counted'],
    ['nothing left', '20.00', 'reported:nothing left', null, 'counted'],
    ['won', '20.00', 'dispute:4', null, 'returned'],
    ['foreign', '20.00', 'dispute:5', null, 'counted', '15.40 GBP'],
    ['free', '0.00', 'reported:free', null, 'counted'],
    ['unknown', '', 'reported:unknown', null, 'counted']
  ]
  for (const [order, charged, key, amount, state, foreign = null] of refunds) {
    await db.execute(sql`insert into payment_refunds (key, platform_order_id, amount, foreign_amount, state, created_at)
      values (${key}, ${order}, ${amount}, ${foreign}, ${state}, '2026-01-01')`)
    if (charged === '') continue
    await db.execute(sql`insert into payments
      (platform_order_id, platform_order_number, kind, amount, discount, charged, accepted, created_at)
      values (${order}, ${order}, 'purchase', ${charged}, 0, ${charged}, false, '2026-01-01') on conflict do nothing`)
  }
  for (let times = 0; times < 2; times++)
    for (const statement of migrationStatements('_refunded_amounts.sql')) await db.execute(sql.raw(statement))
  const { rows } = await db.execute<{ key: string; amount: string | null }>(
    sql`select key, amount from payment_refunds order by id`
  )
  expect(rows.map(({ key, amount }) => `${key} ${amount}`)).toEqual([
    'reported:whole 20.00',
    'refund:1 5.00',
    'reported:rest 15.00',
    'refund:2 5.00',
    'reported:returned 20.00',
    'refund:3 25.00',
    'reported:nothing left 20.00',
    'dispute:4 null',
    'dispute:5 null',
    'reported:free null',
    'reported:unknown null'
  ])
})

test('existing events about a part of the money get their own outcome, handled or not; underpaid ones keep theirs', async () => {
  const detail = { order_id: 'NL-1', platform_order: '#1', missing: '0/8 (20.00 USD)' }
  const further = { order_id: '1', outcome: 'lines_missing', detail }
  const events = [
    ['handled', 'reconciled/doubt', further, 'lines_missing', detail],
    ['waits', 'reconciled/doubt', further, null, null],
    ['underpaid', 'orders/paid', { id: 1 }, 'lines_missing', { missing: 'Here: 4/8' }]
  ] as const
  for (const [id, topic, payload, outcome, known] of events)
    await db.execute(sql`insert into platform_events (event_id, topic, payload, received_at, outcome, detail) values
      (${id}, ${topic}, ${JSON.stringify(payload)}::jsonb, '2026-01-01', ${outcome}, ${known && JSON.stringify(known)}::jsonb)`)
  for (const statement of migrationStatements('_part_paid.sql')) await db.execute(sql.raw(statement))
  const { rows } = await db.execute(sql`select outcome, detail, payload from platform_events order by id`)
  const amount = { order_id: 'NL-1', platform_order: '#1', amount: '20.00 USD' }
  const payload = { order_id: '1', outcome: 'part_paid', detail: amount }
  expect(rows).toEqual([
    { outcome: 'part_paid', detail: amount, payload },
    { outcome: null, detail: null, payload },
    { outcome: 'lines_missing', detail: { missing: 'Here: 4/8' }, payload: { id: 1 } }
  ])
  await db.execute(sql`delete from platform_events`)
})

test('existing events get the outcomes that are left, and stay open; one that was not handled has none', async () => {
  await db.execute(sql`alter table platform_events drop constraint platform_events_outcome;
    alter table platform_events add constraint platform_events_outcome check (true)`)
  const detail = { order_id: 'NL-1', paid: '5.00', due: '12.00' }
  for (const outcome of [...Object.keys(BECOMES), null])
    await db.execute(sql`insert into platform_events
      (event_id, topic, payload, received_at, outcome, detail, needs_hand) values
      (${outcome ?? 'waits'}, 'orders/paid', '{}', '2026-01-01', ${outcome}, ${JSON.stringify(detail)}, true)`)
  for (const statement of migrationStatements('_money_outcomes.sql')) await db.execute(sql.raw(statement))
  const { rows } = await db.execute<{ was: string; is: string | null; missing: string | null; open: boolean }>(
    sql`select event_id as was, outcome as is, detail ->> 'missing' as missing, needs_hand as open from platform_events order by id`
  )
  expect(Object.fromEntries(rows.map(({ was, is }) => [was, is]))).toEqual({ ...BECOMES, waits: null })
  expect(rows.flatMap(({ was, missing }) => (missing === null ? [] : [`${was} ${missing}`]))).toEqual([
    'underpaid 5.00 / 12.00',
    'renewal_underpaid 5.00 / 12.00'
  ])
  expect(rows.every(({ open }) => open)).toBe(true)
})
