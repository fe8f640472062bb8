import { sql, type SQL } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditQuery } from '@netlet/contract'
import { closeDatabase, openDatabase, type Database, type Executor } from '../../infra/db/client.ts'
import { paginate } from '../../infra/list/index.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { auditNames } from '../../order-names.ts'
import { entryList } from './list-entries.ts'

const ROWS = 200_000
/** Totals are counted up to 10,000, and each row may be visited for the page and for the total. */
const AT_MOST = 25_000

let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url)
  // Words are not searched for here, and filling their index takes longer than all the rest.
  await db.execute(sql`drop index audit_log_search`)
  for (let from = 0; from < ROWS; from += 50_000)
    await db.execute(sql`
      insert into audit_log (at, actor_name, action, target_type, target_id)
      select now() - make_interval(secs => (${ROWS} - at) * 1000), 'actor' || at % 50,
        case when at % 1000 = 7 then 'order.extend' else 'user.edit' end,
        case when at % 1000 = 7 then 'order' else 'user' end, (at % 5000)::text
      from generate_series(${from}::int + 1, ${from}::int + 50000) at`)
  await db.execute(sql`vacuum analyze audit_log`)
}, 120_000)
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

type Node = Record<string, unknown> & { Plans?: Node[] }
const visited = (node: Node): number =>
  (String(node['Node Type']).includes('Scan')
    ? (Number(node['Actual Rows']) + Number(node['Rows Removed by Filter'] ?? 0)) * Number(node['Actual Loops'])
    : 0) + (node.Plans ?? []).reduce((sum, plan) => sum + visited(plan), 0)

/** Rows that the list's statements visit for a page. */
async function rowsVisited(query: Record<string, string>): Promise<number> {
  const asked: SQL[] = []
  const watched = new Proxy(db, {
    get: (target, name) =>
      name === 'execute'
        ? (statement: SQL) => {
            asked.push(statement)
            return target.execute(statement)
          }
        : (Reflect.get(target, name) as unknown)
  }) as Executor
  const page = await paginate(watched, entryList(auditNames), auditQuery.parse(query))
  expect(page.ok && page.data.data.length, JSON.stringify(query)).toBeGreaterThan(0)
  let rows = 0
  for (const statement of asked) {
    const plan = await db.execute<{ 'QUERY PLAN': { Plan: Node }[] }>(sql`explain (analyze, format json) ${statement}`)
    rows += visited(plan.rows[0]?.['QUERY PLAN'][0]?.Plan ?? {})
  }
  return rows
}

const day = (back: number) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10)

test.each([
  [{}],
  [{ actor: 'actor7' }],
  [{ verb: 'extend' }],
  [{ target_type: 'order' }],
  [{ target_type: 'order', target_id: '7' }],
  [{ actor: 'actor7', verb: 'extend' }],
  [{ from: day(2000), until: day(1999) }],
  [{ actor: 'actor7', from: day(2000), until: day(1999) }],
  [{ target_type: 'user', until: day(2000) }]
])('a page of %j visits few of the entries, and counts no further than it tells', async query => {
  expect(await rowsVisited(query)).toBeLessThan(AT_MOST)
})
