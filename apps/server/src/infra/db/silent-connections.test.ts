import { sql } from './drizzle.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { startRelay } from '../../testing/relay.ts'
import { openJobs, queue } from '../jobs.ts'
import { createLog } from '../log.ts'
import { allowLongStatements, closeDatabase, isTemporaryFailure, openDatabase } from './client.ts'
import { watchDatabase } from './watchdog.ts'

const log = createLog('test', 'silent')
let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database?.drop())

test.concurrent('a connection that fell silent fails once, as a temporary failure, and is replaced', async () => {
  const relay = await startRelay(database.url)
  const db = openDatabase(relay.url, { max: 1, answerMs: 1500 })
  try {
    await db.execute(sql`select 1`)
    relay.mute()
    const failure = await db.execute(sql`select 1`).catch((error: unknown) => error)
    expect(isTemporaryFailure(failure)).toBe(true)
    expect((await db.execute(sql`select 2 as n`)).rows).toEqual([{ n: 2 }])
  } finally {
    await closeDatabase(db)
    relay.stop()
  }
})

test.each([
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'EPIPE',
  'ECONNREFUSED',
  'ECONNRESET'
])('an unreachable database (%s) is a temporary failure', code => {
  const cause = Object.assign(new Error(`getaddrinfo ${code} database`), { code })
  expect(isTemporaryFailure(new Error('Failed query', { cause }))).toBe(true)
  expect(isTemporaryFailure(Object.assign(new Error('no such file'), { code: 'ENOENT' }))).toBe(false)
})

test.concurrent('a transaction whose connection falls silent ends without waiting again for its rollback', async () => {
  const relay = await startRelay(database.url)
  const db = openDatabase(relay.url, { max: 1, answerMs: 4000 })
  try {
    const started = Date.now()
    const failure = await db
      .transaction(async tx => {
        await tx.execute(sql`select 1`)
        relay.mute()
        await tx.execute(sql`select 2`)
      })
      .catch((error: unknown) => error)
    expect(isTemporaryFailure(failure)).toBe(true)
    expect(Date.now() - started).toBeLessThan(8000)
    expect((await db.transaction(tx => tx.execute(sql`select 2 as n`))).rows).toEqual([{ n: 2 }])
  } finally {
    await closeDatabase(db)
    relay.stop()
  }
})

test.concurrent('a transaction with a longer limit is waited for', async () => {
  const db = openDatabase(database.url, { max: 1, answerMs: 1500 })
  try {
    await db.transaction(async tx => {
      await allowLongStatements(tx, 30_000)
      await tx.execute(sql`select pg_sleep(2)`)
    })
    await expect(db.transaction(tx => tx.execute(sql`select pg_sleep(2)`))).rejects.toThrow()
  } finally {
    await closeDatabase(db)
  }
})

test.concurrent('the job queue continues after its connections fell silent', async () => {
  const waiting = queue<{ n: number }>('test.silence')
  const db = openDatabase(database.url, { max: 1 })
  const own = await startRelay(database.url)
  const silent = openDatabase(own.url, { max: 3, answerMs: 1000 })
  const jobs = await openJobs({ db: silent, listenUrl: own.url, log, queues: [waiting], pollSeconds: 1 })
  try {
    const done: number[] = []
    await jobs.work(waiting, async ({ n }) => void done.push(n))
    await jobs.send(db, waiting, { n: 1 })
    await vi.waitFor(() => expect(done).toEqual([1]), { timeout: 30_000 })
    own.mute()
    await jobs.send(db, waiting, { n: 2 })
    // If the lost answer assigned the job to this process, only its missing heartbeat brings it back.
    await vi.waitFor(() => expect(done).toEqual([1, 2]), { timeout: 90_000 })
  } finally {
    // The driver says goodbye on each connection, and the silent ones do not answer.
    own.stop()
    await jobs.stop()
    await closeDatabase(silent)
    await closeDatabase(db)
  }
}, 150_000)

test.concurrent('a process that gets no answer though new connections work is reported as stuck', async () => {
  const stuck = vi.fn<() => void>()
  const watched = { databaseUrl: database.url, log, everyMs: 50, patienceMs: 200 }
  const unwatch = watchDatabase({ ...watched, answers: () => new Promise(() => {}), onStuck: stuck })
  await vi.waitFor(() => expect(stuck).toHaveBeenCalledOnce(), { timeout: 30_000 })
  unwatch()
})

test.concurrent('a process is not stuck while it is answered, nor while the database is away', async () => {
  const [stuck, asked] = [vi.fn<() => void>(), vi.fn<() => void>()]
  const answering = (answer: boolean) => async () => {
    asked()
    return answer
  }
  const watched = { log, everyMs: 20, patienceMs: 60, onStuck: stuck }
  const away = 'postgres://nobody@127.0.0.1:9/nothing'
  const unwatch = [
    watchDatabase({ ...watched, databaseUrl: database.url, answers: answering(true) }),
    watchDatabase({ ...watched, databaseUrl: away, answers: answering(false) })
  ]
  await vi.waitFor(() => expect(asked.mock.calls.length).toBeGreaterThan(20), { timeout: 30_000 })
  for (const end of unwatch) end()
  expect(stuck).not.toHaveBeenCalled()
})
