import { eq } from './infra/db/drizzle.ts'
import { beforeEach, expect, test } from 'vitest'
import { control, secrets as standIn } from '../../sandbox/src/testing/harness.ts'
import { eraseEndedSecrets } from './domains/commerce/webhook-secrets.ts'
import { formerWebhookSecrets } from './domains/commerce/tables.ts'
import { writeSettings } from './domains/settings/index.ts'
import { DAY, HOUR, MINUTE } from './infra/clock.ts'
import { createSecrets } from './infra/secrets.ts'
import { auditLog } from './infra/tables.ts'
import { startPlatformShop } from './platform-webhooks.fixture.ts'
import { useStarted } from './testing/use-started.ts'

const world = useStarted(startPlatformShop)
const END = '/api/settings/webhook_secrets/end'
const rows = () => world.shop.ctx.db.select().from(formerWebhookSecrets)

beforeEach(async () => {
  await world.shop.ctx.db.delete(formerWebhookSecrets)
  await writeSettings(world.shop.ctx, { shopify_api_secret: 'A', webhook_secret_overlap_hours: 24 })
  world.shop.advance(2 * MINUTE)
})

test('rotated as the platform does it, no webhook is lost', async () => {
  await writeSettings(world.shop.ctx, { shopify_api_secret: standIn.appSecret })
  const change = (action: string) => control<{ secrets: string[] }>(world.sandbox, 'POST', '/app_secret', { action })
  const [, next] = (await change('rotate')).secrets
  await world.save({ shopify_api_secret: next })
  const from = world.shop.ctx.now().getTime()
  // The platform signs with the former secret until it is revoked there.
  expect(await world.send()).toBe(200)
  expect(await world.webhookSecrets()).toMatchObject({ signed: { by: 'former' } })
  const until = Date.parse((await world.webhookSecrets()).former_until ?? '')
  expect(until).toBeGreaterThan(from + DAY - MINUTE)
  expect(until).toBeLessThanOrEqual(from + DAY)
  expect(await world.tested()).toBe('webhook_former')
  expect((await world.health())?.webhooks).toMatchObject({ signed: { by: 'former' }, refused: [] })
  await change('revoke')
  expect(await world.send()).toBe(200)
  expect(await world.webhookSecrets()).toMatchObject({ signed: { by: 'present', topic: 'products/update' } })
  expect(await world.tested()).toBe('webhook_signed')
})

test('a former secret is taken for the hours of the setting, which may be saved with it, and then erased', async () => {
  await world.save({ shopify_api_secret: 'B', webhook_secret_overlap_hours: 2 })
  world.shop.advance(2 * HOUR - 5 * MINUTE)
  expect([await world.post('A'), await world.post('B')]).toEqual([200, 200])
  await eraseEndedSecrets(world.shop.ctx)
  expect(await rows()).toHaveLength(1)
  world.shop.advance(5 * MINUTE)
  expect([await world.post('A'), await world.post('B')]).toEqual([401, 200])
  expect((await world.webhookSecrets()).former_until).toBeNull()
  await eraseEndedSecrets(world.shop.ctx)
  expect(await rows()).toEqual([])
})

test('with 0 hours the former secret ends at once', async () => {
  await world.save({ shopify_api_secret: 'B', webhook_secret_overlap_hours: 0 })
  expect(await rows()).toEqual([])
  expect([await world.post('A'), await world.post('B')]).toEqual([401, 200])
})

test('an operator ends it at once, twice too, and that is written down once', async () => {
  await world.save({ shopify_api_secret: 'B' })
  expect(await world.post('A')).toBe(200)
  const ended = await Promise.all([world.admin.post(END), world.admin.post(END)])
  expect(ended.map(({ data }) => data)).toMatchObject([{ former_until: null }, { former_until: null }])
  expect([await world.post('A'), await world.post('B')]).toEqual([401, 200])
  const entries = await world.shop.ctx.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.action, 'settings.end_former_secrets'))
  expect(entries).toMatchObject([{ actorName: 'boss', before: { count: 1 } }])
  expect((await (await world.shop.customer()).post(END)).status).toBe(403)
})

test('a mistyped secret does not push out the one that signs; four of them do', async () => {
  for (const secret of ['typo 1', 'typo 2', 'B']) await world.save({ shopify_api_secret: secret })
  expect(await world.post('A')).toBe(200)
  await world.save({ shopify_api_secret: 'C' })
  expect(await rows()).toHaveLength(3)
  expect([await world.post('A'), await world.post('B'), await world.post('C')]).toEqual([401, 200, 200])
})

test('the secret that is saved again is no former one, and each is kept once', async () => {
  for (const secret of ['B', 'A', 'B', 'A']) await world.save({ shopify_api_secret: secret })
  expect(await rows()).toHaveLength(1)
  expect([await world.post('A'), await world.post('B')]).toEqual([200, 200])
})

test('what is saved without another secret changes nothing', async () => {
  await world.save({ shopify_api_secret: 'B' })
  const before = await rows()
  await world.save({ shopify_api_key: 'another key', shop_currency: 'EUR' })
  await world.save({ shopify_api_secret: 'B' })
  expect(await rows()).toEqual(before)
  await world.save({ shopify_api_key: '' })
})

test.each([
  ['the secret is deleted', { shopify_api_secret: '' }],
  [
    'the shop is another one',
    { shopify_api_secret: 'C', shopify_app_key: 'token', shopify_shop_url: 'another.myshopify.com' }
  ]
])('where %s, no former secret is taken', async (_what, form) => {
  await world.save({ shopify_api_secret: 'B' })
  await world.save(form)
  expect(await rows()).toEqual([])
  expect([await world.post('A'), await world.post('B')]).toEqual([401, 401])
  await writeSettings(world.shop.ctx, { shopify_shop_url: world.sandbox.url })
})

test('former secrets are sealed, and one that cannot be opened is none', async () => {
  await world.save({ shopify_api_secret: 'B' })
  const [row] = await rows()
  expect(world.shop.ctx.secrets.open(row?.secret ?? Buffer.alloc(0))).toBe('A')
  await world.shop.ctx.db
    .update(formerWebhookSecrets)
    .set({ secret: createSecrets('another secret, as after a restore elsewhere').seal('A') })
  expect([await world.post('A'), await world.post('B')]).toEqual([401, 200])
  await world.save({ shopify_api_secret: 'C' })
  expect(await world.post('B')).toBe(200)
})
