import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditQuery } from '@netlet/contract'
import { closeDatabase, openDatabase, type Database } from '../../infra/db/client.ts'
import { paginate } from '../../infra/list/index.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { rowsVisited } from '../../testing/rows-visited.ts'
import { vacuumFully } from '../../testing/vacuum.ts'
import { auditNames } from '../../order-names.ts'
import { entryList } from './list-entries.ts'

const NOW = '2026-05-15T12:00:00Z'
const ROWS = 60_000
/** Totals count up to 10,000, and each row may be visited for the page and for the total. */
const AT_MOST = 25_000

let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url)
  // Text search is not tested here, and filling its index takes longer than everything else.
  await db.execute(sql`drop index audit_log_search`)
  await db.execute(sql`
    insert into audit_log (at, actor_name, action, target_type, target_id)
    select ${NOW}::timestamptz - make_interval(secs => (${ROWS} - at) * 1000), 'actor' || at % 50,
      case when at % 1000 = 7 then 'order.extend' when at % 1000 = 57 then 'user.fail_login' else 'user.edit' end,
      case when at % 1000 = 7 then 'order' else 'user' end, (at % 5000)::text
    from generate_series(1, ${ROWS}::int) at`)
  await vacuumFully(db, 'audit_log')
}, 120_000)
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

/** Rows that the list's statements visit for a page. */
async function visitedBy(query: Record<string, string>): Promise<number> {
  const { rows, told } = await rowsVisited(db, watched =>
    paginate(watched, entryList(auditNames), auditQuery.parse(query))
  )
  expect(told.ok && told.data.data.length, JSON.stringify(query)).toBeGreaterThan(0)
  return rows
}

const day = (back: number) => new Date(Date.parse(NOW) - back * 86_400_000).toISOString().slice(0, 10)

test.each([
  [{}],
  [{ actor: 'actor7' }],
  [{ verb: 'extend' }],
  [{ kind: 'security' }],
  [{ kind: 'security', actor: 'actor7' }],
  [{ target_type: 'order' }],
  [{ target_type: 'order', target_id: '7' }],
  [{ actor: 'actor7', verb: 'extend' }],
  [{ from: day(500), until: day(499) }],
  [{ actor: 'actor7', from: day(500), until: day(499) }],
  [{ target_type: 'user', until: day(500) }]
])('a page of %j visits few of the entries, and counts no further than it tells', async query => {
  expect(await visitedBy(query)).toBeLessThan(AT_MOST)
})
