import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keepDatabase, type KeptDatabase } from './database.ts'

let folder: string
let database: KeptDatabase
const said: string[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'netlet-kept-'))
  database = await keepDatabase(join(folder, 'postgres'), line => said.push(line))
}, 120_000)
afterAll(async () => {
  await database?.stop()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

async function answers(): Promise<boolean> {
  const client = new Client({ connectionString: database.url, connectionTimeoutMillis: 5000 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

test('a database that was killed runs again at the same address, with a message', async () => {
  expect(await answers()).toBe(true)
  process.kill(database.pid(), 'SIGKILL')
  await expect.poll(() => said, { timeout: 60_000 }).toContain('The database runs again.')
  expect(said[0]).toBe('The database ended; it is started again.')
  await expect.poll(answers, { timeout: 60_000 }).toBe(true)
}, 150_000)
