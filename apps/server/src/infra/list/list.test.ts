import { once } from 'node:events'
import { eq, sql } from '../db/drizzle.ts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../testing/database.ts'
import { closeDatabase, openDatabase, type Database } from '../db/client.ts'
import { auditLog } from '../tables.ts'
import { among, csvOf, defineList, idsByText, matchingIds, paginate, type ListInput } from './index.ts'

type Query = ListInput<'id' | 'action' | 'at'> & { actor?: string | undefined; targets?: string[] | undefined }
type Entry = { id: number; action: string; actor: string }

const list = defineList<Query, Entry>({
  name: 'entries',
  table: auditLog,
  id: auditLog.id,
  sort: { id: auditLog.id, action: { by: auditLog.action, ties: 'asc' }, at: auditLog.at },
  match: (_db, { search, actor, targets }) => ({
    where: [actor === undefined ? undefined : eq(auditLog.actorName, actor)],
    text: search ? { in: auditLog.action, term: search } : undefined,
    ...(targets ? { anyOf: [{ column: auditLog.targetId, among: targets }] } : {})
  }),
  load: async (db, ids) =>
    (await db.select().from(auditLog).where(among(auditLog.id, ids))).map(row => ({
      id: row.id,
      action: row.action,
      actor: row.actorName
    }))
})

const NOW = new Date('2026-05-15T12:00:00Z')
let database: TestDatabase
let db: Database

beforeAll(async () => {
  database = await createTestDatabase()
  db = openDatabase(database.url)
})
afterAll(async () => {
  await closeDatabase(db)
  await database.drop()
})
afterEach(() => db.execute(sql`truncate audit_log`))

/** Repeats `actions`, so that many rows have equal sort values. */
const insert = (rows: number, { actor = 'a', actions = ['edit', 'delete', 'create'] } = {}) =>
  db.execute(sql`insert into audit_log (actor_name, action, target_type, target_id, at)
    select ${actor}, (${sql.param(actions)}::text[])[1 + n % ${actions.length}::int], 'order', (n % 7)::text,
      timestamptz '2026-01-01' + (n % 5) * interval '1 microsecond'
    from generate_series(1, ${rows}::int) n`)

const query = (asked: Partial<Query> = {}): Query => ({
  limit: 10,
  offset: 0,
  sort_by: 'id',
  sort_order: 'desc',
  ...asked
})
const page = async (asked: Partial<Query> = {}) => {
  const found = await paginate(db, list, query(asked))
  if (!found.ok) throw new Error(JSON.stringify(found))
  return found.data
}
const idsOf = ({ data }: { data: { id: number }[] }) => data.map(({ id }) => id)

/** Reads all pages by cursor. */
async function follow(asked: Partial<Query>, between: () => Promise<unknown> = async () => undefined) {
  const ids: number[] = []
  let after: string | undefined
  for (let pages = 0; pages < 1000; pages++) {
    const found = await page({ ...asked, ...(after === undefined ? {} : { after }) })
    ids.push(...idsOf(found))
    if (found.next === null) return ids
    after = found.next
    await between()
  }
  throw new Error('it never ends')
}

test('equal rows keep one order: by number and by cursor the same, each once, in every sorting', async () => {
  await insert(83)
  for (const sort_by of ['id', 'action', 'at'] as const) {
    for (const sort_order of ['asc', 'desc'] as const) {
      const whole = idsOf(await page({ limit: 100, sort_by, sort_order }))
      expect(new Set(whole).size).toBe(83)
      expect(await follow({ limit: 9, sort_by, sort_order }), `${sort_by} ${sort_order}`).toEqual(whole)
      const numbered = await Promise.all([0, 30, 60].map(offset => page({ limit: 30, offset, sort_by, sort_order })))
      expect(numbered.flatMap(idsOf)).toEqual(whole)
      expect(await matchingIds(db, list, query({ sort_by, sort_order }), { limit: 100 })).toEqual(whole)
    }
  }
})

test('equal rows are ordered by id, in the direction of the sorting or as the list says', async () => {
  await insert(12, { actions: ['same'] })
  const ascending = idsOf(await page({ limit: 20, sort_order: 'asc' }))
  expect(idsOf(await page({ limit: 20, sort_by: 'action', sort_order: 'desc' }))).toEqual(ascending)
  await db.execute(sql`update audit_log set at = now()`)
  expect(idsOf(await page({ limit: 20, sort_by: 'at', sort_order: 'desc' }))).toEqual(ascending.toReversed())
})

test('reading all pages gives every row once while others are added', async () => {
  await insert(60)
  const before = idsOf(await page({ limit: 100 }))
  for (const sort_by of ['id', 'action'] as const) {
    const seen = await follow({ limit: 7, sort_by }, () => insert(3))
    expect(new Set(seen).size).toBe(seen.length)
    expect(
      before.filter(id => !seen.includes(id)),
      sort_by
    ).toEqual([])
  }
})

test('a cursor still works after its row was removed', async () => {
  await insert(30)
  const first = await page({ limit: 10 })
  await db.delete(auditLog).where(among(auditLog.id, idsOf(first)))
  const rest = await page({ limit: 30, ...(first.next === null ? {} : { after: first.next }) })
  expect(rest.data).toHaveLength(20)
})

test('a cursor is valid for its list and its order only; any other is refused', async () => {
  await insert(30)
  const { next } = await page({ sort_by: 'at' })
  expect(next).not.toBeNull()
  const forged = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url')
  const bad: Partial<Query>[] = [
    { after: next ?? '', sort_by: 'id' },
    { after: next ?? '', sort_by: 'at', sort_order: 'asc' },
    { after: 'x' },
    { after: '' },
    { after: forged(['others', 'id', 'desc', '1', 1]) },
    { after: forged(['entries', 'id', 'desc', '1', 1.5]) },
    { after: forged(['entries', 'id', 'desc', '1', '1 or 1=1']) },
    { after: forged({}) },
    { sort_by: 'at', after: forged(['entries', 'at', 'desc', 'yesterday noon', 1]) },
    { sort_by: 'action', after: forged(['entries', 'action', 'desc', 'a\0b', 1]) }
  ]
  for (const asked of bad) {
    const answer = await paginate(db, list, query(asked))
    expect(answer, JSON.stringify(asked)).toMatchObject({
      ok: false,
      reason: 'bad_cursor',
      data: { errors: { after: expect.any(String) } }
    })
  }
  expect((await page({ sort_by: 'at', after: next ?? '' })).data).toHaveLength(10)
})

test('beyond the end there is nothing, and the total stays the same', async () => {
  await insert(25)
  expect(await page({ offset: 25 })).toMatchObject({ data: [], total: 25, total_exact: true, next: null })
  expect(await page({ offset: 999_999_999 })).toMatchObject({ data: [], total: 25, total_exact: true })
  expect(await page({ offset: 20 })).toMatchObject({ total: 25, next: null })
  expect(await page({ actor: 'nobody' })).toMatchObject({ data: [], total: 0, total_exact: true, next: null })
})

test('a total is exact up to 10,000 and a lower bound beyond', async () => {
  await insert(10_000)
  expect(await page()).toMatchObject({ total: 10_000, total_exact: true })
  await insert(1)
  expect(await page()).toMatchObject({ total: 10_000, total_exact: false })
  expect(await page({ limit: 9, targets: ['0', '1'] })).toMatchObject({ total: 2857 + 1, total_exact: true })
  expect(await page({ targets: ['0', '1', '2', '3', '4', '5', '6'] })).toMatchObject({
    total: 10_000,
    total_exact: false
  })
  expect(await page({ targets: [] })).toMatchObject({ total: 0, total_exact: true, next: null })
})

test('one row is found by its id, if it matches the rest of the query', async () => {
  await insert(30)
  const id = idsOf(await page({ offset: 20, limit: 1 }))[0] ?? 0
  expect(await page({ id, limit: 1 })).toMatchObject({ data: [{ id }], total: 1, total_exact: true, next: null })
  expect(await page({ id, actor: 'nobody' })).toMatchObject({ data: [], total: 0 })
  expect(await page({ id: 9_999_999_999 })).toMatchObject({ data: [], total: 0 })
  expect(await page({ id, search: 'nothing like it' })).toMatchObject({ data: [], total: 0 })
  expect(await page({ id, targets: [] })).toMatchObject({ data: [], total: 0 })
  expect(await matchingIds(db, list, query({ id }), { limit: 100 })).toEqual([id])
})

test('rows of several values are one list', async () => {
  await insert(70)
  const asked = { targets: ['3', '5', '5', 'none'], limit: 6 }
  const { rows } = await db.execute<{ id: number }>(
    sql`select id from audit_log where target_id in ('3', '5') order by action desc, id`
  )
  const expected = rows.map(({ id }) => id)
  expect(await follow({ ...asked, sort_by: 'action' })).toEqual(expected)
  expect(idsOf(await page({ ...asked, sort_by: 'action', offset: 6 }))).toEqual(expected.slice(6, 12))
})

test('a text is found anywhere, common or rare, with its wildcards taken literally', async () => {
  await insert(1, { actions: ['needle 50%_off'] })
  await insert(9000)
  await db.execute(sql`analyze audit_log`)
  expect(await page({ search: 'NEEDLE' })).toMatchObject({
    data: [{ action: 'needle 50%_off' }],
    total: 1,
    total_exact: true
  })
  expect((await page({ search: '50%_' })).data).toHaveLength(1)
  expect(await page({ search: 'n__d' })).toMatchObject({ data: [], total: 0, total_exact: true })
  expect(await page({ search: 'edit' })).toMatchObject({ total: 3000, total_exact: true })
  await insert(21_000)
  await db.execute(sql`analyze audit_log`)
  const common = await page({ search: 'edit' })
  expect(common.data).toHaveLength(10)
  expect(common.total_exact).toBe(false)
  expect(common.total).toBeGreaterThan(500)
  expect(common.total).toBeLessThan(10_000)
  const every = await follow({ search: 'edit', limit: 499 })
  expect(every).toHaveLength(10_000)
  expect(every).toEqual(every.toSorted((a, b) => b - a))
  const source = { table: auditLog, id: auditLog.id, text: auditLog.action }
  expect(await idsByText(db, source, 'edit', 5)).toEqual(every.slice(0, 5))
  expect(await idsByText(db, source, 'needle', 5)).toHaveLength(1)
})

async function textOf(content: AsyncIterable<Buffer | string>): Promise<string> {
  let text = ''
  for await (const chunk of content) text += String(chunk)
  return text
}

test('the file contains the same as the pages, in their order, over more than one batch', async () => {
  await insert(2500)
  await insert(300, { actor: 'b' })
  for (const asked of [{ sort_by: 'action' }, { actor: 'b' }, { search: 'edit', sort_order: 'asc' }] as const) {
    const file = await csvOf(db, list, query({ ...asked, limit: 3, offset: 5 }), {
      columns: ['id', 'action'],
      now: NOW
    })
    if (!file.ok) throw new Error('no file')
    const [head, ...lines] = (await textOf(file.data.content)).trimEnd().split('\r\n')
    expect(head).toBe('id,action')
    const whole = await page({ ...asked, limit: 10_000 })
    expect(lines).toEqual(whole.data.map(({ id, action }) => `${id},${action}`))
  }
})

test('each row is in the file once, even if its sort value changes in the meantime', async () => {
  await insert(4000)
  const ids = new Set(idsOf(await page({ limit: 10_000 })))
  const sortings: Partial<Query>[] = [
    { sort_by: 'action' },
    { sort_by: 'at', sort_order: 'asc' },
    { sort_by: 'action', search: 'e', targets: ['0', '1', '2', '3', '4', '5', '6'] },
    { sort_by: 'id' }
  ]
  for (const asked of sortings) {
    let [at, loaded] = [0, 0]
    const changing = {
      ...list,
      load: async (executor: Parameters<typeof list.load>[0], some: number[]) => {
        const items = await list.load(executor, some)
        loaded += items.length
        at += 1
        // Reading by sort value would repeat or skip these rows.
        const now = at % 2 === 0 ? 'a' : 'z'
        await executor.execute(sql`update audit_log set action = ${`${now}e`}, at = at + ${`${at * 10} days`}::interval
          where id % 3 = ${at % 3}`)
        return items
      }
    }
    const file = await csvOf(db, changing, query(asked), { columns: ['id'], now: NOW })
    if (!file.ok) throw new Error('no file')
    const [, ...lines] = (await textOf(file.data.content)).trimEnd().split('\r\n')
    expect(lines).toHaveLength(4000)
    expect(new Set(lines.map(Number)), asked.sort_by).toEqual(ids)
    expect(loaded).toBe(4000)
  }
})

test('a cell that a spreadsheet would run as a formula is made harmless', async () => {
  await insert(1, { actions: ['=1+1', '@sum'] })
  const file = await csvOf(db, list, query(), { columns: ['action'], now: NOW })
  if (!file.ok) throw new Error('no file')
  expect(await textOf(file.data.content)).toMatch(/^action\r\n'(=1\+1|@sum)\r\n$/)
})

test('a client that leaves ends the reading; a bad cursor is refused before anything is sent', async () => {
  await insert(20_000)
  let batches = 0
  const counted = {
    ...list,
    load: (executor: Parameters<typeof list.load>[0], ids: number[]) => (batches++, list.load(executor, ids))
  }
  const file = await csvOf(db, counted, query(), { columns: ['id'], now: NOW })
  if (!file.ok) throw new Error('no file')
  await once(file.data.content, 'readable')
  file.data.content.destroy()
  await once(file.data.content, 'close')
  // This query lets reads that are still running finish.
  await db.execute(sql`select 1`)
  expect(batches).toBeLessThan(10)
  expect(await csvOf(db, list, query({ after: 'x' }), { columns: ['id'], now: NOW })).toMatchObject({
    ok: false
  })
})
