import type { SettingTestResult } from '@netlet/contract'
import { createHmac } from 'node:crypto'
import { eq } from './infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { control, launch, newDataDir, removeDataDir, secrets } from '../../sandbox/src/testing/harness.ts'
import type { Sandbox } from '../../sandbox/src/sandbox.ts'
import { createHttpApp } from './app.ts'
import { writeSettings } from './domains/settings/index.ts'
import { MINUTE } from './infra/clock.ts'
import { auditLog } from './infra/tables.ts'
import { startTestShop, type TestShop } from './testing/shop.ts'
import { allQueues } from './workers.ts'

let shop: TestShop
let admin: Awaited<ReturnType<TestShop['admin']>>
let sandbox: Sandbox
let dataDir: string

beforeAll(async () => {
  dataDir = await newDataDir()
  sandbox = await launch(dataDir, 'http://127.0.0.1:9', { discordBotToken: 'bot-1' })
  shop = await startTestShop({ app: createHttpApp, queues: allQueues, config: { discordUrl: sandbox.url } })
  admin = await shop.admin({ username: 'boss' })
})
afterAll(async () => {
  await shop?.close()
  await sandbox?.close()
  await removeDataDir(dataDir)
})

const tried = async (test: string) => (await admin.post<SettingTestResult>('/api/settings/test', { test })).data

test('only an administrator tests settings, each test is audited, and unknown ones are refused', async () => {
  expect((await shop.visitor().post('/api/settings/test', { test: 'mail' })).status).toBe(401)
  expect((await (await shop.customer()).post('/api/settings/test', { test: 'mail' })).status).toBe(403)
  expect((await admin.post('/api/settings/test', { test: 'coffee' })).status).toBe(400)
  await tried('chat')
  const entries = await shop.ctx.db.select().from(auditLog).where(eq(auditLog.action, 'settings.test'))
  expect(entries).toMatchObject([{ actorName: 'boss', targetId: 'chat' }])
})

test('a test mail goes to who asked, and a refusal of the mail service is told', async () => {
  expect(await tried('mail')).toMatchObject({ ok: true, outcome: 'mail_sent', params: { to: 'boss@example.com' } })
  expect((await shop.outbox.waitFor('boss@example.com'))[0]?.subject).toBe('Your shop’s email settings work')
  shop.outbox.fail(401, 1)
  const refused = await tried('mail')
  expect(refused).toMatchObject({ ok: false, outcome: 'failed' })
  expect(refused.detail).toContain('refused the API key')
  await writeSettings(shop.ctx, { sendgrid_api_key: '' })
  expect(await tried('mail')).toMatchObject({ ok: false, outcome: 'not_configured' })
})

test('the platform is asked who it is; a wrong token and another currency are told', async () => {
  expect(await tried('platform')).toMatchObject({ ok: false, outcome: 'not_configured' })
  await writeSettings(shop.ctx, { shopify_shop_url: sandbox.url, shopify_app_key: 'wrong' })
  expect(await tried('platform')).toMatchObject({ ok: false, outcome: 'failed' })
  await writeSettings(shop.ctx, { shopify_app_key: secrets.accessToken })
  expect(await tried('platform')).toMatchObject({ ok: true, outcome: 'platform_answers', params: { currency: 'USD' } })
  await writeSettings(shop.ctx, { shopify_app_key: '', shopify_api_key: secrets.apiKey, shopify_api_secret: 'wrong' })
  expect((await tried('platform')).detail).toContain('gives no access token for the API key and secret')
  await writeSettings(shop.ctx, { shopify_api_secret: secrets.appSecret })
  expect(await tried('platform')).toMatchObject({
    ok: true,
    outcome: 'platform_granted',
    params: { currency: 'USD', until: expect.stringMatching(/^\d{4}-/) }
  })
  await writeSettings(shop.ctx, { shopify_app_key: secrets.accessToken, shopify_api_secret: '' })
  await control(sandbox, 'POST', '/app', { read_publications: false })
  expect(await tried('platform')).toMatchObject({ ok: true, outcome: 'platform_answers' })
  await control(sandbox, 'POST', '/app', { read_all_orders: false })
  expect(await tried('platform')).toMatchObject({ ok: true, outcome: 'platform_old_orders' })
  await control(sandbox, 'POST', '/online_store', { password: true })
  expect(await tried('platform')).toMatchObject({ ok: false, outcome: 'platform_password' })
  await writeSettings(shop.ctx, { shop_currency: 'EUR' })
  expect(await tried('platform')).toMatchObject({
    ok: false,
    outcome: 'platform_currency',
    params: { currency: 'USD', expected: 'EUR' }
  })
})

test('the chat platform is asked for the client, and for the bot where there is one', async () => {
  expect(await tried('chat')).toMatchObject({ ok: false, outcome: 'not_configured' })
  await writeSettings(shop.ctx, { discord_client_id: secrets.discordClientId, discord_client_secret: 'wrong' })
  expect(await tried('chat')).toMatchObject({ ok: false, outcome: 'failed' })
  await writeSettings(shop.ctx, { discord_client_secret: secrets.discordClientSecret })
  expect(await tried('chat')).toMatchObject({ ok: true, outcome: 'chat_answers' })
  await writeSettings(shop.ctx, { discord_bot_token: 'nobody' })
  expect(await tried('chat')).toMatchObject({ ok: false, detail: 'The chat platform refused the bot token.' })
  await writeSettings(shop.ctx, { discord_bot_token: 'bot-1' })
  expect(await tried('chat')).toMatchObject({ ok: true, outcome: 'chat_bot_answers', params: { bot: 'Shop bot' } })
})

async function webhook(secret: string, id: string): Promise<number> {
  const body = JSON.stringify({ id: 1 })
  const reply = await fetch(`${shop.url}/api/orders/product_webhook`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-shopify-topic': 'products/delete',
      'x-shopify-webhook-id': id,
      'x-shopify-shop-domain': 'sandbox.myshopify.com',
      'x-shopify-hmac-sha256': createHmac('sha256', secret).update(body).digest('base64')
    },
    body
  })
  return reply.status
}

test('the webhook secret is proved by webhooks that came after it was saved, and doubted after a wrong signature', async () => {
  expect(await tried('webhook_secret')).toMatchObject({ ok: false, outcome: 'not_configured' })
  await writeSettings(shop.ctx, { shopify_api_secret: 'first' })
  expect(await tried('webhook_secret')).toMatchObject({ ok: false, outcome: 'webhook_unproved' })
  expect(await webhook('other', 'e1')).toBe(401)
  expect(await tried('webhook_secret')).toMatchObject({ ok: false, outcome: 'webhook_refused' })
  expect(await webhook('first', 'e2')).toBe(200)
  expect(await tried('webhook_secret')).toMatchObject({ ok: true, outcome: 'webhook_signed' })
  await writeSettings(shop.ctx, { shopify_api_secret: 'second' })
  expect(await tried('webhook_secret')).toMatchObject({ ok: false, outcome: 'webhook_unproved' })
  expect(await webhook('first', 'e3')).toBe(401)
  expect(await tried('webhook_secret')).toMatchObject({ ok: false, outcome: 'webhook_refused' })
})

test('a request of a stranger with a wrong signature makes no secret wrong that was proved right', async () => {
  await writeSettings(shop.ctx, { shopify_api_secret: 'third' })
  expect(await webhook('third', 'e4')).toBe(200)
  shop.advance(2 * MINUTE)
  expect(await webhook('stranger', 'e5')).toBe(401)
  expect(await tried('webhook_secret')).toMatchObject({
    ok: true,
    outcome: 'webhook_doubted',
    params: { topic: 'products/delete', refused: expect.any(String) }
  })
})

test('settings are in force in every process at once', async () => {
  const other = await createHttpApp(shop.ctx)
  const social = async () => (await other.inject('/api/settings/social')).json<{ data: unknown }>().data
  try {
    expect(await social()).toMatchObject({ discord: '' })
    await admin.post('/api/settings/config', { support_discord: 'https://chat.example/netlet' })
    expect(await social()).toMatchObject({ discord: 'https://chat.example/netlet' })
  } finally {
    await other.close()
  }
})
