import type { Health, ReplyOf, routes } from '@netlet/contract'
import { eq, sql } from './infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { control, launch, newDataDir, removeDataDir, secrets } from '../../sandbox/src/testing/harness.ts'
import type { Sandbox } from '../../sandbox/src/sandbox.ts'
import { demoPlans } from '../../sandbox/src/shopify/catalogue.ts'
import { checkPlatform } from './domains/commerce/index.ts'
import { servers } from './domains/servers/tables.ts'
import { enqueueMail } from './domains/mail/index.ts'
import { mails } from './domains/mail/tables.ts'
import { writeSettings } from './domains/settings/index.ts'
import { SYSTEM } from './infra/actor.ts'
import { command } from './infra/command.ts'
import type { TestClient } from './testing/client.ts'
import { startTestShop, type TestShop } from './testing/shop.ts'
import { addRow } from './testing/rows.ts'

let shop: TestShop
let admin: TestClient
let sandbox: Sandbox
let dataDir: string

beforeAll(async () => {
  shop = await startTestShop({ config: { trustProxy: false } })
  admin = await shop.admin()
  dataDir = await newDataDir()
  sandbox = await launch(dataDir, 'http://127.0.0.1:9')
  await writeSettings(shop.ctx, {
    shopify_shop_url: sandbox.url,
    shopify_app_key: secrets.accessToken,
    shopify_api_secret: secrets.appSecret,
    shop_currency: 'EUR'
  })
})
afterAll(async () => {
  await shop?.close()
  await sandbox?.close()
  await removeDataDir(dataDir)
})

const check = async () => (await admin.post<Health>('/api/settings/health/check')).data

test('every section is read; the platform is asked only on request', async () => {
  const { data } = await admin.get<Health>('/api/settings/health')
  expect(data.platform).toMatchObject({ configured: true, shop: { at: null, name: null }, webhooks: { at: null } })
  expect(data.database?.bytes).toBeGreaterThan(1_000_000)
  expect(data.database?.pool.size).toBeGreaterThan(0)
  expect(Object.values(data)).not.toContain(null)
})

test('a look says who the platform is, whether the currency fits, and what the token may not do', async () => {
  expect((await check()).platform).toMatchObject({
    shop: { name: 'Netlet stand-in', currency: 'USD', expected_currency: 'EUR', missing_scopes: [], error: null },
    webhooks: { address: 'http://shop.example.com', blocked: false },
    prices: { differ: 0, error: null }
  })
  // It asks the platform in the shop's name, so it is audited.
  const { rows } = await shop.ctx.db.execute(
    sql`select target_id from audit_log where action = 'settings.check_health'`
  )
  expect(rows).toEqual([{ target_id: 'platform' }])
})

test('a permission that is not needed yet is named before it is', async () => {
  await control(sandbox, 'POST', '/app', { read_all_orders: false })
  expect((await check()).platform?.shop.missing_scopes).toEqual(['read_all_orders'])
  await control(sandbox, 'POST', '/app', { read_all_orders: true })
  expect((await check()).platform?.shop.missing_scopes).toEqual([])
})

test('a store that asks visitors for a password is named, until it is open', async () => {
  const closed = async () => {
    const attention = await admin.get<ReplyOf<typeof routes.home.attention>>('/api/home/attention/')
    const { count } = attention.data.find(({ what }) => what === 'store_password') ?? {}
    return { count, password: (await check()).platform?.shop.password }
  }
  for (const password of [true, false]) {
    await control(sandbox, 'POST', '/online_store', { password })
    await check()
    expect(await closed()).toEqual({ count: password ? 1 : 0, password })
  }
  await control(sandbox, 'POST', '/online_store', { password: true })
  const cart = await fetch(`${sandbox.url}/cart/${demoPlans[0]?.variants[0]?.id}:8`)
  expect(await cart.text()).toContain('Opening soon')
  // The platform does not say it any more.
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'unauthorized', next: 1, after: 1 })
  await checkPlatform(shop.ctx)
  const { shop: seen } = (await admin.get<Health>('/api/settings/health')).data.platform ?? {}
  expect(seen).toMatchObject({ name: 'Netlet stand-in', error: null, password: false })
  const press = await fetch(`${sandbox.url}/online_store`, { method: 'POST', body: new URLSearchParams('password=no') })
  expect(await press.text()).toContain('Ask visitors of the Online Store for a password')
})

test('while the platform’s shop is paused, operators are told, and its checkout takes no payment', async () => {
  for (const paused of [true, false]) {
    await control(sandbox, 'POST', '/online_store', { paused })
    expect((await check()).platform?.shop).toMatchObject({ paused, error: null })
    const attention = await admin.get<ReplyOf<typeof routes.home.attention>>('/api/home/attention/')
    expect(attention.data.find(({ what }) => what === 'store_password')?.count).toBe(paused ? 1 : 0)
    const cart = await fetch(`${sandbox.url}/cart/${demoPlans[0]?.variants[0]?.id}:8`)
    expect((await cart.text()).includes('This store is paused')).toBe(paused)
  }
})

test('a platform that is gone shows as such, with its words', async () => {
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'unauthorized', next: 20 })
  const { platform } = await check()
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'none' })
  for (const part of [platform?.shop, platform?.webhooks]) expect(part?.error).toContain('refused the access token')
})

test('a look asks the servers as well', async () => {
  const { db } = shop.ctx
  const row = await addRow(shop.ctx, servers, { name: 'gone', ip: '127.0.0.1', agentPort: 9, connected: true })
  expect((await check()).servers).toMatchObject({ total: 1, reachable: 0, unreachable: [{ name: 'gone' }] })
  await db.delete(servers).where(eq(servers.id, row.id))
})

test('servers that do not answer, waiting mail and permanently failed jobs are counted', async () => {
  const { db } = shop.ctx
  await addRow(shop.ctx, servers, { name: 'away', ip: '192.0.2.7', unreachableSince: new Date('2026-07-01T10:00:00Z') })
  await command(shop.ctx, SYSTEM, async unit =>
    enqueueMail(unit, { to: 'a@example.com', template: 'admin-notice', data: { subject: 's', text: 't' }, key: 'one' })
  )
  await db.execute(sql`insert into pgboss.job (name, data, source_name) values ('dead-letter', '{}', 'send-mail')`)
  const { data } = await admin.get<Health>('/api/settings/health')
  expect(data.servers).toMatchObject({
    total: 1,
    reachable: 0,
    unreachable: [{ name: 'away', since: '2026-07-01T10:00:00.000Z' }]
  })
  expect(data.mail).toMatchObject({ waiting: 1, failed: 1, oldest: expect.any(String) })
  expect(data.jobs?.queues.find(queue => queue.name === 'send-mail')).toMatchObject({ waiting: 1, dead: 1 })
})

test('mail waits between two tries as well, since it was asked for', async () => {
  const { db } = shop.ctx
  const asked = new Date('2026-07-01T10:00:00.000Z')
  await command(shop.ctx, SYSTEM, async unit =>
    enqueueMail(unit, { to: 'b@example.com', template: 'admin-notice', data: { subject: 's', text: 't' }, key: 'two' })
  )
  await db.execute(sql`update pgboss.job set state = 'retry', start_after = now() + interval '10 minutes', created_on = ${asked}
    where name = 'send-mail' and singleton_key = 'two'`)
  const mail = async () => (await admin.get<Health>('/api/settings/health')).data.mail
  const before = await mail()
  expect(before?.oldest).toBe('2026-07-01T10:00:00.000Z')
  // A mail that the service deferred has a new job, but has waited since the first one.
  await db.insert(mails).values({
    key: 'two',
    to: 'b@example.com',
    template: 'admin-notice',
    kind: 'operator',
    language: 'en',
    jobId: '',
    claimedAt: new Date(0),
    createdAt: new Date('2026-06-30T10:00:00.000Z')
  })
  expect(await mail()).toMatchObject({ waiting: before?.waiting, oldest: '2026-06-30T10:00:00.000Z' })
  await db.execute(sql`delete from pgboss.job where name = 'send-mail' and singleton_key = 'two'`)
  expect((await mail())?.waiting).toBe((before?.waiting ?? 0) - 1)
})

test('a reverse proxy that TRUST_PROXY does not name is shown, and a monitor is not taken for one', async () => {
  const from = { 'x-forwarded-for': '203.0.113.5' }
  for (const path of ['/healthz', '/readyz', '/metrics']) await fetch(`${shop.url}${path}`, { headers: from })
  expect((await admin.get<Health>('/api/settings/health')).data.http?.untrusted_proxies).toEqual([])
  const { data } = await admin.get<Health>('/api/settings/health', from)
  expect(data.http?.untrusted_proxies).toMatchObject([{ address: '127.0.0.1' }])
})

test('a section that cannot be read does not hide the others', async () => {
  await shop.ctx.db.execute(sql`alter table platform_checks rename to platform_checks_away`)
  const { data } = await admin.get<Health>('/api/settings/health')
  await shop.ctx.db.execute(sql`alter table platform_checks_away rename to platform_checks`)
  expect(data.platform).toBeNull()
  expect(data.servers?.total).toBe(1)
})
