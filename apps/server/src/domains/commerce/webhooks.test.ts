import { routes, type Health } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { control, launch, newDataDir, removeDataDir, secrets } from '../../../../sandbox/src/testing/harness.ts'
import type { Sandbox } from '../../../../sandbox/src/sandbox.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { auditLog } from '../../infra/tables.ts'
import { createShopify } from '../../integrations/shopify/index.ts'
import { paidEvent } from '../../testing/buying.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { writeSettings } from '../settings/index.ts'
import { storeEvent } from './events.ts'
import { platformHealth } from './health.ts'
import { applyProductEventQueue, registerWebhooksQueue, moneyEventQueue } from './queues.ts'
import { registerWebhooks } from './register-webhooks.ts'
import { commerceRoutes } from './routes.ts'
import { noticeChannels, notices } from '../notices/tables.ts'
import { watchNotices } from '../notices/watch.ts'
import { commerceFinders } from './jobs.ts'
import { platformChecks, platformEvents, webhookAddresses } from './tables.ts'
import { raisedNotices } from '../../testing/raised-notices.ts'
import { fromNow, later } from '../../testing/later.ts'

const OURS = 'https://shop.example.com'
const OTHER = 'https://staging.example.com'

let shop: TestShop
let admin: TestClient
let sandbox: Sandbox
let dataDir: string

beforeAll(async () => {
  shop = await startTestShop({
    routes: (mount, ctx) => commerceRoutes(mount, ctx),
    queues: [moneyEventQueue, applyProductEventQueue, registerWebhooksQueue],
    config: { publicUrl: OURS }
  })
  admin = await shop.admin({ username: 'boss' })
  dataDir = await newDataDir()
  sandbox = await launch(dataDir, 'http://127.0.0.1:9')
  await writeSettings(shop.ctx, {
    shopify_shop_url: sandbox.url,
    shopify_app_key: secrets.accessToken,
    shopify_api_secret: secrets.appSecret
  })
})

beforeEach(async () => {
  const { db } = shop.ctx
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'none' })
  await control(sandbox, 'DELETE', '/webhooks/subscriptions')
  for (const table of [platformChecks, platformEvents, webhookAddresses]) await db.delete(table)
  await db.execute(sql`delete from pgboss.job where name = 'raise-notice'`)
})

afterAll(async () => {
  await shop?.close()
  await sandbox?.close()
  await removeDataDir(dataDir)
})

/** The same database with another PUBLIC_URL. */
const at = (publicUrl: string): AppContext => ({ ...shop.ctx, config: { ...shop.ctx.config, publicUrl } })
const elsewhere = () =>
  createShopify({ shopUrl: sandbox.url, accessToken: secrets.accessToken, apiSecret: secrets.appSecret })
const origins = async () => {
  const found = await control<{ subscriptions: { uri: string }[] }>(sandbox, 'GET', '/webhooks')
  return [...new Set(found.subscriptions.map(one => new URL(one.uri).origin))]
}
const topics = async () =>
  (await control<{ subscriptions: { topic: string }[] }>(sandbox, 'GET', '/webhooks')).subscriptions.length
const mails = async () => (await raisedNotices(shop.ctx.db)).map(({ title }) => title)
const health = () =>
  platformHealth(shop.ctx, {
    priceDrifts: async () => 0,
    unsellable: async () => ({
      unpublished: { products: { count: 0, names: [] }, rules: { count: 0, names: [] } },
      subscription_only: { products: { count: 0, names: [] }, rules: { count: 0, names: [] } },
      counted: { products: { count: 0, names: [] }, rules: { count: 0, names: [] } },
      shipped: { products: { count: 0, names: [] }, rules: { count: 0, names: [] } }
    }),
    unresolvedEvents: async () => 1
  })

test('subscriptions that the platform dropped are back at the next comparison', async () => {
  await registerWebhooks(shop.ctx)
  const all = await topics()
  expect(all).toBeGreaterThanOrEqual(4)
  await control(sandbox, 'DELETE', '/webhooks/subscriptions')
  await registerWebhooks(shop.ctx)
  expect(await topics()).toBe(all)
  expect(await origins()).toEqual([OURS])
  expect(await mails()).toEqual([])
})

test('the shop’s own earlier address is moved to the new one', async () => {
  await registerWebhooks(at('https://old.example.com'))
  await registerWebhooks(shop.ctx)
  expect(await origins()).toEqual([OURS])
  expect(await mails()).toEqual([])
})

test('another installation’s subscriptions are not touched by a newcomer: it warns once, until it is told to', async () => {
  await elsewhere().registerWebhooks({ callbackBase: OTHER, earlier: [] })
  await registerWebhooks(shop.ctx)
  await registerWebhooks(shop.ctx)
  expect(await origins()).toEqual([OTHER])
  expect(await mails()).toEqual(['Another installation uses the same platform keys'])
  expect((await health()).webhooks).toMatchObject({ foreign: [OTHER], present: [], blocked: true })

  const path = routes.settings.takeOverWebhooks.path
  expect(await (await shop.customer()).post(path)).toMatchObject({ status: 403 })
  expect(await origins()).toEqual([OTHER])
  expect(await admin.post(path)).toMatchObject({ code: 2000, data: { taken: [OTHER] } })
  expect(await origins()).toEqual([OURS])
  expect((await health()).webhooks).toMatchObject({ foreign: [], blocked: false })
  const entries = await shop.ctx.db.select().from(auditLog).where(eq(auditLog.action, 'settings.take_over_webhooks'))
  expect(entries).toMatchObject([{ actorName: 'boss', before: { origins: [OTHER] }, after: { origin: OURS } }])
  // Now the addresses are its own, so it restores them.
  await registerWebhooks(shop.ctx)
  expect(await mails()).toHaveLength(1)
})

test('an installation that was here first keeps its own beside a second one, and warns', async () => {
  await registerWebhooks(shop.ctx)
  await control(sandbox, 'DELETE', '/webhooks/subscriptions')
  await elsewhere().registerWebhooks({ callbackBase: OTHER, earlier: [] })
  await registerWebhooks(shop.ctx)
  expect((await origins()).toSorted()).toEqual([OURS, OTHER])
  expect(await mails()).toHaveLength(1)
})

test('a platform that does not answer is on the health page, and is asked again', async () => {
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'error500', next: 1 })
  await expect(registerWebhooks(shop.ctx)).rejects.toThrow('has an internal error')
  expect((await health()).webhooks.error).toContain('has an internal error')
  await registerWebhooks(shop.ctx)
  expect((await health()).webhooks).toMatchObject({ error: null, wanted: expect.arrayContaining(['orders/paid']) })
})

const stored = (eventId: string, payload: unknown, topic = 'orders/paid') =>
  command(shop.ctx, SYSTEM, unit => storeEvent(unit, { eventId, topic, payload }))
const received = (eventId: string, ago: number) =>
  shop.ctx.db
    .update(platformEvents)
    .set({ receivedAt: fromNow(shop.ctx, -ago) })
    .where(eq(platformEvents.eventId, eventId))

test('payments without a webhook cause a notice while that lasts; a late webhook does not', async () => {
  const found = (id: number) => paidEvent({ publicId: 'NL-x', amount: '1.00', id })
  await shop.ctx.db.delete(noticeChannels)
  const watch = async (ctx: AppContext = shop.ctx) => {
    await watchNotices(
      ctx,
      commerceFinders.filter(({ cause }) => cause === 'webhooks'),
      { all: true }
    )
    const rows = await ctx.db.select().from(notices).where(eq(notices.cause, 'webhooks'))
    return rows.map(({ params, closedAt }) => [params['count'], closedAt !== null])
  }
  await stored('reconciled:1', found(1))
  expect(await watch()).toEqual([])
  await received('reconciled:1', 20 * MINUTE)
  await stored('orders/paid late', found(1))
  expect(await watch()).toEqual([])

  await stored('reconciled:2', found(2))
  await received('reconciled:2', 20 * MINUTE)
  expect(await watch()).toEqual([[1, false]])
  expect(await watch()).toEqual([[1, false]])
  expect((await health()).webhooks.missed).toBe(1)
  expect(await watch(later(shop.ctx, 25 * HOUR))).toEqual([[1, true]])
})

test('the health page tells what came, what waits, and what needs attention', async () => {
  await registerWebhooks(shop.ctx)
  await stored('orders/paid 1', {})
  await stored('products/update 1', {}, 'products/update')
  await stored('reconciled:7', {})
  await shop.ctx.db
    .update(platformEvents)
    .set({ processedAt: shop.ctx.now(), outcome: 'unknown_order' })
    .where(eq(platformEvents.eventId, 'orders/paid 1'))
  await received('orders/paid 1', 2 * HOUR)
  const found: NonNullable<Health['platform']> = await health()
  expect(found.events).toMatchObject({ waiting: 2, unresolved: 1 })
  const paid = found.webhooks.last_events.find(one => one.topic === 'orders/paid')
  expect(shop.ctx.now().getTime() - Date.parse(paid?.at ?? '')).toBeGreaterThan(HOUR)
  expect(found.webhooks.last_events.find(one => one.topic === 'products/delete')?.at).toBeNull()
})
