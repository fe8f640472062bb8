import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { closeDatabase, openDatabase, type Database } from './db/client.ts'
import { openJobs, queue, URGENT, type Jobs } from './jobs.ts'
import { createLog } from './log.ts'

const burst = queue<{ n: number }>('test.burst')
const again = queue<object>('test.again')
const mixed = queue<{ name: string }>('test.mixed')
const shared = queue<{ owner: string }>('test.shared')
const held = queue<object>('test.held')

/** Longer than any test, so that no test passes because of a poll. */
const POLL_SECONDS = 600
/** Shorter than a poll, and enough for a busy machine. */
const BEFORE_A_POLL = { timeout: 60_000 }

let database: TestDatabase
let db: Database
let jobs: Jobs
beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url, { max: 6 })
  const queues = [burst, again, mixed, shared, held]
  const log = createLog('test', 'silent')
  jobs = await openJobs({ db, listenUrl: database.url, log, queues, pollSeconds: POLL_SECONDS })
})
afterAll(async () => {
  await jobs?.stop()
  await closeDatabase(db)
  await database.drop()
})

/** Blocks handlers until `open`. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { passed: promise, open: resolve }
}

test('a burst of jobs is worked off without pauses between them', async () => {
  await db.transaction(async tx => {
    for (let n = 0; n < 60; n++) await jobs.send(tx, burst, { n }, { key: String(n) })
  })
  const done: number[] = []
  await jobs.work(burst, async ({ n }) => void done.push(n), { concurrency: 2 })
  // A poll between two jobs would exceed the deadline.
  await expect.poll(() => done.length).toBe(60)
})

test('a keyed job that was sent while one runs starts when that one ends', async () => {
  const first = gate()
  const seen: string[] = []
  let begun = 0
  await jobs.work(again, async () => {
    begun += 1
    seen.push('begun')
    if (begun === 1) await first.passed
    seen.push('ended')
  })
  await db.transaction(tx => jobs.send(tx, again, {}, { key: 'server' }))
  await expect.poll(() => begun, BEFORE_A_POLL).toBe(1)
  for (const expected of [true, false]) {
    const id = await db.transaction(tx => jobs.send(tx, again, {}, { key: 'server' }))
    expect(id !== null).toBe(expected)
  }
  expect(seen).toEqual(['begun'])
  first.open()
  // A worker that does not look again after its job would wait for a poll.
  await expect.poll(() => seen, BEFORE_A_POLL).toEqual(['begun', 'ended', 'begun', 'ended'])
}, 120_000)

test('a job that a worker passed over because a sender held it starts when that sender commits', async () => {
  let done = 0
  const [asked, commit] = [gate(), gate()]
  await db.transaction(tx => jobs.send(tx, held, {}, { key: 'server' }))
  const holding = db.transaction(async tx => {
    expect(await jobs.send(tx, held, {}, { key: 'server' })).toBeNull()
    asked.open()
    await commit.passed
  })
  await asked.passed
  // The worker's first look, and the one after another job's notification, find the job locked.
  await jobs.work(held, async () => void (done += 1))
  await db.transaction(tx => jobs.send(tx, held, {}, { key: 'another' }))
  await expect.poll(() => done, { timeout: 30_000 }).toBe(1)
  commit.open()
  await holding
  await expect.poll(() => done).toBe(2)
})

test('an urgent job is worked on while ordinary ones keep all other workers busy', async () => {
  const slow = gate()
  const done: string[] = []
  await jobs.work(
    mixed,
    async ({ name }) => {
      if (name === 'bulk') await slow.passed
      done.push(name)
    },
    { concurrency: 2, reserved: 1 }
  )
  await db.transaction(async tx => {
    for (let n = 0; n < 20; n++) await jobs.send(tx, mixed, { name: 'bulk' }, { key: `bulk ${n}` })
    await jobs.send(tx, mixed, { name: 'code' }, { key: 'code', priority: URGENT })
  })
  await expect.poll(() => done).toEqual(['code'])
  await db.transaction(tx => jobs.send(tx, mixed, { name: 'code 2' }, { key: 'code 2', priority: URGENT }))
  await expect.poll(() => done).toEqual(['code', 'code 2'])
  slow.open()
  await expect.poll(() => done.length).toBe(22)
})

test('one group never has more than its share of the workers', async () => {
  const hold = gate()
  const running = new Map<string, number>()
  const most = new Map<string, number>()
  const done: string[] = []
  await jobs.work(
    shared,
    async ({ owner }) => {
      const now = (running.get(owner) ?? 0) + 1
      running.set(owner, now)
      most.set(owner, Math.max(most.get(owner) ?? 0, now))
      if (owner === 'hoarder') await hold.passed
      running.set(owner, now - 1)
      done.push(owner)
    },
    { concurrency: 2, perGroup: 1 }
  )
  let sent = 0
  const send = (owner: string) =>
    db.transaction(tx => jobs.send(tx, shared, { owner }, { key: String((sent += 1)), group: owner }))
  await send('hoarder')
  await expect.poll(() => running.get('hoarder')).toBe(1)
  for (let n = 0; n < 5; n++) await send('hoarder')
  await send('other')
  await expect.poll(() => done).toEqual(['other'])
  hold.open()
  await expect.poll(() => done.length).toBe(7)
  expect(most.get('hoarder')).toBe(1)
})
