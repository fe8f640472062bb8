import { PgBoss } from 'pg-boss'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { closeDatabase, openDatabase, type Database } from './db/client.ts'
import { openJobs, queue, type Jobs } from './jobs.ts'
import { createLog } from './log.ts'

const red = queue<{ n: number }>('test.red')
let database: TestDatabase
let db: Database
let jobs: Jobs
let boss: PgBoss
beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { max: 6 })
  jobs = await openJobs({ db, listenUrl: null, log: createLog('test', 'silent'), queues: [red] })
  boss = new PgBoss({ connectionString: database.url, supervise: false, schedule: false })
  // Its connections may still be closing when the database is dropped.
  boss.on('error', () => undefined)
  await boss.start()
})
afterAll(async () => {
  await boss?.stop()
  await jobs?.stop()
  await closeDatabase(db)
  await database.drop()
})

test('a waiting job is not fetched before the transaction that asked for it again commits', async () => {
  await db.transaction(tx => jobs.send(tx, red, { n: 1 }, { key: 'a' }))
  await db.transaction(async tx => {
    expect(await jobs.send(tx, red, { n: 2 }, { key: 'a' })).toBeNull()
    // A worker that fetched it now would not see what this transaction is about to commit.
    expect(await boss.fetch('test.red')).toEqual([])
  })
  expect(await boss.fetch('test.red')).toMatchObject([{ data: { n: 1 } }])
  // It is already active, so a new request adds another job.
  await db.transaction(async tx => expect(await jobs.send(tx, red, { n: 3 }, { key: 'a' })).not.toBeNull())
  expect(await boss.fetch('test.red')).toMatchObject([{ data: { n: 3 } }])
})
