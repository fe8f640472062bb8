import { refuse, type BulkRun } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { once } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import { startTestShop } from '../../testing/shop.ts'
import { workerProcess } from '../../testing/worker-process.ts'
import { DAY } from '../../infra/clock.ts'
import { startJobs } from '../../infra/job.ts'
import { ok } from '../../infra/result.ts'
import { users } from '../accounts/tables.ts'
import {
  actions,
  admin,
  audited,
  marks,
  numbers,
  rowsOf,
  runOf,
  shop,
  started,
  useBulkShop,
  useNewAdmin,
  work,
  workOn
} from './bulk.fixture.ts'
import { applyRetention } from '../retention/figures.ts'
import { bulkJobs, bulkQueues, bulkRetention, bulkRoutes } from './index.ts'
import { bulkRows, bulkRuns } from './tables.ts'
import { isLong } from '../../../../../scripts/testing/tier.ts'

useBulkShop()

describe('working on a run', () => {
  test('does each row as the administrator who asked, and records the result of each', async () => {
    work.run = async (unit, id) => {
      unit.audit('order.check', id)
      if (id === 2) return refuse('order_busy')
      if (id === 3) return refuse('bulk_too_many', { params: { max: 3 } })
      if (id === 4) return refuse('conflict', { msg: 'A sentence of its own' })
      if (id === 5) throw new Error('a bug')
      return ok(null)
    }
    const id = await started(numbers(6))
    expect(await workOn(id)).toBe(false)
    expect(await runOf(id)).toMatchObject({ state: 'done', total: 6, done: 6, succeeded: 2, refused: 4, reason: null })
    expect((await rowsOf(id)).data).toMatchObject([
      { id: 1, state: 'succeeded', reason: null, msg: null },
      { id: 2, state: 'refused', reason: 'order_busy', params: {}, msg: expect.stringContaining('Another action') },
      {
        id: 3,
        state: 'refused',
        reason: 'bulk_too_many',
        params: { max: 3 },
        msg: 'At most 3 rows can be changed at once'
      },
      { id: 4, state: 'refused', reason: 'conflict', msg: 'A sentence of its own' },
      { id: 5, state: 'refused', reason: 'internal' },
      { id: 6, state: 'succeeded' }
    ])
    expect(await rowsOf(id, '&state=refused')).toMatchObject({
      total: 4,
      data: [{ id: 2 }, { id: 3 }, { id: 4 }, { id: 5 }]
    })
    expect(await rowsOf(id, '&state=pending')).toMatchObject({ total: 0, data: [] })
    // A refused row's work is rolled back, with its audit entry.
    expect(await marks()).toEqual([1, 6])
    const { rows } = await shop.ctx.db.execute(
      sql`select actor_id, actor_name, host(ip) as ip, target_id from audit_log where action = 'order.check'
          and actor_id = ${admin.user.id} order by id`
    )
    const by = { actor_id: admin.user.id, actor_name: admin.user.username, ip: '127.0.0.1' }
    expect(rows).toEqual([
      { ...by, target_id: '1' },
      { ...by, target_id: '6' }
    ])
    expect(await audited(id)).toHaveLength(1)
  })

  test('once more changes nothing', async () => {
    const id = await started([1, 2])
    await workOn(id)
    const before = await runOf(id)
    expect(await workOn(id)).toBe(false)
    expect(await runOf(id)).toEqual(before)
    expect(await marks()).toEqual([1, 2])
    expect(await workOn(987_654)).toBe(false)
  })

  test('gives way after its time and continues where it stopped', async () => {
    const id = await started(numbers(5))
    let turns = 1
    while (await workOn(id, { sliceMs: 0 })) turns++
    expect(turns).toBe(6)
    expect(await marks()).toEqual(numbers(5))
    expect(await runOf(id)).toMatchObject({ state: 'done', succeeded: 5 })
  })

  test('two workers at once do each row once', async () => {
    const id = await started(numbers(60))
    await Promise.all([workOn(id), workOn(id)])
    expect(await marks()).toEqual(numbers(60))
    expect(await runOf(id)).toMatchObject({ state: 'done', succeeded: 60, refused: 0 })
  })

  test('refused rows are counted once by two workers', async () => {
    work.run = async () => refuse('order_busy')
    const id = await started(numbers(60))
    await Promise.all([workOn(id), workOn(id)])
    expect(await runOf(id)).toMatchObject({ state: 'done', succeeded: 0, refused: 60 })
    expect(await marks()).toEqual([])
  })

  test.runIf(isLong)(
    'after a worker was killed each row is done exactly once',
    async () => {
      const count = 300
      const id = await started(numbers(count))
      for (const until of [20, 60]) {
        const worker = workerProcess(shop.ctx, new URL('./worker.fixture.ts', import.meta.url), id)
        const ended = once(worker, 'exit')
        await vi.waitFor(async () => expect((await marks()).length).toBeGreaterThan(until), {
          timeout: 60_000,
          interval: 5
        })
        worker.kill('SIGKILL')
        expect(await ended).toEqual([null, 'SIGKILL'])
      }
      const before = await marks()
      expect(before.length).toBeLessThan(count)
      await vi.waitFor(async () => {
        await workOn(id)
        expect(await runOf(id)).toMatchObject({ state: 'done' })
      }, 60_000)
      expect(await marks()).toEqual(numbers(count))
      expect(await runOf(id)).toMatchObject({ total: count, succeeded: count, refused: 0 })
    },
    240_000
  )

  test('a row whose connection is cut is left to be done, and the rows after it are not kept waiting', async () => {
    const id = await started(numbers(3))
    let cut = false
    work.run = async ({ tx }, row) => {
      if (row === 2 && !cut) {
        cut = true
        await tx.execute(sql`select pg_terminate_backend(pg_backend_pid())`)
      }
      return ok(null)
    }
    await expect(workOn(id)).rejects.toThrow()
    expect(await runOf(id)).toMatchObject({ state: 'running', done: 2 })
    expect(await marks()).toEqual([1, 3])
    await workOn(id)
    expect(await marks()).toEqual([1, 2, 3])
    expect(await runOf(id)).toMatchObject({ state: 'done', succeeded: 3 })
  })

  test('a database that stays away ends the attempt after some rows', async () => {
    const id = await started(numbers(50))
    const tried: number[] = []
    work.run = async ({ tx }, row) => {
      tried.push(row)
      await tx.execute(sql`select pg_terminate_backend(pg_backend_pid())`)
      return ok(null)
    }
    await expect(workOn(id)).rejects.toThrow()
    expect(tried).toEqual(numbers(5))
    expect(await runOf(id)).toMatchObject({ state: 'running', done: 0 })
  })

  test('stops before the next row when it is cancelled', async () => {
    const id = await started(numbers(10))
    work.run = async (_unit, row) => {
      if (row === 4) expect(await admin.post(`/api/bulk/${id}/cancel/`)).toMatchObject({ code: 2000 })
      return ok(null)
    }
    expect(await workOn(id)).toBe(false)
    expect(await marks()).toEqual([1, 2, 3, 4])
    const run = await runOf(id)
    expect(run).toMatchObject({ state: 'cancelled', total: 10, done: 4, succeeded: 4 })
    expect(run.ended_at).not.toBeNull()
    expect(await rowsOf(id, '&state=pending')).toMatchObject({ total: 6 })
    expect(await workOn(id)).toBe(false)
    expect(await marks()).toEqual([1, 2, 3, 4])
    // A repeat changes nothing.
    expect(await admin.post(`/api/bulk/${id}/cancel/`)).toMatchObject({ code: 2000 })
    expect((await audited(id)).map(entry => entry['action'])).toEqual(['bulk_run.start', 'bulk_run.cancel'])
  })

  test('one that has not begun is cancelled at once, one that has ended is not', async () => {
    const waiting = await started([1])
    await admin.post(`/api/bulk/${waiting}/cancel/`)
    await workOn(waiting)
    expect(await marks()).toEqual([])
    const finished = await started([1])
    await workOn(finished)
    expect(await admin.post(`/api/bulk/${finished}/cancel/`)).toMatchObject({
      code: 409,
      data: { reason: 'already_over' }
    })
    expect(await admin.post('/api/bulk/987654/cancel/')).toMatchObject({ code: 404 })
  })

  test.each([
    ['was banned', { isActive: false }],
    ['is no administrator any more', { isSuperuser: false }]
  ])('stops as failed when the administrator who asked %s', async (_what, change) => {
    const id = await started(numbers(6))
    work.run = async (unit, row) => {
      if (row === 3) await unit.tx.update(users).set(change).where(eq(users.id, admin.user.id))
      return ok(null)
    }
    const { username } = admin.user
    expect(await workOn(id)).toBe(false)
    await useNewAdmin()
    expect(await marks()).toEqual([1, 2, 3])
    expect(await runOf(id)).toMatchObject({
      state: 'failed',
      succeeded: 3,
      reason: 'bulk_not_allowed',
      params: { username },
      msg: `Stopped, because ${username} is no longer an active operator`
    })
    expect(await workOn(id)).toBe(false)
    expect(await marks()).toEqual([1, 2, 3])
  })

  test.each([
    ['done', ok(null)],
    ['refused', refuse('order_busy')]
  ])('tells of its progress a few times a second, and of its end: rows are %s', async (_what, result) => {
    work.run = async () => result
    const published: number[] = []
    const id = await started(numbers(60))
    const end = shop.ctx.changes.subscribe(event => {
      const hits = event?.changes.filter(change => change.resource === 'bulk_run' && change.id === id) ?? []
      if (hits.length > 0) published.push(performance.now())
    })
    const began = performance.now()
    await workOn(id)
    const took = performance.now() - began
    await vi.waitFor(() => expect(published.at(-1)).toBeGreaterThan(began + took), { timeout: 30_000 })
    end()
    expect(published.length).toBeLessThanOrEqual(took / 300 + 4)
  })
})

describe('jobs', () => {
  const [runJob, resume] = bulkJobs(actions)
  const call = (job: typeof runJob, data: object) => job?.run(shop.ctx, data as never, 'test')

  test('take up at the start what a process left behind', async () => {
    const id = await started([1])
    await shop.ctx.db.execute(sql`delete from pgboss.job where name = 'run-bulk-action'`)
    expect(resume).toMatchObject({ atStart: true, cron: expect.any(String) })
    await call(resume, {})
    const { rows } = await shop.ctx.db.execute<{ data: { runId: number } }>(
      sql`select data from pgboss.job where name = 'run-bulk-action'`
    )
    expect(rows.map(({ data }) => data.runId)).toContain(id)
    await call(runJob, { runId: id })
    expect(await marks()).toEqual([1])
  })

  test('remove what ended 30 days ago, with its rows', async () => {
    const [old, fresh, open] = [await started([1]), await started([2]), await started([3])]
    await workOn(old)
    await workOn(fresh)
    const ago = new Date(shop.ctx.now().getTime() - 30 * DAY - 1000)
    await shop.ctx.db.update(bulkRuns).set({ endedAt: ago }).where(eq(bulkRuns.id, old))
    await shop.ctx.db.update(bulkRuns).set({ createdAt: ago }).where(eq(bulkRuns.id, open))
    await applyRetention(shop.ctx, bulkRetention)
    expect(await admin.get(`/api/bulk/${old}/`)).toMatchObject({ code: 404 })
    expect(await shop.ctx.db.select().from(bulkRows).where(eq(bulkRows.runId, old))).toEqual([])
    for (const id of [fresh, open]) expect(await admin.get(`/api/bulk/${id}/`)).toMatchObject({ code: 2000 })
  })
})

test('a worker that finds a run in the queue does all of it', async () => {
  const working = await startTestShop({
    routes: (mount, ctx) => bulkRoutes(mount, ctx, actions),
    queues: bulkQueues,
    workers: ctx => startJobs(ctx, bulkJobs(actions))
  })
  try {
    await working.ctx.db.execute(sql`create table marks (row_id bigint not null)`)
    const boss = await working.admin()
    const body = { action: 'order.check', selection: { ids: numbers(20) } }
    const { data } = await boss.post<BulkRun>('/api/bulk/', body)
    await vi.waitFor(
      async () =>
        expect((await boss.get(`/api/bulk/${data.id}/`)).data).toMatchObject({ state: 'done', succeeded: 20 }),
      { timeout: 30_000 }
    )
  } finally {
    await working.close()
  }
})
