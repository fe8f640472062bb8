import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { closeDatabase, type Database, openDatabase } from './client.ts'
import { withSessionLock } from './session-lock.ts'

const source = fileURLToPath(new URL('../../', import.meta.url))

let database: TestDatabase
let db: Database
beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { max: 4 })
})
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})

test('a process that waits for a lock gives up in time while the clock is set back', async () => {
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  const { promise: held, resolve: hold } = Promise.withResolvers<void>()
  const first = withSessionLock(db, 'platformToken', 0, () => (hold(), over))
  await held
  let set = Date.now()
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => (set -= 60_000))
  try {
    const second = withSessionLock(db, 'platformToken', 0, () => Promise.resolve(), { waitMs: 200 })
    const patience = new Promise(resolve => setTimeout(resolve, 20_000, 'waits'))
    expect(await Promise.race([second, patience])).toEqual({ ran: false })
  } finally {
    clock.mockRestore()
    end()
    await first
  }
})

test('no wait of this process ends at a time of day', () => {
  const own = globSync('**/*.ts', { cwd: source }).filter(file => !/\.(?:test|fixture)\.ts$|^testing\//.test(file))
  const waits = own.filter(file => {
    const text = readFileSync(join(source, file), 'utf8')
    // Integrations compare times of another service's clock.
    return !file.startsWith('integrations/') && /Date\.now\(\) [-+<>]/.test(text)
  })
  expect(own.length).toBeGreaterThan(500)
  expect(waits).toEqual([])
})
