import { sql } from './drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { closeDatabase, openDatabase, type Database } from './client.ts'
import { migrate } from './migrate.ts'

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

const stepIndex = async () => {
  const { rows } = await db.execute<{ at: number | null }>(sql`select inventory.step_index(8) as at`)
  return rows[0]?.at
}

test('functions are replaced when their file is not the one that was applied last, and only then', async () => {
  await db.execute(sql`create or replace function inventory.step_index(step int) returns int language sql immutable
    as $$ select 99 $$`)
  await migrate(database.url)
  expect(await stepIndex()).toBe(99)
  await db.execute(sql`update drizzle.functions set hash = 'of an earlier version' where domain = 'inventory'`)
  await Promise.all([migrate(database.url), migrate(database.url)])
  expect(await stepIndex()).toBe(2)
})
