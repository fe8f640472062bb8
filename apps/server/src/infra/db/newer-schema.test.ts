import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { closeDatabase, type Database, openDatabase } from './client.ts'
import { sql } from './drizzle.ts'
import { watchSchema } from './newer-schema.ts'

let database: TestDatabase
let db: Database
beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { max: 2 })
})
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

const migrated = (at: number) =>
  db.execute(sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('newer', ${at})`)

test('a process ends some time after a newer version has migrated its database, and not before', async () => {
  const happened: string[] = []
  const log = { warn: (_: object, text: string) => void happened.push(text) }
  const watch = () => watchSchema({ db, log, onNewer: () => happened.push('ends'), everyMs: 10, graceMs: 50 })
  const stop = watch()
  // Its own migrations are none of a newer version.
  await db.execute(sql`select pg_sleep(0.2)`)
  expect(happened).toEqual([])
  await migrated(Date.now() + 1e9)
  await expect.poll(() => happened).toEqual([expect.stringContaining('a newer version has migrated'), 'ends'])
  stop()
  // One that is ended meanwhile does not end twice.
  watch()()
  await db.execute(sql`select pg_sleep(0.2)`)
  expect(happened).toHaveLength(2)
})
