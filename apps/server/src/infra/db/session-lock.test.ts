import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { withClient } from '../../testing/server.ts'
import { closeDatabase, type Database, openDatabase } from './client.ts'
import { LOCKS } from './locks.ts'
import { withSessionLock } from './session-lock.ts'

let database: TestDatabase
let db: Database
let other: Database
beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { max: 1 })
  other = openDatabase(database.url, { max: 1 })
})
afterAll(async () => {
  await closeDatabase(db)
  await closeDatabase(other)
  await database.drop()
})

/** Holds a lock until `end`. */
async function hold(on: Database, key: number) {
  const { promise: over, resolve: end } = Promise.withResolvers<void>()
  const { promise: held, resolve: begun } = Promise.withResolvers<void>()
  const done = withSessionLock(on, 'serverAgent', key, () => (begun(), over))
  await held
  return async () => {
    end()
    return done
  }
}

const isFree = async (on: Database, key: number) =>
  (await withSessionLock(on, 'serverAgent', key, () => Promise.resolve())).ran

const sessions = () =>
  withClient(database.url, async client => {
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and application_name = 'netlet locks'`
    )
    return rows.map(({ pid }) => pid)
  })

test('many locks of a process take one connection, and exclude it as well as others', async () => {
  const ends = [await hold(db, 1), await hold(db, 2), await hold(db, 3)]
  expect(await sessions()).toHaveLength(1)
  expect([await isFree(db, 2), await isFree(other, 2)]).toEqual([false, false])
  await ends[1]?.()
  expect([await isFree(other, 2), await isFree(db, 2)]).toEqual([true, true])
  expect([await isFree(other, 1), await isFree(other, 3)]).toEqual([false, false])
  await ends[0]?.()
  await ends[2]?.()
  expect(await isFree(other, 3)).toBe(true)
})

test('locks that are taken at once use the connection one after another', async () => {
  // The setup of the tests refuses two statements at once on one connection.
  const keys = Array.from({ length: 20 }, (_, n) => 100 + n)
  expect(await Promise.all(keys.map(key => isFree(db, key)))).toEqual(keys.map(() => true))
})

test('work that fails frees its lock', async () => {
  await expect(withSessionLock(db, 'serverAgent', 4, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(await isFree(other, 4)).toBe(true)
})

test('a session that the server ends frees its locks, and the next lock gets another one', async () => {
  const end = await hold(db, 5)
  await withClient(database.url, client =>
    client.query(
      `select pg_terminate_backend(pid) from pg_locks
        where locktype = 'advisory' and classid = $1 and objid = 5
          and database = (select oid from pg_database where datname = current_database())`,
      [LOCKS.serverAgent]
    )
  )
  await expect.poll(() => isFree(other, 5)).toBe(true)
  // This process still works under its lock.
  expect(await isFree(db, 5)).toBe(false)
  await expect.poll(() => isFree(db, 6)).toBe(true)
  expect(await end()).toMatchObject({ ran: true })
  expect(await isFree(db, 5)).toBe(true)
})
