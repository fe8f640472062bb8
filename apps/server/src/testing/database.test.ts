import { Client } from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { withClient } from './server.ts'

let databases: TestDatabase[]

beforeAll(async () => {
  // Concurrently, so that copies of the template collide.
  databases = await Promise.all(Array.from({ length: 4 }, () => createTestDatabase()))
})

afterAll(async () => {
  await Promise.all(databases.map(database => database.drop()))
})

const tables = (url: string) =>
  withClient(url, async client => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT schemaname || '.' || tablename AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`
    )
    return rows.map(row => row.name)
  })

test('databases are apart from each other', async () => {
  const [one, other] = databases
  if (!one || !other) throw new Error('no databases')
  await withClient(one.url, client => client.query('CREATE TABLE only_here (id int)'))
  expect(await tables(one.url)).toContain('public.only_here')
  expect(await tables(other.url)).not.toContain('public.only_here')
})

test('a copy holds what the migrations make', async () => {
  const template = inject('templateDatabase')
  const url = new URL(inject('postgresUrl'))
  url.pathname = `/${template}`
  const made = await tables(url.href)
  expect(made.length).toBeGreaterThan(0)
  expect(await tables((databases[3] as TestDatabase).url)).toEqual(made)
})

test('a dropped database is gone even with a connection open', async () => {
  const database = await createTestDatabase()
  const client = new Client({ connectionString: database.url })
  const lost = new Promise(done => client.on('error', done))
  await client.connect()
  await database.drop()
  await lost
  await expect(withClient(database.url, client => client.query('SELECT 1'))).rejects.toThrow('does not exist')
})
