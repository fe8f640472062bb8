import { expect, test } from 'vitest'
import { control } from '../../sandbox/src/testing/harness.ts'
import { checkPlatform } from './domains/commerce/index.ts'
import { DAY, HOUR, MINUTE } from './infra/clock.ts'
import { startPlatformShop } from './platform-webhooks.fixture.ts'
import { useStarted } from './testing/use-started.ts'

const world = useStarted(startPlatformShop)
const refused = async () => (await world.health())?.webhooks.refused

test.each([
  ['wrong_signature', 401, { kind: 'signature', certain: false }],
  ['too_large', 413, { kind: 'too_large', certain: false }],
  ['unreadable', 400, { kind: 'unreadable', certain: true }],
  ['other_shop', 403, { kind: 'other_shop', certain: true }]
])('a webhook with the fault %s shows on Home and Health until one is taken', async (action, status, shown) => {
  expect(await world.send(action)).toBe(status)
  expect(await refused()).toEqual([
    { ...shown, count: 1, topic: 'products/update', since: expect.any(String), at: expect.any(String) }
  ])
  await expect.poll(() => world.attention()).toBe(1)
  expect(await world.send()).toBe(200)
  expect(await refused()).toEqual([])
  await expect.poll(() => world.attention()).toBe(0)
})

test('a signed webhook of a topic that the shop did not ask for is told by that topic', async () => {
  const { appSecret } = await present()
  expect(await world.post(appSecret, { 'x-shopify-topic': 'carts/create' })).toBe(400)
  expect(await refused()).toMatchObject([{ kind: 'topic', topic: 'carts/create', certain: true }])
  await world.send()
})

test('without a secret each webhook is refused, and that is why', async () => {
  const { appSecret } = await present()
  await world.save({ shopify_api_secret: '' })
  expect(await world.send()).toBe(401)
  expect(await refused()).toMatchObject([{ kind: 'no_secret' }])
  await world.save({ shopify_api_secret: appSecret })
  expect(await world.send()).toBe(200)
  expect(await refused()).toEqual([])
})

test('a flood of a stranger is a figure, which grows by one write a minute, and no alarm', async () => {
  world.shop.advance(DAY)
  const strange = { 'x-shopify-shop-domain': 'stranger.example.com' }
  for (let at = 0; at < 20; at++) expect(await world.post('guessed', strange)).toBe(401)
  expect(await world.post('guessed', { 'x-shopify-topic': 'orders/paid' })).toBe(401)
  expect((await world.health())?.webhooks).toMatchObject({
    refused: [],
    strangers: { count: 1, domain: strange['x-shopify-shop-domain'] }
  })
  world.shop.advance(MINUTE)
  await world.post('guessed', { 'x-shopify-shop-domain': '<b>' })
  expect((await world.health())?.webhooks).toMatchObject({ refused: [], strangers: { count: 22, domain: '' } })
})

test('a stranger who names our shop and was disproved once raises no second alarm, unless it lasts for an hour', async () => {
  world.shop.advance(2 * DAY)
  expect(await world.post('guessed')).toBe(401)
  expect(await refused()).toMatchObject([{ kind: 'signature', count: 1 }])
  expect(await world.send()).toBe(200)
  world.shop.advance(2 * MINUTE)
  await world.post('guessed')
  expect(await refused()).toEqual([])
  world.shop.advance(HOUR)
  await world.post('guessed')
  expect(await refused()).toMatchObject([{ kind: 'signature', count: 2 }])
  // A secret saved in between explains both, so the next refusal is reported at once.
  const { appSecret } = await present()
  await world.save({ shopify_api_secret: 'mistyped' })
  await world.save({ shopify_api_secret: appSecret })
  await world.send()
  world.shop.advance(2 * DAY)
  await world.post('guessed')
  world.shop.advance(MINUTE)
  await world.save({ shopify_api_secret: 'mistyped' })
  await world.save({ shopify_api_secret: appSecret })
  await world.send()
  world.shop.advance(2 * MINUTE)
  await world.post('guessed')
  expect(await refused()).toMatchObject([{ kind: 'signature', count: 1 }])
  await world.send()
})

test('refused at once by several requests, they are counted together', async () => {
  world.shop.advance(2 * DAY)
  await Promise.all(Array.from({ length: 10 }, () => world.post('guessed')))
  world.shop.advance(2 * MINUTE)
  await world.post('guessed')
  expect(await refused()).toMatchObject([{ kind: 'signature', count: 11 }])
  await world.send()
})

test('an API version that fell forward shows with both versions, of replies and of webhooks', async () => {
  const versions = async () => (await world.health())?.versions
  const right = { wanted: '2026-07', replies: '2026-07', webhooks: '2026-07' }
  await world.send()
  expect(await versions()).toEqual(right)
  expect(await world.send('other_version')).toBe(200)
  await control(world.sandbox, 'POST', '/graphql/faults', { kind: 'other_version', next: 100 })
  await checkPlatform(world.shop.ctx)
  expect(await versions()).toEqual({ wanted: '2026-07', replies: '2026-10', webhooks: '2026-10' })
  await control(world.sandbox, 'POST', '/graphql/faults', { kind: 'none' })
  await checkPlatform(world.shop.ctx)
  await world.send()
  expect(await versions()).toEqual(right)
})

async function present() {
  const { secrets: found } = await control<{ secrets: string[] }>(world.sandbox, 'POST', '/app_secret', {
    action: 'revoke'
  })
  return { appSecret: found[0] ?? '' }
}
