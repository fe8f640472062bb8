import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { auditLog } from '../tables.ts'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { closeDatabase, openDatabase, type Database } from './client.ts'
import { rowCounter } from './row-counter.ts'

let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url)
})
afterAll(async () => {
  vi.useRealTimers()
  await closeDatabase(db)
  await database.drop()
})

const insert = (rows: number) =>
  db.execute(
    sql`insert into audit_log (actor_name, action, target_type, target_id) select 'a', 'b', 'c', i::text from generate_series(1, ${rows}::int) i`
  )
const removeOne = () => db.execute(sql`delete from audit_log where id = (select min(id) from audit_log)`)

test('a small table is counted exactly, a big one soon', async () => {
  const count = rowCounter(auditLog, auditLog.id)
  expect(await count(db)).toBe(0)
  await insert(3)
  expect(await count(db)).toBe(3)
  await removeOne()
  expect(await count(db)).toBe(2)

  await insert(10_000)
  expect(await count(db)).toBe(10_002)
  await insert(5)
  expect(await count(db)).toBe(10_007)
  await removeOne()
  expect(await count(db)).toBe(10_007)

  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 })
  // This call begins to count anew, aside.
  await count(db)
  await vi.waitFor(async () => expect(await count(db)).toBe(10_006), { timeout: 10_000 })
})

test('a condition holds for the rows that were added, too', async () => {
  const count = rowCounter(auditLog, auditLog.id, sql`${auditLog.actorName} = 'a'`)
  const before = await count(db)
  await db.execute(sql`insert into audit_log (actor_name, action, target_type, target_id) values ('z', 'b', 'c', '1')`)
  expect(await count(db)).toBe(before)
})
