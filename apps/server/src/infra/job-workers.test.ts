import { PgBoss } from 'pg-boss'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../testing/database.ts'
import { startWorkers } from './job-workers.ts'
import { createLog } from './log.ts'

const QUEUE = 'test.parallel'
const MOST = 4
/** Longer than any test, so that no test passes because of a poll. */
const POLL_SECONDS = 600
const PATIENT = { timeout: 60_000 }

let database: TestDatabase
let boss: PgBoss
beforeAll(async () => {
  database = await createTestDatabase()
  boss = new PgBoss({ connectionString: database.url, supervise: false, schedule: false, useListenNotify: true })
  // Its connections may still be closing when the database is dropped.
  boss.on('error', () => undefined)
  await boss.start()
  await boss.createQueue(QUEUE, { notify: true })
})
afterAll(async () => {
  await boss?.stop({ graceful: false })
  await database.drop()
})

const workers = () => boss.getWipData().filter(({ name }) => name === QUEUE).length

test('one worker more than the busy ones runs, up to the limit', async () => {
  let running: (() => void)[] = []
  let most = 0
  await startWorkers(
    boss,
    createLog('test', 'silent'),
    QUEUE,
    async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      running.push(resolve)
      most = Math.max(most, running.length)
      await promise
    },
    { most: MOST, pollSeconds: POLL_SECONDS }
  )
  const end = () => {
    const ended = running
    running = []
    for (const resolve of ended) resolve()
  }
  for (const round of ['first burst', 'second burst']) {
    // The extra workers of an earlier burst are gone.
    await expect.poll(workers, { ...PATIENT, message: round }).toBe(1)
    await boss.insert(QUEUE, [{ data: {} }])
    await expect.poll(() => running.length, { ...PATIENT, message: round }).toBe(1)
    expect(workers()).toBe(2)
    await boss.insert(
      QUEUE,
      Array.from({ length: 8 }, () => ({ data: {} }))
    )
    for (const left of [9, 5, 1]) {
      await expect.poll(() => running.length, { ...PATIENT, message: round }).toBe(Math.min(left, MOST))
      expect(workers()).toBeLessThanOrEqual(MOST)
      end()
    }
  }
  expect(most).toBe(MOST)
}, 120_000)
