import { sql } from './db/drizzle.ts'
import { PgBoss } from 'pg-boss'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import type { AppContext } from './context.ts'
import { closeDatabase, type Database, openDatabase } from './db/client.ts'
import { AT_START, job, startJobs } from './job.ts'
import { type Jobs, endFutureTimes, openJobs, queue } from './jobs.ts'
import { createLog } from './log.ts'

const work = queue<{ n: number }>('test.clock')

let database: TestDatabase
let db: Database
const workers: Jobs[] = []
beforeEach(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { max: 2 })
})
afterEach(async () => {
  vi.restoreAllMocks()
  for (const jobs of workers.splice(0)) await jobs.stop()
  await closeDatabase(db)
  await database.drop()
})

async function startWorker(): Promise<Jobs> {
  const log = createLog('test', 'silent')
  const jobs = await openJobs({ db, listenUrl: database.url, log, queues: [work], pollSeconds: 1 })
  workers.push(jobs)
  return jobs
}

test('a process whose clock is set back repeatedly still works on what becomes due', async () => {
  const jobs = await startWorker()
  const done: number[] = []
  await jobs.work(work, ({ n }) => Promise.resolve(void done.push(n)))
  let set = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => (set -= 60_000))
  for (const n of [1, 2]) {
    // No notification announces a delayed job: a worker has to poll.
    await db.transaction(tx => jobs.send(tx, work, { n }, { startIn: 500 }))
    await expect.poll(() => done.at(-1)).toBe(n)
  }
})

test('a worker notices by itself that the clock of the database was set back', async () => {
  const { setInterval } = globalThis
  // Shortens the interval of 15 seconds.
  vi.spyOn(globalThis, 'setInterval').mockImplementation(run => setInterval(run, 100))
  await startWorker()
  await db.execute(sql`update pgboss.version set cron_on = now() + interval '1 day'`)
  const ahead = () => db.execute(sql`select 1 from pgboss.version where cron_on > now()`)
  await expect.poll(async () => (await ahead()).rows).toEqual([])
})

test('a job runs as its worker starts, and by the clock', async () => {
  const ran: string[] = []
  const run = async (_ctx: AppContext, _data: object, id: string) => void ran.push(id)
  const byClock = job(work, { purpose: 'Counts.', cron: '* * * * *', atStart: true, run })
  await startJobs({ jobs: await startWorker() } as AppContext, [byClock])
  expect(ran).toEqual([AT_START])
  // A worker looks when it starts, if no other one looked lately.
  await db.execute(sql`update pgboss.version set cron_on = null`)
  await startWorker()
  await expect.poll(() => ran.length).toBeGreaterThan(1)
})

test('when the clock of the database is set back, waiting jobs are due and schedules continue', async () => {
  const boss = new PgBoss({ connectionString: database.url, supervise: false, schedule: false })
  // Its connections may still be closing when the database is dropped.
  boss.on('error', () => undefined)
  const client = new Client({ connectionString: database.url })
  try {
    await client.connect()
    await boss.start()
    await boss.createQueue(work.name)
    const waiting = await boss.send(work.name, {}, { startAfter: 600 })
    const slot = await boss.send(work.name, {}, { singletonKey: 'cron', singletonSeconds: 60 })
    await boss.fetch(work.name)
    await boss.complete(work.name, slot ?? '')
    // Shifts the stored times a day ahead, which looks the same as a clock that was set back a day.
    await client.query(`
      begin;
      update pgboss.version set cron_on = now() + interval '1 day';
      update pgboss.queue set monitor_on = now() + interval '1 day', maintain_on = now() + interval '1 day';
      update pgboss.job set created_on = created_on + interval '1 day', start_after = start_after + interval '1 day',
        started_on = started_on + interval '1 day', singleton_on = singleton_on + interval '1 day';
      commit`)
    await endFutureTimes(boss)
    const { rows } = await client.query<{ looks: number; slots: number; pause: number }>(
      `select (select count(*) from pgboss.version where cron_on > now())
          + (select count(*) from pgboss.queue where monitor_on > now() or maintain_on > now()) as looks,
        (select count(*) from pgboss.job where singleton_on > now()) as slots,
        extract(epoch from (select start_after - now() from pgboss.job where id = $1))::float8 as pause`,
      [waiting]
    )
    expect(rows).toEqual([{ looks: 0, slots: 0, pause: expect.closeTo(600, -2) as number }])
  } finally {
    await client.end()
    await boss.stop({ graceful: false })
  }
})
