import { NoticeRules } from '@netlet/contract'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { closedUrl, control, secrets } from '../../../../sandbox/src/testing/harness.ts'
import { requestToken } from '../../integrations/shopify/index.ts'
import { HOUR, MINUTE, SECOND } from '../../infra/clock.ts'
import { noticePorts } from '../../notice-ports.ts'
import { raisedNotices } from '../../testing/raised-notices.ts'
import { readSettings, writeSettings } from '../settings/index.ts'
import { openPlatform } from './platform.ts'
import { renewToken } from './jobs.ts'
import { platformTokens } from './tables.ts'
import { openTokens } from './token.ts'
import { asked, call, fails, resetTokens, sandbox, shop, startTokenShop, stopTokenShop } from './token.fixture.ts'

beforeAll(startTokenShop)
beforeEach(resetTokens)
afterAll(stopTokenShop)

const raised = async () => (await raisedNotices(shop.ctx.db)).map(({ title }) => title)

async function found() {
  const finder = noticePorts.finders.find(({ cause }) => cause === 'token')
  const search = { now: shop.ctx.now(), threshold: 0, rules: NoticeRules.parse({}), open: [] }
  return ((await finder?.find(shop.ctx, search)) ?? []).map(({ subject, words }) => [subject, words])
}

test('without a saved token, key and secret get one: sealed, and one for all processes that ask at once', async () => {
  const before = await asked()
  // Processes share only the database.
  const replies = await Promise.all([1, 2, 3, 4].map(() => call({ ...shop.ctx })))
  expect(replies.map(reply => reply.ok)).toEqual([true, true, true, true])
  expect((await asked()) - before).toBe(1)
  const [row] = await shop.ctx.db.select().from(platformTokens)
  expect(row?.token?.toString('latin1')).not.toContain('shpat_')
  expect(row?.token && shop.ctx.secrets.open(row.token)).toMatch(/^shpat_/)
})

test('it is renewed with a quarter of its life left, once, and its row follows other credentials', async () => {
  const before = await asked()
  expect(await fails()).toBe('ok')
  shop.advance(17 * HOUR)
  await renewToken(shop.ctx)
  expect((await asked()) - before).toBe(1)
  shop.advance(1.5 * HOUR)
  await Promise.all([renewToken(shop.ctx), renewToken({ ...shop.ctx }), fails()])
  expect((await asked()) - before).toBe(2)
  expect(await found()).toEqual([])
  await writeSettings(shop.ctx, { shopify_api_secret: 'another' })
  expect(await fails()).toBe('unauthorized')
  await writeSettings(shop.ctx, { shopify_api_secret: secrets.appSecret })
  expect(await fails()).toBe('ok')
})

test('one that ended while a job was at work is renewed, and the call goes again', async () => {
  const platform = await openPlatform(shop.ctx)
  if (!platform.ok) throw new Error(platform.reason)
  const before = await asked()
  let pages = 0
  for await (const page of platform.data.productPages()) {
    expect(page.ok).toBe(true)
    if (pages++ > 0) continue
    shop.advance(MINUTE)
    await asked({ end: true })
  }
  expect((await platform.data.collections()).ok).toBe(true)
  expect((await asked()) - before).toBe(2)
  expect(await raised()).toEqual([])
})

test('one that lacks a permission is replaced once it is ten minutes old, and the permission may have come since', async () => {
  const tokens = openTokens(shop.ctx, await readSettings(shop.ctx.db, shop.ctx.secrets))
  const first = await tokens.current()
  if (!first.ok) throw new Error(first.message)
  const before = await asked()
  shop.advance(9 * MINUTE)
  expect(await tokens.withNewScopes(first.value)).toEqual(first)
  shop.advance(MINUTE)
  const [next, again] = await Promise.all([1, 2].map(() => tokens.withNewScopes(first.value)))
  expect(next).not.toEqual(first)
  expect(again).toEqual(next)
  expect(await tokens.current()).toEqual(next)
  expect((await asked()) - before).toBe(1)
  expect(await raised()).toEqual([])
})

test('a fresh token that the platform refuses causes a notice, and no new requests', async () => {
  expect(await fails()).toBe('ok')
  shop.advance(MINUTE)
  const before = await asked()
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'unauthorized', next: 9 })
  for (let times = 0; times < 3; times++) expect(await fails()).toBe('unauthorized')
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'none' })
  expect((await asked()) - before).toBe(1)
  expect(await raised()).toEqual(['E-commerce platform refuses the token'])
  expect(await found()).toEqual([['platform', 'token']])
  await renewToken(shop.ctx)
  expect(await found()).toEqual([])
})

test.each([
  ['error500', 'server_error'],
  ['too_many', 'throttled'],
  ['garbage', 'bad_reply'],
  ['half', 'network'],
  ['lost', 'network']
])('%s: without a token calls wait for the next try; with one they go on with it', async (kind, reason) => {
  await asked({ fault: { kind, next: 1 } })
  expect(await fails()).toBe(reason)
  // At first it counts for all calls; after a moment the platform is asked again.
  expect(await fails()).toBe(reason)
  expect(await found()).toEqual([['platform_token', 'token_ended']])
  shop.advance(3 * SECOND)
  expect(await fails()).toBe('ok')
  expect(await found()).toEqual([])

  shop.advance(20 * HOUR)
  await asked({ fault: { kind, next: 99 } })
  expect(await fails()).toBe('ok')
  // One failure with hours left needs no notice; a lasting one does.
  expect(await found()).toEqual([])
  shop.advance(20 * MINUTE)
  await renewToken(shop.ctx)
  expect(await found()).toEqual([['platform_token', 'token_ending']])
  shop.advance(4 * HOUR)
  expect(await fails()).toBe(reason)
  expect(await found()).toEqual([['platform_token', 'token_ended']])
  await asked({ fault: { kind: 'none' } })
  shop.advance(MINUTE)
  expect(await fails()).toBe('ok')
  expect(await found()).toEqual([])
})

test('a token without a renewal causes a notice before it ends', async () => {
  expect(await fails()).toBe('ok')
  shop.advance(20 * HOUR)
  expect(await found()).toEqual([])
  shop.advance(2 * HOUR)
  expect(await found()).toEqual([['platform_token', 'token_ending']])
})

test('refused credentials cause one notice at once, in words that say what to do, until they are accepted', async () => {
  await asked({ installed: false })
  expect(await Promise.all([call(), call()])).toMatchObject([
    { reason: 'unauthorized', message: expect.stringContaining('the app is not installed in this shop') },
    { reason: 'unauthorized' }
  ])
  expect(await raised()).toEqual(['E-commerce platform (API key and secret) refuses the token'])
  expect(await found()).toEqual([['platform_key', 'token']])
  await asked({ installed: true })
  shop.advance(MINUTE)
  await renewToken(shop.ctx)
  expect(await found()).toEqual([])

  await writeSettings(shop.ctx, { shopify_api_key: 'unknown' })
  expect(await call()).toMatchObject({ message: expect.stringContaining('no app has this API key') })
  await writeSettings(shop.ctx, { shopify_api_key: secrets.apiKey, shopify_api_secret: 'wrong' })
  expect(await call()).toMatchObject({ message: expect.stringContaining('the API secret does not belong') })
  expect(JSON.stringify(await raisedNotices(shop.ctx.db))).not.toContain('wrong')
  // It says nothing about other credentials.
  await writeSettings(shop.ctx, { shopify_api_secret: secrets.appSecret })
  expect(await found()).toEqual([])
})

test('silence and a closed port are failures that another try may mend', async () => {
  const client = { shopUrl: sandbox.url, clientId: secrets.apiKey, clientSecret: secrets.appSecret }
  await asked({ fault: { kind: 'timeout', next: 1 } })
  expect(await requestToken({ ...client, timeoutMs: 300 })).toMatchObject({ reason: 'timeout', retryable: true })
  expect(await requestToken({ ...client, shopUrl: await closedUrl() })).toMatchObject({
    reason: 'network',
    retryable: true
  })
  expect(await requestToken(client)).toMatchObject({ ok: true, value: { lifetimeMs: 86_399_000 } })
})

test('a saved token that any job finds refused causes a notice at once, until it is accepted', async () => {
  await writeSettings(shop.ctx, { shopify_app_key: 'wrong' })
  const before = await asked()
  const platform = await openPlatform(shop.ctx)
  expect(platform.ok && (await platform.data.discounts([{ code: 'A', holder: null }]))).toMatchObject({
    reason: 'unauthorized'
  })
  expect(await raised()).toEqual(['E-commerce platform refuses the token'])
  expect(await found()).toEqual([['platform', 'token']])
  await renewToken(shop.ctx)
  expect(await found()).toEqual([['platform', 'token']])
  expect(await raised()).toHaveLength(1)
  await writeSettings(shop.ctx, { shopify_app_key: secrets.accessToken })
  expect(await found()).toEqual([])
  expect((await asked()) - before).toBe(0)
})

test('a token that was sealed under another APP_SECRET is replaced', async () => {
  expect(await fails()).toBe('ok')
  await shop.ctx.db.update(platformTokens).set({ token: Buffer.alloc(60) })
  shop.advance(SECOND)
  expect(await fails()).toBe('ok')
})
