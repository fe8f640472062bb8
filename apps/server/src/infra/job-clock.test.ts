import { Client } from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { closeDatabase, type Database, openDatabase } from './db/client.ts'
import { openJobs, queue, type Jobs } from './jobs.ts'
import { createLog } from './log.ts'

const work = queue<{ n: number }>('test.clock')
const scheduled = queue<object>('test.schedule')
const PATIENT = { timeout: 30_000 }

let database: TestDatabase
let client: Client
let db: Database
let jobs: Jobs
let done: number[]
let minutes: number

beforeEach(async () => {
  database = await createTestDatabase()
  client = new Client({ connectionString: database.url })
  await client.connect()
  db = openDatabase(database.url, { max: 2 })
  done = []
  minutes = 0
  const log = createLog('test', 'silent')
  jobs = await openJobs({
    databaseUrl: database.url,
    worker: true,
    log,
    queues: [work, scheduled],
    pollSeconds: 1,
    clockMs: 500
  })
  await jobs.work(work, ({ n }) => Promise.resolve(void done.push(n)))
  await jobs.work(scheduled, () => Promise.resolve(void minutes++))
})

afterEach(async () => {
  vi.restoreAllMocks()
  await jobs?.stop()
  if (db) await closeDatabase(db)
  await client?.end()
  await database?.drop()
})

/** Nobody is told of it when its moment comes: a worker has to look. */
const sendLater = (n: number, startIn: number) => db.transaction(tx => jobs.send(tx, work, { n }, { startIn }))

test('a process whose clock is set back, however often, works on what becomes due', async () => {
  let set = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => (set -= 60_000))
  for (const n of [1, 2, 3]) {
    await sendLater(n, 1500)
    await expect.poll(() => done.at(-1), PATIENT).toBe(n)
  }
})

test('where the clock of the database is set back, jobs by the clock and those that wait are in time', async () => {
  await jobs.schedule(scheduled, '* * * * *')
  await expect.poll(() => minutes, PATIENT).toBeGreaterThan(0)
  const before = minutes
  await sendLater(1, 1500)
  // All that was written before is a day later by the clock that was set back.
  for (const [table, columns] of [
    ['version', ['cron_on', 'bam_on', 'flow_on', 'reindex_on']],
    ['queue', ['monitor_on', 'monitor_claim_on', 'maintain_on']],
    ['job', ['created_on', 'start_after', 'started_on', 'completed_on', 'heartbeat_on']]
  ] as const) {
    const set = columns.map(column => `${column} = ${column} + interval '1 day'`).join()
    await client.query(`update pgboss.${table} set ${set}`)
  }
  // It was this late before, and the next minute was worked on then.
  await client.query(`
    insert into pgboss.job (name, data, state, singleton_key, singleton_on, created_on, completed_on)
    select name, data, state, singleton_key, singleton_on + interval '1 minute', created_on, completed_on
    from pgboss.job where name = '__pgboss__send-it' and singleton_on is not null`)
  await expect.poll(() => done, PATIENT).toEqual([1])
  // The next one is due with the next minute, and looked for four times in one.
  const { rows } = await client.query<{ ms: number }>('select (60 - extract(second from now()))::float8 * 1000 as ms')
  await expect.poll(() => minutes, { timeout: (rows[0]?.ms ?? 0) + 30_000 }).toBeGreaterThan(before)
}, 130_000)
