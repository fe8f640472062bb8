import { refuse, type BulkPlan, type BulkRow, type BulkRun, type Page } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { describe, expect, test } from 'vitest'
import { DAY } from '../../infra/clock.ts'
import { ok } from '../../infra/result.ts'
import { users } from '../accounts/tables.ts'
import { userActor } from '../../testing/session.ts'
import {
  actions,
  admin,
  audited,
  marks,
  numbers,
  rowsOf,
  runOf,
  shop,
  start,
  started,
  useBulkShop,
  work,
  workOn
} from './bulk.fixture.ts'
import { bulkRuns } from './tables.ts'
import { planRun } from './start-run.ts'
import { isLong } from '../../../../../scripts/testing/tier.ts'

useBulkShop()

/** The limit in the long tier. */
const MOST = isLong ? 100_000 : 10_000

describe('starting a run', () => {
  test('writes down its rows with their names, one entry in the audit log, and a job', async () => {
    const reply = await start([3, 1, 3, 2], 'order.reset')
    expect(reply).toMatchObject({
      code: 2000,
      data: { action: 'order.reset', state: 'queued', total: 3, done: 0, username: admin.user.username, ended_at: null }
    })
    const { id } = reply.data
    expect(await runOf(id)).toEqual(reply.data)
    expect(await rowsOf(id)).toMatchObject({
      total: 3,
      data: numbers(3).map(row => ({
        id: row,
        label: `row ${row}`,
        state: 'pending',
        reason: null,
        params: {},
        msg: null
      }))
    })
    expect(await audited(id)).toEqual([
      { action: 'bulk_run.start', actor_name: admin.user.username, after: { action: 'order.reset', rows: 3 } }
    ])
    const { rows } = await shop.ctx.db.execute(
      sql`select data from pgboss.job where name = 'run-bulk-action' and singleton_key = ${String(id)}`
    )
    expect(rows).toEqual([{ data: { runId: id } }])
    expect(await marks()).toEqual([])
  })

  test('asked for again before it has ended is the same run, also many times at once', async () => {
    const asked = await Promise.all(Array.from({ length: 8 }, () => start([3, 1, 2])))
    const [id] = asked.map(reply => reply.data.id)
    expect(new Set(asked.map(reply => reply.data.id))).toEqual(new Set([id]))
    expect(await audited(id ?? 0)).toHaveLength(1)
    // Other rows are another run.
    expect((await start([1, 2])).data.id).not.toBe(id)
    expect((await start([1, 2, 4])).data.id).not.toBe(id)
    await workOn(id ?? 0)
    expect(await runOf(id ?? 0)).toMatchObject({ state: 'done', succeeded: 3 })
    expect((await start([1, 2, 3])).data.id).not.toBe(id)
  })

  test('takes everything that a query matches, and names the query in the audit log', async () => {
    const asked: unknown[] = []
    work.ids = async (_db, query, limit) => {
      asked.push([query, limit])
      return ok([9, 8])
    }
    work.labels = async () => new Map([[8, 'eight']])
    const reply = await start({ query: { search: 'x' }, expected: 2 })
    expect(asked).toEqual([[{ search: 'x' }, 100_001]])
    expect((await rowsOf(reply.data.id)).data.map(row => row.label)).toEqual(['eight', '#9'])
    expect(await audited(reply.data.id)).toMatchObject([{ after: { rows: 2, query: { search: 'x' } } }])
  })

  test('is refused if nothing matches, far more than was seen, or too much', async () => {
    work.ids = async () => ok([])
    expect(await start({ query: {} })).toMatchObject({ code: 409, data: { reason: 'bulk_none_match' } })
    work.ids = async (_db, _query, limit) => ok(numbers(limit))
    expect(await start({ query: {} })).toMatchObject({
      code: 400,
      data: { reason: 'bulk_too_many', params: { max: 100_000 } },
      msg: 'At most 100000 rows can be changed at once'
    })
    work.ids = async () => ok(numbers(111))
    expect(await start({ query: {}, expected: 100 })).toMatchObject({
      code: 409,
      data: { reason: 'bulk_other_match', params: { count: 111 } }
    })
    expect(await start({ query: {}, expected: 101 })).toMatchObject({ code: 2000 })
    // Fewer rows than confirmed are always accepted.
    expect(await start({ query: {}, expected: 5000 })).toMatchObject({ code: 2000 })
    let asked: Date | undefined
    work.ids = async (_db, _query, _limit, now) => {
      asked = now
      return ok([1])
    }
    shop.advance(DAY)
    expect(await start({ query: {} })).toMatchObject({ code: 2000 })
    // The shop's time, which tests move, not the computer's.
    expect(asked?.getTime()).toBeGreaterThan(Date.now() + DAY / 2)
    work.ids = async () => refuse('invalid', { data: { errors: { 'selection.query.x': 'no' } } })
    expect(await start({ query: { x: '1' } })).toMatchObject({
      code: 400,
      data: { errors: { 'selection.query.x': 'no' } }
    })
  })

  test.each(['order.change', 'order.reset', 'order.deliver', 'order.delete', 'gift_card.delete'] as const)(
    'of %s takes not one row more than was asked about',
    async action => {
      const query = { search: action }
      work.ids = async () => ok(numbers(12))
      const [before] = await shop.ctx.db.select({ count: sql<number>`count(*)` }).from(bulkRuns)
      expect(await start({ query, expected: 11 }, action)).toMatchObject({
        code: 409,
        data: { reason: 'bulk_other_match', params: { count: 12 } }
      })
      const [after] = await shop.ctx.db.select({ count: sql<number>`count(*)` }).from(bulkRuns)
      expect(after).toEqual(before)
      // The confirmation has the current number.
      const order = { action, selection: { query, expected: 11 } }
      expect(await admin.post('/api/bulk/plan/', order)).toMatchObject({ code: 2000, data: { rows: 12 } })
      expect(await start({ query, expected: 12 }, action)).toMatchObject({ code: 2000, data: { total: 12 } })
      expect(await start({ query, expected: 13 }, action)).toMatchObject({ code: 2000, data: { total: 12 } })
    }
  )

  test.each(['order.change', 'order.reset', 'order.deliver', 'order.delete', 'gift_card.delete'] as const)(
    'of %s takes no other rows than were asked about, though as many went as came',
    async action => {
      const query = { search: action }
      const planned = () => admin.post<BulkPlan>('/api/bulk/plan/', { action, selection: { query } })
      work.ids = async () => ok([3, 2, 1])
      const { rows: expected, version } = (await planned()).data
      expect(await start({ query, expected, version: 'another' }, action)).toMatchObject({ code: 409 })
      work.ids = async () => ok([4, 3, 2])
      expect(await start({ query, expected, version }, action)).toMatchObject({
        code: 409,
        data: { reason: 'bulk_other_match' }
      })
      // Missing rows are reported by number, like additional ones.
      work.ids = async () => ok([3, 2])
      expect(await start({ query, expected, version }, action)).toMatchObject({
        code: 409,
        data: { reason: 'bulk_other_match', params: { count: 2 } }
      })
      // The order of the rows does not matter.
      work.ids = async () => ok([1, 2, 3])
      expect(await planned()).toMatchObject({ data: { rows: 3, version } })
      expect(await start({ query, expected, version }, action)).toMatchObject({ code: 2000, data: { total: 3 } })
    }
  )

  test('that changes nothing for customers takes what matches now, regardless of the confirmed number', async () => {
    work.ids = async () => ok([4, 3, 2])
    expect(await start({ query: {}, expected: 3, version: 'another' }, 'order.check')).toMatchObject({ code: 2000 })
  })

  test('is counted before, by those who may start it, all rows that match', async () => {
    work.ids = async () => ok(numbers(27_304))
    const order = { action: 'order.check', selection: { query: { search: 'x' } } }
    expect(await admin.post('/api/bulk/plan/', order)).toMatchObject({ code: 2000, data: { rows: 27_304 } })
    const ticked = { action: 'order.check', selection: { ids: [3, 1, 3] } }
    expect(await admin.post('/api/bulk/plan/', ticked)).toMatchObject({ code: 2000, data: { rows: 2 } })
    work.ids = async () => ok(numbers(100_001))
    expect(await admin.post('/api/bulk/plan/', order)).toMatchObject({ code: 400, data: { reason: 'bulk_too_many' } })
    const viewer = await shop.admin()
    await shop.ctx.db.update(users).set({ operatorRole: 'viewer' }).where(eq(users.id, viewer.user.id))
    expect(await viewer.post('/api/bulk/plan/', order)).toMatchObject({ code: 403 })
  })

  test('is planned in time, or without what becomes of its rows', async () => {
    const order = { action: 'order.check', selection: { ids: [3, 1] } } as const
    const outcomes = { effects: [{ effect: 'done', rows: 2 }], refusals: [] } as const
    work.plan = async (db, ids) => {
      await db.execute(sql`select ${sql.param(ids)}::bigint[]`)
      return structuredClone(outcomes) as never
    }
    expect(await admin.post('/api/bulk/plan/', order)).toMatchObject({ data: { rows: 2, outcomes } })
    work.plan = async db => {
      await db.execute(sql`select pg_sleep(60)`)
      return structuredClone(outcomes) as never
    }
    const by = userActor(admin.user.id, { isSuperuser: true })
    const selection = { ids: [3, 1] }
    expect(await planRun(shop.ctx, by, actions, { action: 'order.check', selection }, { planMs: 50 })).toMatchObject({
      data: { rows: 2, outcomes: null }
    })
  })

  test('is refused in the words of the specification if the action is unknown', async () => {
    expect(await admin.post('/api/bulk/', { action: 'order.explode', selection: { ids: [1] } })).toMatchObject({
      code: 400,
      data: { errors: { action: '未知操作类型' } }
    })
  })

  test.each(['/api/bulk/', '/api/bulk/plan/'])('says at %s that more ids were ticked than can be', async path => {
    const asked = (count: number) =>
      admin.post(path, { action: 'order.check', selection: { ids: numbers(count).map(String) } })
    expect(await asked(10_001)).toMatchObject({ code: 400, data: { errors: { 'selection.ids': 'Too many ids' } } })
    expect(await asked(10_000)).toMatchObject({ code: 2000 })
  })

  test.each([
    ['no rows', { action: 'order.check', selection: { ids: [] } }],
    ['no selection', { action: 'order.check' }],
    ['an unknown action', { action: 'order.explode', selection: { ids: [1] } }],
    ['ids that cannot be', { action: 'order.check', selection: { ids: [0, -1, 1.5] } }],
    ['more ids than can be ticked', { action: 'order.check', selection: { ids: numbers(10_001) } }],
    ['what cannot be stored', { action: 'order.check', selection: { query: { search: 'a\0b' } } }],
    ['a name that cannot be stored', { action: 'order.check', selection: { query: { '\ud800': 'a' } } }]
  ])('is refused: %s', async (_what, body) => {
    const [before] = await shop.ctx.db.select({ count: sql<number>`count(*)` }).from(bulkRuns)
    expect(await admin.post('/api/bulk/', body)).toMatchObject({ code: 400 })
    const [after] = await shop.ctx.db.select({ count: sql<number>`count(*)` }).from(bulkRuns)
    expect(after).toEqual(before)
  })

  test(`takes ${MOST} rows`, async () => {
    work.ids = async () => ok(numbers(MOST))
    const reply = await start({ query: {} })
    expect(reply).toMatchObject({ code: 2000, data: { total: MOST } })
    const page = await admin.get<Page<BulkRow>>(`/api/bulk/${reply.data.id}/rows/?limit=2&offset=${MOST - 1}`)
    expect(page.data).toMatchObject({ total: MOST, data: [{ id: MOST }] })
    await admin.post(`/api/bulk/${reply.data.id}/cancel/`)
  })
})

test('runs are listed newest first', async () => {
  const [first, second] = [await started([1]), await started([2])]
  const page = await admin.get<Page<BulkRun>>('/api/bulk/?limit=2')
  expect(page.data).toMatchObject({ limit: 2, offset: 0, total_exact: true, data: [{ id: second }, { id: first }] })
  expect(await admin.get('/api/bulk/987654/rows/')).toMatchObject({ code: 404 })
})
