import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeDatabase, openDatabase, type Database } from '../../infra/db/client.ts'
import { matchingIds } from '../../infra/list/index.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { rowsVisited } from '../../testing/rows-visited.ts'
import { vacuumFully } from '../../testing/vacuum.ts'
import { inboxList } from './inbox.ts'

/** A fifth of the events came two hours ago, during a fault, and still wait. All others came later. */
const EVENTS = 20_000
const NOW = new Date('2026-05-15T12:00:00Z')

let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url)
  await db.execute(sql`insert into platform_events (event_id, topic, payload, received_at, outcome, processed_at)
    select 'many' || n, 'orders/paid', '{}', ${NOW}::timestamptz - case when n <= ${EVENTS / 5} then interval '2 hours' else interval '0' end,
      case when n > ${EVENTS / 5} then 'settled' end, case when n > ${EVENTS / 5} then ${NOW}::timestamptz end
    from generate_series(1, ${EVENTS}::int) n`)
  await vacuumFully(db, 'platform_events')
}, 120_000)
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

test('the newest of many late events are read by their index, even if others came after them', async () => {
  const query = { limit: 10, offset: 0, sort_by: 'id', sort_order: 'desc', late: '1' } as const
  const { rows, told } = await rowsVisited(db, watched =>
    matchingIds(watched, inboxList({ now: NOW }), query, { limit: 10 })
  )
  expect(told).toHaveLength(10)
  expect(rows).toBeLessThan(50)
})
