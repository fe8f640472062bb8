import type { BulkAction, BulkRow, BulkRun, Page } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { ok } from '../../infra/result.ts'
import type { BulkWork } from './actions.ts'
import { eachAction } from './each-action.fixture.ts'
import { bulkQueues, bulkRoutes } from './index.ts'
import { workOnRun } from './work-on-run.ts'

export let shop: TestShop
export let admin: Awaited<ReturnType<TestShop['admin']>>
/** The actions' work as the test sets it. Every row is marked before. */
export const work: Partial<BulkWork> = {}

/** Marks each row in a table that accepts the same row twice. */
const marking: BulkWork = {
  ids: (db, query, limit, now) => work.ids?.(db, query, limit, now) ?? Promise.resolve(ok([])),
  plan: (db, ids, asked) => work.plan?.(db, ids, asked) ?? Promise.resolve({ effects: [], refusals: [] }),
  labels: (db, ids) => work.labels?.(db, ids) ?? Promise.resolve(new Map(ids.map(id => [id, `row ${id}`]))),
  async run(unit, id, run) {
    await unit.tx.execute(sql`insert into marks (row_id) values (${id})`)
    return work.run ? work.run(unit, id, run) : ok(null)
  }
}
export const actions = eachAction(marking)

/** Starts a shop with the calls of bulk runs for a test file, with a new administrator for each test. */
export function useBulkShop(): void {
  beforeAll(async () => {
    shop = await startTestShop({ routes: (mount, ctx) => bulkRoutes(mount, ctx, actions), queues: bulkQueues })
    await shop.ctx.db.execute(sql`create table marks (row_id bigint not null)`)
  })
  beforeEach(async () => {
    await shop.ctx.db.execute(sql`truncate marks`)
    await useNewAdmin()
  })
  afterEach(() => {
    for (const name of Object.keys(work) as (keyof BulkWork)[]) delete work[name]
  })
  afterAll(() => shop?.close())
}

export async function useNewAdmin(): Promise<void> {
  admin = await shop.admin()
}

export const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

export async function start(
  ids: number[] | { query: Record<string, string>; expected?: number; version?: string },
  action: BulkAction = 'order.check'
) {
  const selection = Array.isArray(ids) ? { ids } : ids
  return admin.post<BulkRun>('/api/bulk/', { action, selection })
}
export async function started(ids: number[]): Promise<number> {
  const reply = await start(ids)
  expect(reply).toMatchObject({ code: 2000 })
  return reply.data.id
}
export const runOf = async (id: number) => (await admin.get<BulkRun>(`/api/bulk/${id}/`)).data
export const rowsOf = async (id: number, query = '') =>
  (await admin.get<Page<BulkRow>>(`/api/bulk/${id}/rows/?limit=1000${query}`)).data
export async function marks(): Promise<number[]> {
  const { rows } = await shop.ctx.db.execute<{ id: number }>(sql`select row_id as id from marks order by row_id`)
  return rows.map(({ id }) => id)
}
export const audited = async (runId: number) => {
  const { rows } = await shop.ctx.db.execute(
    sql`select action, actor_name, after from audit_log where target_type = 'bulk_run' and target_id = ${String(runId)} order by id`
  )
  return rows
}
export const workOn = (id: number, options = {}) => workOnRun(shop.ctx, actions, id, options)
