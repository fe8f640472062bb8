import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { closeDatabase, openDatabase } from './db/client.ts'
import { openJobs, queue, type JobQueue } from './jobs.ts'
import { createLog } from './log.ts'

const kept = queue<object>('kept')
const newer = queue<object>('of-a-newer-version')
const retired = queue<object>('rewards.housekeeping')

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})

afterAll(() => database.drop())

async function schedulesAfter(worker: boolean, queues: JobQueue<object>[], scheduled: JobQueue<object>[] = []) {
  const db = openDatabase(database.url)
  const jobs = await openJobs({
    db,
    listenUrl: worker ? database.url : null,
    log: createLog('test', 'silent'),
    queues
  })
  try {
    for (const one of scheduled) await jobs.schedule(one, '0 0 1 1 *')
  } finally {
    await jobs.stop()
    await closeDatabase(db)
  }
  return schedules()
}

async function schedules(): Promise<string[]> {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>('select name from pgboss.schedule order by name')
    return rows.map(({ name }) => name)
  } finally {
    await client.end()
  }
}

test('a worker removes the schedules of queues that were retired, and leaves those of a newer version', async () => {
  const all = ['kept', 'of-a-newer-version', 'rewards.housekeeping']
  expect(await schedulesAfter(false, [kept, newer, retired], [kept, newer, retired])).toEqual(all)
  expect(await schedulesAfter(false, [kept])).toEqual(all)
  expect(await schedulesAfter(true, [kept])).toEqual(all.slice(0, 2))
})

test('the first job of a process is sent over the only connection, that of its transaction', async () => {
  const db = openDatabase(database.url, { max: 1 })
  const jobs = await openJobs({ db, listenUrl: null, log: createLog('test', 'silent'), queues: [kept] })
  try {
    expect(await db.transaction(tx => jobs.send(tx, kept, {}))).toEqual(expect.any(String))
  } finally {
    await jobs.stop()
    await closeDatabase(db)
  }
})

test('a start writes the settings of the queues that changed, and of no other', async () => {
  const db = openDatabase(database.url)
  const rows = async () => {
    const { rows } = await db.$client.query<{ name: string; tries: number; at: string }>(
      `select name, retry_limit as tries, updated_on::text as at from pgboss.queue where name in ('kept', 'changed') order by 1`
    )
    return { changed: rows[0], kept: rows[1] }
  }
  const startWith = async (...queues: JobQueue<object>[]) => {
    const jobs = await openJobs({ db, listenUrl: null, log: createLog('test', 'silent'), queues })
    await jobs.stop()
    return rows()
  }
  try {
    const before = await startWith(kept, queue('changed', { retryLimit: 3 }))
    expect(await startWith(kept, queue('changed', { retryLimit: 3 }))).toEqual(before)
    const after = await startWith(kept, queue('changed', { retryLimit: 4 }))
    expect([before.changed?.tries, after.changed?.tries]).toEqual([3, 4])
    expect(after.kept).toEqual(before.kept)
  } finally {
    await closeDatabase(db)
  }
})
