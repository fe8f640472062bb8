import { routes, type SyncRun } from '@netlet/contract'
import { and, desc, eq, sql } from '../../../infra/db/drizzle.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { control, launch, newDataDir, removeDataDir, secrets } from '../../../../../sandbox/src/testing/harness.ts'
import type { Sandbox } from '../../../../../sandbox/src/sandbox.ts'
import type { FeedEvent } from '../../../infra/change-feed.ts'
import { DAY } from '../../../infra/clock.ts'
import { lock } from '../../../infra/db/locks.ts'
import { auditLog } from '../../../infra/tables.ts'
import { startTestShop, type TestShop } from '../../../testing/shop.ts'
import { users } from '../../accounts/tables.ts'
import { commerceJobs } from '../../commerce/index.ts'
import { applyRetention } from '../../retention/figures.ts'
import { writeSettings } from '../../settings/index.ts'
import { catalogRoutes, forgetSyncActor, syncRetention } from '../index.ts'
import { catalogJobs } from '../jobs.ts'
import { addProduct } from '../products.fixture.ts'
import { runOf } from '../sync-runs.fixture.ts'
import { collections, products } from '../tables.ts'
import { syncRuns } from './tables.ts'
import { workOnSync } from './work.ts'
import { addRow } from '../../../testing/rows.ts'

const { catalog } = routes
const RUNS = catalog.startSync.path

let shop: TestShop
let sandbox: Sandbox
let dataDir: string
let admin: Awaited<ReturnType<TestShop['admin']>>
/** Runs while the platform delays a call; each test sets it. */
let whileWaiting: () => Promise<unknown> = async () => {}

beforeAll(async () => {
  // No workers run except those of the tests.
  shop = await startTestShop({
    routes: (mount, ctx, app) => catalogRoutes(mount, ctx, { app }),
    queues: [...catalogJobs, ...commerceJobs({} as never)].map(one => one.queue)
  })
  dataDir = await newDataDir()
  sandbox = await launch(dataDir, 'http://127.0.0.1:9')
  shop.ctx.platformLimits = { timeoutMs: 2000, sleep: () => whileWaiting() }
  await writeSettings(shop.ctx, {
    shopify_shop_url: sandbox.url,
    shopify_app_key: secrets.accessToken,
    shopify_api_secret: secrets.appSecret
  })
}, 60_000)
beforeEach(async () => {
  await shop.ctx.db.execute(
    sql`truncate catalog_sync_runs, catalog_syncs, collections, tags, product_collections, product_tags`
  )
  admin = await shop.admin()
})
afterEach(async () => {
  whileWaiting = async () => {}
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'none' })
})
afterAll(async () => {
  await shop.close()
  await sandbox.close()
  await removeDataDir(dataDir)
})

async function start(what: SyncRun['what'] = 'catalogue', by = admin): Promise<SyncRun> {
  const reply = await by.post<SyncRun>(RUNS, { what })
  if (reply.code !== 2000) throw new Error(reply.msg)
  return reply.data
}
async function ready(what: SyncRun['what'] = 'catalogue'): Promise<number> {
  const { id } = await start(what)
  await work(id)
  expect(await state(id)).toMatchObject({ state: 'ready' })
  return id
}
const work = (id: number) => workOnSync(shop.ctx, id)
const state = (id: number) => runOf(shop.ctx, id)
const apply = (id: number) => admin.post<SyncRun>(`${RUNS}${id}/apply/`, {})
const cancel = (id: number) => admin.post(`${RUNS}${id}/cancel/`, {})
const kept = async (id: number) => (await shop.ctx.db.select().from(syncRuns).where(eq(syncRuns.id, id)))[0]
const syncsBy = (id: number) =>
  shop.ctx.db.$count(auditLog, and(eq(auditLog.action, 'product.sync'), eq(auditLog.actorId, id)))
const taken = () => shop.ctx.db.$count(collections)
/** The platform delays one call, after so many others. */
const waitAfter = (after: number) => control(sandbox, 'POST', '/graphql/faults', { kind: 'throttled', after, next: 1 })

describe('asking for a sync', () => {
  test('many who ask at once get the same one', async () => {
    const other = await shop.admin()
    const runs = await Promise.all(Array.from({ length: 8 }, (_, nth) => start('catalogue', nth % 2 ? admin : other)))
    expect(new Set(runs.map(run => run.id)).size).toBe(1)
    expect(await shop.ctx.db.$count(syncRuns)).toBe(1)
    expect(runs[0]).toMatchObject({ state: 'reading', step: 'waiting', done: 0, total: null, ended_at: null })
    // Another kind has its own sync.
    expect((await start('tags')).id).not.toBe(runs[0]?.id)
    const shown = (await admin.get<SyncRun[]>(RUNS)).data
    expect(shown.map(run => run.what)).toEqual(['catalogue', 'tags'])
  })

  test('an unapplied plan is replaced by the next one, which has its own job', async () => {
    const first = await ready()
    const next = await start()
    expect(await state(first)).toMatchObject({ state: 'cancelled', ended_at: expect.any(String) })
    expect(next).toMatchObject({ state: 'reading' })
    const { rows } = await shop.ctx.db.execute(
      sql`select data from pgboss.job where name = 'sync-catalogue' and state = 'created'`
    )
    expect(rows.map(row => row['data'])).toContainEqual({ runId: next.id })
    expect((await apply(first)).status).toBe(409)
  })

  test('what is not there, or not that far, is refused', async () => {
    expect((await apply(987_654)).status).toBe(404)
    expect((await cancel(987_654)).status).toBe(404)
    expect((await admin.get(`${RUNS}987654/plan/`)).status).toBe(404)
    const { id } = await start()
    expect(await apply(id)).toMatchObject({ status: 409, data: { reason: 'stale' } })
    expect(await admin.get(`${RUNS}${id}/plan/`)).toMatchObject({ status: 409, data: { reason: 'stale' } })
  })
})

describe('reading', () => {
  test('tells everybody how far it is, of how much', async () => {
    const heard: FeedEvent[] = []
    const end = shop.ctx.changes.subscribe(event => void (event && heard.push(event)))
    const { id } = await start()
    const seen: SyncRun[] = []
    const told = () =>
      heard.flatMap(event => event.changes).filter(change => change.resource === 'catalog_sync' && change.id === id)
        .length
    let toldWhileReading = 0
    // Collections, tags and the count take one call each, so this is the second page.
    await waitAfter(4)
    whileWaiting = async () => {
      seen.push(await state(id))
      // Changes in quick succession are one event.
      await expect.poll(told, { timeout: 20_000 }).toBeGreaterThan(0)
      toldWhileReading = told()
    }
    await work(id)
    await expect.poll(told, { timeout: 20_000 }).toBeGreaterThan(toldWhileReading)
    end()
    expect(seen).toMatchObject([{ state: 'reading', step: 'products', total: expect.any(Number) }])
    expect(seen[0]?.total).toBeGreaterThan(5)
    expect(await state(id)).toMatchObject({ state: 'ready', ready_at: expect.any(String), reason: null })
  })

  test('once more, or by two at once, changes nothing', async () => {
    const { id } = await start('tags')
    await Promise.all([work(id), work(id)])
    const before = await kept(id)
    await work(id)
    await work(987_654)
    expect(await kept(id)).toEqual(before)
    expect(before).toMatchObject({ state: 'ready', what: 'tags' })
  })

  test('stops if an administrator cancels between two pages, and another one can start at once', async () => {
    const { id } = await start()
    await waitAfter(4)
    let calls = 0
    whileWaiting = async () => {
      calls++
      expect((await cancel(id)).code).toBe(2000)
      // Longer than the pause between two checks for a cancellation.
      await sleep(350)
    }
    await work(id)
    expect(calls).toBe(1)
    expect(await state(id)).toMatchObject({ state: 'cancelled', step: 'products', reason: null })
    expect((await cancel(id)).code).toBe(2000)
    expect((await start()).id).not.toBe(id)
  })

  test('is no longer ready if an administrator cancels at the moment of its end', async () => {
    for (let nth = 0; nth < 5; nth++) {
      const { id } = await start('tags')
      await Promise.all([work(id), sleep(nth * 15).then(() => cancel(id))])
      expect(await kept(id)).toMatchObject({ state: 'cancelled', source: null, plan: null, version: null })
    }
  })

  test('reports the platform’s failure half-way; the next one reads everything', async () => {
    const { id } = await start()
    await control(sandbox, 'POST', '/graphql/faults', { kind: 'error500', after: 4, next: 1 })
    await work(id)
    const failed = await state(id)
    expect(failed).toMatchObject({ state: 'failed', step: 'products', reason: 'platform_unavailable' })
    expect(failed.msg).toContain('The e-commerce platform has an internal error')
    expect(await kept(id)).toMatchObject({ source: null, plan: null })
    expect(await ready()).not.toBe(id)
  })

  test('begins again if its worker never goes on', async () => {
    const { id } = await start()
    const waits = Promise.withResolvers<void>()
    whileWaiting = () => (waits.resolve(), new Promise(() => {}))
    await waitAfter(4)
    void work(id)
    await waits.promise
    expect(await state(id)).toMatchObject({ state: 'reading', step: 'products' })
    await work(id)
    expect(await state(id)).toMatchObject({ state: 'ready' })
  })

  test('keeps texts of the platform that the database does not take as they are', async () => {
    const title = 'Odd \u0000 name'
    const [theirs] = (await (await fetch(`${sandbox.url}/sandbox/products`)).json()) as { id: string; title: string }[]
    await control(sandbox, 'PATCH', `/products/${theirs?.id}`, { title, silent: true })
    try {
      const id = await ready()
      expect((await kept(id))?.source?.sold.find(one => one.id === theirs?.id)?.title).toBe('Odd  name')
      await apply(id)
      await work(id)
      expect(await state(id)).toMatchObject({ state: 'applied' })
    } finally {
      await control(sandbox, 'PATCH', `/products/${theirs?.id}`, { title: theirs?.title, silent: true })
    }
  })
})

describe('applying', () => {
  test('does what was read, without the platform, in the name of who applies it', async () => {
    const id = await ready()
    const { source, version } = (await kept(id)) ?? {}
    expect(source?.collections.length).toBeGreaterThan(0)
    expect(version).toEqual(expect.any(String))
    await writeSettings(shop.ctx, { shopify_shop_url: 'http://127.0.0.1:9' })
    const boss = await shop.admin()
    const reply = await boss.post<SyncRun>(`${RUNS}${id}/apply/`, {})
    expect(reply.data).toMatchObject({ state: 'applying', step: 'waiting', username: boss.user.username })
    await work(id)
    await writeSettings(shop.ctx, { shopify_shop_url: sandbox.url })
    expect(await state(id)).toMatchObject({ state: 'applied', counts: { created: expect.any(Number) } })
    expect(await taken()).toBe(source?.collections.length)
    expect(await kept(id)).toMatchObject({ source: null, plan: null, version: null })
    const [entry] = await shop.ctx.db.select().from(auditLog).orderBy(desc(auditLog.id)).limit(1)
    expect(entry).toMatchObject({ action: 'product.sync', actorId: boss.user.id, actorName: boss.user.username })
  })

  test('asked for twice at once, and worked on by two, is done once', async () => {
    const id = await ready()
    const both = await Promise.all([apply(id), apply(id)])
    expect(both.map(reply => reply.code)).toEqual([2000, 2000])
    await Promise.all([work(id), work(id)])
    expect(await state(id)).toMatchObject({ state: 'applied' })
    expect(await syncsBy(admin.user.id)).toBe(1)
    expect((await apply(id)).data).toMatchObject({ state: 'applied' })
    expect(await cancel(id)).toMatchObject({ status: 409, data: { reason: 'already_over' } })
  })

  test('is refused without a trace if its changes would differ from the plan', async () => {
    const id = await ready('collections')
    const { sold, collections: theirs } = (await kept(id))?.source ?? {}
    expect(sold?.every(product => product.description === '')).toBe(true)
    await addRow(shop.ctx, collections, { platformId: theirs?.[0]?.id ?? '', name: 'Here meanwhile' })
    await apply(id)
    await work(id)
    expect(await state(id)).toMatchObject({ state: 'failed', reason: 'stale', counts: null })
    expect(await taken()).toBe(1)
  })

  test('is refused if the plan is old, even if no worker ran in time', async () => {
    const [late, old] = [await ready('tags'), await ready('collections')]
    await apply(late)
    shop.advance(3_600_000 + 60_000)
    expect(await apply(old)).toMatchObject({ status: 409, data: { reason: 'stale' } })
    await work(late)
    expect(await state(late)).toMatchObject({ state: 'failed', reason: 'stale' })
    expect(await state(old)).toMatchObject({ state: 'ready' })
  })

  test('that was cancelled before it is over leaves nothing', async () => {
    const mine = await addProduct(shop.ctx.db, { platformId: '99001', name: 'Gone there' }, [{}])
    const id = await ready()
    await apply(id)
    const { working } = await shop.ctx.db.transaction(async tx => {
      // Another sync is in progress.
      await lock(tx, 'catalogSync')
      const going = work(id)
      await expect.poll(async () => (await state(id)).step, { timeout: 20_000 }).toBe('applying')
      expect((await cancel(id)).code).toBe(2000)
      expect(await state(id)).toMatchObject({ state: 'cancelled' })
      return { working: going }
    })
    await working
    expect(await state(id)).toMatchObject({ state: 'cancelled', counts: null })
    expect(await taken()).toBe(0)
    expect((await shop.ctx.db.select().from(products).where(eq(products.id, mine.id)))[0]?.valid).toBe(true)
    expect(await syncsBy(admin.user.id)).toBe(0)
  })

  test('at once with a cancel is either done or not', async () => {
    for (let nth = 0; nth < 6; nth++) {
      await shop.ctx.db.execute(sql`truncate collections, product_collections`)
      const id = await ready('collections')
      await apply(id)
      const [, reply] = await Promise.all([work(id), sleep(nth * 8).then(() => cancel(id))])
      const end = (await state(id)).state
      expect([end, reply.code === 2000, (await taken()) > 0]).toEqual(
        end === 'applied' ? ['applied', false, true] : ['cancelled', true, false]
      )
    }
  })

  test('ends where who asked may not do it any more', async () => {
    const id = await ready()
    await apply(id)
    await shop.ctx.db.update(users).set({ operatorRole: 'viewer' }).where(eq(users.id, admin.user.id))
    await work(id)
    expect(await state(id)).toMatchObject({ state: 'failed', reason: 'bulk_not_allowed' })
    expect(await taken()).toBe(0)
  })
})

test('the name and the address of a deleted user are removed', async () => {
  const { id } = await start()
  await shop.ctx.db.transaction(tx => forgetSyncActor({ tx } as never, admin.user.id, 'deleted'))
  expect(await kept(id)).toMatchObject({ actorName: 'deleted', actorIp: '0.0.0.0' })
})

test('syncs are removed after a week, with unapplied plans', async () => {
  const id = await ready()
  shop.advance(6 * DAY)
  await applyRetention(shop.ctx, syncRetention)
  expect(await kept(id)).toBeDefined()
  shop.advance(2 * DAY)
  await applyRetention(shop.ctx, syncRetention)
  expect(await kept(id)).toBeUndefined()
})
