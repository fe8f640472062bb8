import { asc } from './infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { control, launch, newDataDir, removeDataDir, secrets } from '../../sandbox/src/testing/harness.ts'
import type { Sandbox } from '../../sandbox/src/sandbox.ts'
import { seed } from '../../../scripts/demo/seed.ts'
import { countPriceDrifts } from './domains/catalog/price-drift.ts'
import { readPrices, readProducts } from './domains/catalog/read-platform.ts'
import { auditLog } from './infra/tables.ts'
import { startTestShop, type TestShop } from './testing/shop.ts'

let shop: TestShop
let sandbox: Sandbox
let dataDir: string

beforeAll(async () => {
  shop = await startTestShop({ config: { demo: true } })
  dataDir = await newDataDir()
  sandbox = await launch(dataDir, 'http://127.0.0.1:9')
})
afterAll(async () => {
  await shop?.close()
  await sandbox?.close()
  await removeDataDir(dataDir)
})

const start = (publicUrl: string) =>
  seed(
    { ...shop.ctx, config: { ...shop.ctx.config, publicUrl } },
    {
      platformUrl: sandbox.url,
      settings: {
        dataDir,
        port: 1,
        platformPort: 2,
        agentPort: 3,
        proxyPort: 4,
        secrets: {
          app: 'unused',
          platformToken: secrets.accessToken,
          platformSecret: secrets.appSecret,
          discordSecret: 'discord',
          botToken: 'bot',
          hookSecret: 'whsec_aG9vaw==',
          agentToken: 'a-token-of-the-tests-and-of-nothing-else'
        } as never
      }
    }
  )

test('the demo has the stand-in’s prices: reading all again changes the one name that differs on purpose', async () => {
  const { db } = shop.ctx
  await start('http://127.0.0.1:9')
  const known = await db.$count(auditLog)
  await readPrices(shop.ctx)
  expect(await countPriceDrifts(db)).toBe(0)
  expect(await db.$count(auditLog)).toBe(known)
  await readProducts(shop.ctx)
  expect(await countPriceDrifts(db)).toBe(0)
  const changes = await db.select().from(auditLog).orderBy(asc(auditLog.id)).offset(known)
  // The demo changes this title on the platform, so that the Sync dialog has something to show.
  expect(changes.map(({ action, before, after }) => ({ action, before, after }))).toEqual([
    {
      action: 'product.follow',
      before: {
        name: 'Arcade Datacenter',
        valid: true,
        unlisted: false,
        unpublished: false,
        subscriptionOnly: false,
        oldFlag: false
      },
      after: {
        name: 'Arcade Gaming Datacenter',
        valid: true,
        unlisted: false,
        unpublished: false,
        subscriptionOnly: false,
        oldFlag: false
      }
    }
  ])
  const after = await db.$count(auditLog)
  await readProducts(shop.ctx)
  expect(await db.$count(auditLog)).toBe(after)
})

test('a demo that starts on another port takes its webhooks along', async () => {
  await start('http://127.0.0.1:9')
  await start('http://127.0.0.1:10')
  const { subscriptions } = await control<{ subscriptions: { uri: string }[] }>(sandbox, 'GET', '/webhooks')
  expect([...new Set(subscriptions.map(one => new URL(one.uri).origin))]).toEqual(['http://127.0.0.1:10'])
})
