import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, expect, test } from 'vitest'
import { demoCollections, demoPlans, demoRules } from '../../../../sandbox/src/shopify/catalogue.ts'
import {
  closedUrl,
  control,
  launchAlone,
  secrets,
  startReceiver,
  until
} from '../../../../sandbox/src/testing/harness.ts'
import type { Sandbox } from '../../../../sandbox/src/sandbox.ts'
import { useStarted } from '../../testing/use-started.ts'
import { API_VERSION, documents } from './documents.ts'
import { PaidOrder, createShopify, readOrderReference, type ShopifyResult } from './index.ts'

const shop = useStarted(startReceiver)
const sandbox: Sandbox = useStarted(() => launchAlone(shop.url))
const slept: number[] = []
/** How many topics the shop subscribes to. */
const wanted = 10

const client = (options: Partial<Parameters<typeof createShopify>[0]> = {}) =>
  createShopify({
    shopUrl: sandbox.url,
    accessToken: secrets.accessToken,
    apiSecret: secrets.appSecret,
    sleep: async ms => slept.push(ms),
    ...options
  })

function value<T>(result: ShopifyResult<T>): T {
  if (!result.ok) throw new Error(`${result.reason}: ${result.message}`)
  return result.value
}

beforeEach(async () => {
  slept.length = 0
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'none' })
})

/** Buys through the permalink like a browser. @returns the resulting webhook */
async function buy(orderId: string, renewal = false) {
  const url = client().checkoutUrl({
    lines: [
      { variantId: demoPlans[0]?.variants[1]?.id ?? '', quantity: 8 },
      { variantId: demoRules[0]?.variantId ?? '', quantity: 8 }
    ],
    email: 'buyer@example.test',
    attributes: { order_id: orderId, renewal },
    discountCodes: ['GOLD8']
  })
  const checkout = await fetch(url ?? '')
  await fetch(`${checkout.url}/pay`, { method: 'POST', redirect: 'manual' })
  const hook = await until('the payment', () =>
    shop.received.find(one => one.body.includes(`"name":"order_id","value":"${orderId}"`))
  )
  return { hook, order: PaidOrder.parse(JSON.parse(hook.body.toString())) }
}

test('the whole catalogue arrives, page by page, unchanged', async () => {
  const products = value(await client().products())
  expect(products.map(one => one.title)).toEqual([...demoPlans.map(one => one.title), 'Access rules'])
  expect(value(await client().productCount())).toBe(products.length)
  const [metro] = products
  expect(metro).toMatchObject({
    id: '720000000001',
    status: 'ACTIVE',
    tags: ['Social', 'Streaming', 'SEO'],
    collections: [{ id: '710000000001', title: 'ISP Proxies' }],
    options: [
      { name: 'Location', values: ['New York', 'London', 'Frankfurt', 'Tokyo'] },
      { name: 'Block', values: ['Single address', 'Block of 8'] }
    ]
  })
  expect(metro?.variants).toHaveLength(8)
  expect(metro?.variants[1]).toEqual({
    id: '72000000000102',
    title: 'New York / Block of 8',
    price: '2.02',
    position: 2,
    selectedOptions: [
      { name: 'Location', value: 'New York' },
      { name: 'Block', value: 'Block of 8' }
    ],
    stock: 'none',
    shipped: false
  })
  expect(metro?.description).toContain('• No traffic cap')
  expect(metro?.description).not.toContain('<')
})

test('a product in more collections than a page holds comes with all of them', async () => {
  const { id } = await control<{ id: string }>(sandbox, 'POST', '/products', {
    title: 'In several',
    collections: demoCollections.map(collection => collection.id),
    optionNames: ['Size'],
    variants: [{ options: ['one'], price: '1.00' }]
  })
  const { product, productCollections } = documents
  // Pages of one stand for a product in hundreds of collections.
  Object.assign(documents, {
    product: product.replace('collections(first: 10)', 'collections(first: 1)'),
    productCollections: productCollections.replace('first: 200', 'first: 1')
  })
  try {
    const { collections } = value(await client().product(id))
    expect(collections.map(each => each.id)).toEqual(demoCollections.map(collection => collection.id))
  } finally {
    Object.assign(documents, { product, productCollections })
    await control(sandbox, 'DELETE', `/products/${id}`)
  }
})

test('a product with more variants than a page holds comes with all of them', async () => {
  const made = await control<{ id: string }>(sandbox, 'POST', '/products', {
    title: 'Many',
    optionNames: ['Number'],
    variants: Array.from({ length: 451 }, (_, index) => ({ options: [`n${index}`], price: '1.00' }))
  })
  const product = value(await client().product(made.id))
  expect(product.variants.map(one => one.position)).toEqual(Array.from({ length: 451 }, (_, index) => index + 1))
  await control(sandbox, 'DELETE', `/products/${made.id}`)
  expect(await client().product(made.id)).toMatchObject({ ok: false, reason: 'not_found', retryable: false })
})

test('collections with their pictures, and the tags in use', async () => {
  const collections = value(await client().collections())
  expect(collections.map(one => one.title)).toEqual(demoCollections.map(one => one.title))
  const picture = await fetch(collections[0]?.image?.url ?? '')
  expect(picture.headers.get('content-type')).toContain('image/svg+xml')
  expect(value(await client().productTags())).toEqual(
    [...new Set([...demoPlans.flatMap(one => one.tags), 'acl'])].toSorted()
  )
})

test('a payment comes back signed, with our order id, and reconciliation sees the same', async () => {
  const { hook, order } = await buy('NL-501', true)
  expect(client().verifyWebhook(hook.body, String(hook.headers['x-shopify-hmac-sha256']))).toBe(true)
  expect(readOrderReference(order)).toEqual({ order: 'NL-501', isRenewal: true, isByNote: false })
  expect(order.total_price).toBe('18.55')
  const seen = value(await client().order(order.id))
  expect(seen).toMatchObject({
    paid: true,
    attributes: { order_id: 'NL-501', renewal: '1' },
    received: '18.55',
    totalDiscounts: '1.61',
    discountCodes: ['GOLD8'],
    email: 'buyer@example.test'
  })
})

test('orders that changed since a time include those whose webhook never came', async () => {
  const before = new Date()
  await control(sandbox, 'POST', '/webhooks/faults', { action: 'drop' })
  const url = client().checkoutUrl({
    lines: [{ variantId: demoPlans[0]?.variants[0]?.id ?? '', quantity: 1 }],
    attributes: { order_id: '601' }
  })
  await fetch(`${(await fetch(url ?? '')).url}/pay`, { method: 'POST', redirect: 'manual' })
  const { orders, more } = value(await client().changedOrders(before))
  expect(more).toBe(false)
  expect(orders.map(one => one.attributes.order_id)).toContain('601')
  expect(value(await client().changedOrders(new Date(Date.now() + 60_000))).orders).toEqual([])
})

test('one call adds and removes tags; removing a missing one is no error', async () => {
  const { order } = await buy('702')
  value(await client().tagOrder(order.id, ['vip', 'delivery_fail'], { note: 'No free addresses' }))
  const without = ['delivery_fail', 'never_there']
  for (let time = 0; time < 2; time += 1) value(await client().tagOrder(order.id, ['delivered'], { without }))
  expect(value(await client().order(order.id))).toMatchObject({ tags: ['vip', 'delivered'], note: 'No free addresses' })
  expect(await client().tagOrder('1', ['delivered'], { without })).toMatchObject({ ok: false, reason: 'not_found' })
})

const subscribed = async () =>
  (await control<{ subscriptions: { topic: string; uri: string }[] }>(sandbox, 'GET', '/webhooks')).subscriptions
const counts = { created: 0, updated: 0, kept: 0, blocked: false }

test('webhooks: created once, kept on repeat, moved with the shop’s address', async () => {
  const register = async (callbackBase: string, earlier: string[] = []) =>
    value(await client().registerWebhooks({ callbackBase, earlier }))
  const first = 'http://127.0.0.1:1'
  expect(await register(`${first}/`)).toMatchObject({ ...counts, created: wanted, foreign: [] })
  expect(await register(first)).toMatchObject({ ...counts, kept: wanted })
  expect(await register(shop.url, [first])).toMatchObject({ ...counts, updated: wanted, foreign: [] })
  const subscriptions = await subscribed()
  expect(new Set(subscriptions.map(({ topic }) => topic)).size).toBe(wanted)
  for (const { topic, uri } of subscriptions)
    expect(uri, topic).toBe(`${shop.url}/api/orders/${topic.startsWith('PRODUCTS_') ? 'product' : 'pay'}_webhook`)
  // An installation that registers beside it receives nothing after this one takes over.
  const other = 'http://127.0.0.1:3'
  expect(await register(other, [other])).toMatchObject({ ...counts, created: wanted, foreign: [shop.url] })
  const here = { callbackBase: shop.url, earlier: [shop.url] }
  expect(value(await client().registerWebhooks(here, { takeOver: true }))).toMatchObject({ ...counts, kept: wanted })
  expect(await subscribed()).toEqual(subscriptions)
  expect(await client().registerWebhooks({ callbackBase: 'no address', earlier: [shop.url] })).toMatchObject({
    ok: false,
    reason: 'rejected'
  })
})

test('subscriptions of the same app for other programs are left alone', async () => {
  const pos = 'https://warehouse.example.com/hooks/orders'
  await control(sandbox, 'DELETE', '/webhooks/subscriptions')
  await fetch(`${sandbox.url}/admin/api/2026-07/graphql.json`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-shopify-access-token': secrets.accessToken },
    body: JSON.stringify({ query: documents.createWebhook, variables: { topic: 'ORDERS_PAID', uri: pos } })
  })
  const here = { callbackBase: shop.url, earlier: [] }
  expect(value(await client().registerWebhooks(here, { takeOver: true }))).toMatchObject({
    created: wanted,
    foreign: []
  })
  expect((await subscribed()).map(one => one.uri)).toContain(pos)
})

test('more prices than one call takes are written, and a repeat changes nothing more', async () => {
  const { id, variants } = await control<{ id: string; variants: { id: string }[] }>(sandbox, 'POST', '/products', {
    title: 'Large',
    optionNames: ['Place'],
    variants: Array.from({ length: 300 }, (_, at) => ({ options: [`Place ${at}`], price: '1.00' }))
  })
  const prices = new Map(variants.map((variant, at) => [variant.id, `2.${String(at % 100).padStart(2, '0')}`]))
  for (let time = 0; time < 2; time++) {
    value(await client().setPrices(id, prices))
    const found = value(await client().product(id))
    expect(new Map(found.variants.map(variant => [variant.id, variant.price]))).toEqual(prices)
  }
  await control(sandbox, 'DELETE', `/products/${id}`)
})

test('the shop reports its currency and the scopes of the access token', async () => {
  expect(value(await client().shop())).toEqual({
    name: 'Netlet stand-in',
    currency: 'USD',
    domain: 'sandbox.myshopify.com',
    paused: false,
    scopes: [
      ...['products', 'orders', 'discounts', 'customers'].flatMap(what => [`read_${what}`, `write_${what}`]),
      'read_shopify_payments_disputes',
      'read_publications',
      'read_all_orders'
    ]
  })
})

test('throttled: waits as long as the budget needs, then continues', async () => {
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'throttled', next: 3 })
  expect(value(await client().collections())).toHaveLength(3)
  // 60 points are needed and 40 are left. At 100 a second this takes 200 ms, but the growing pause is longer.
  expect(slept).toEqual([250, 500, 1000])
})

test('rate limited: waits for Retry-After up to a minute, and continues', async () => {
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'too_many', next: 2, retry_after: 25 })
  expect(value(await client().collections())).toHaveLength(3)
  expect(slept).toEqual([25_000, 25_000])
})

test('rate limited for more than a minute: fails at once, without another call', async () => {
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'too_many', next: 5, retry_after: 90 })
  expect(await client().collections()).toEqual({
    ok: false,
    reason: 'throttled',
    message: 'The e-commerce platform limits the request rate. Try again in 90 s.',
    retryable: true
  })
  expect(slept).toEqual([])
})

/** A platform whose first reply is this one, and whose other replies list no tags. */
function answering(first: object) {
  let asked = 0
  const tags = { productTags: { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } } }
  return client({ fetch: async () => Response.json(asked++ === 0 ? first : { data: tags }) })
}

test('a call that an old token may not make is repeated once with a new one, unless it changed something', async () => {
  const asked: string[] = []
  const denied = (path: string[]) => ({ message: 'Access denied', path, extensions: { code: 'ACCESS_DENIED' } })
  const call = (next: string, errors: object[]) =>
    client({
      accessToken: {
        current: async () => ({ ok: true, value: 'old' }),
        renewed: async () => ({ ok: true, value: 'old' }),
        withNewScopes: async () => ({ ok: true, value: next }),
        refused: async () => undefined
      },
      async fetch(_url, init) {
        const token = new Headers(init?.headers).get('x-shopify-access-token') ?? ''
        asked.push(token)
        const data = { customerByIdentifier: null, productTags: null, refundCreate: null }
        return Response.json({ data, ...(token === 'new' ? {} : { errors }) })
      }
    })
  expect(value(await call('new', [denied(['customerByIdentifier'])]).customer('a@example.test'))).toBeNull()
  expect(asked.splice(0)).toEqual(['old', 'new'])
  for (const next of ['old', 'older'])
    expect(await call(next, [denied(['productTags'])]).productTags()).toMatchObject({ reason: 'unauthorized' })
  expect(asked.splice(0)).toEqual(['old', 'old', 'older'])
  const input = { orderId: 'gid://shopify/Order/1', note: '', notify: false as const, transactions: [] }
  const executed = [denied(['refundCreate']), denied(['refundCreate', 'order', 'email'])]
  expect(await call('new', executed).refund(input, 'key')).toMatchObject({ reason: 'unauthorized' })
  expect(asked).toEqual(['old'])
})

const throttled = [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }]
const costOf = (requestedQueryCost: unknown, currentlyAvailable: number, restoreRate: number) => ({
  cost: {
    requestedQueryCost,
    actualQueryCost: null,
    throttleStatus: { maximumAvailable: 1000, currentlyAvailable, restoreRate }
  }
})

test.each([
  ['a budget that fills slowly', costOf(952, 52, 50), 18_000],
  ['a cost that says nothing', costOf(null, 0, 50), 1000],
  ['a budget that never fills', costOf(10, 0, 0), 1000],
  ['no cost', undefined, 1000]
])('throttled with %s: waits, and continues', async (_what, extensions, ms) => {
  expect(value(await answering({ errors: throttled, extensions }).productTags())).toEqual([])
  expect(slept).toEqual([ms])
})

test.each([[null], [{ cost: null }], [{ cost: 'high' }], [costOf('ten', 1, 1)]])(
  'a reply is read, whatever is said of its cost: %j',
  async extensions => {
    const data = { productTags: { nodes: ['Ads'], pageInfo: { hasNextPage: false, endCursor: null } } }
    expect(value(await answering({ data, extensions }).productTags())).toEqual(['Ads'])
  }
)

test('the version of the platform’s reply is known, also if another one was requested', async () => {
  const platform = client()
  expect(platform.apiVersion()).toBeNull()
  await platform.shop()
  expect(platform.apiVersion()).toBe(API_VERSION)
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'other_version', next: 1 })
  expect(value(await platform.shop()).currency).toBe('USD')
  expect(platform.apiVersion()).toBe('2026-10')
})

test('throttled permanently: gives up after six tries', async () => {
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'throttled', next: 50 })
  expect(await client().collections()).toMatchObject({ ok: false, reason: 'throttled', retryable: true })
  expect(slept).toHaveLength(5)
})

test.each([
  ['error500', 'server_error', true],
  ['garbage', 'bad_reply', false],
  ['half', 'network', true],
  ['lost', 'network', true],
  ['unauthorized', 'unauthorized', false]
])('a fault of the kind %s is %s', async (kind, reason, retryable) => {
  await control(sandbox, 'POST', '/graphql/faults', { kind, next: 1 })
  expect(await client().collections()).toMatchObject({ ok: false, reason, retryable })
  expect(value(await client().collections())).toHaveLength(3)
})

test.each([
  ['HTTP 402', () => new Response('Unavailable Shop', { status: 402 })],
  ['HTTP 423', () => new Response('', { status: 423 })],
  ['SHOP_INACTIVE', () => Response.json({ errors: [{ message: 'Inactive', extensions: { code: 'SHOP_INACTIVE' } }] })]
])('a shop that is frozen or locked (%s) fails every call, and a retry may help', async (_what, answer) => {
  const frozen = client({ fetch: async () => answer() })
  expect(await frozen.collections()).toMatchObject({ ok: false, reason: 'inactive', retryable: true })
})

test('silence ends at the timeout', async () => {
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'timeout', next: 1 })
  expect(await client({ timeoutMs: 100 }).collections()).toMatchObject({
    ok: false,
    reason: 'timeout',
    retryable: true
  })
})

test('no server, no shop set, a wrong token: each gives advice, and none contains the token', async () => {
  const results = [
    await client({ shopUrl: await closedUrl() }).collections(),
    await client({ shopUrl: '' }).collections(),
    await client({ accessToken: 'wrong-token-77' }).collections(),
    await client({ shopUrl: `${shop.url}/x`, accessToken: 'wrong-token-77' }).collections()
  ]
  expect(results.map(one => (one.ok ? 'ok' : one.reason))).toEqual([
    'network',
    'not_configured',
    'unauthorized',
    'bad_reply'
  ])
  for (const result of results) {
    const text = JSON.stringify(result)
    expect(text).not.toContain('wrong-token-77')
    expect(text).not.toContain(secrets.accessToken)
  }
})

test('a redirect is not followed, so the token goes nowhere else', async () => {
  const seen = shop.received.length
  const mover = createServer((_request, response) => response.writeHead(307, { location: shop.url }).end())
  await new Promise<void>(resolve => mover.listen(0, '127.0.0.1', resolve))
  const shopUrl = `http://127.0.0.1:${(mover.address() as AddressInfo).port}`
  const result = await client({ shopUrl }).collections()
  await new Promise(resolve => mover.close(resolve))
  expect(result).toMatchObject({ ok: false, reason: 'bad_reply' })
  expect(shop.received).toHaveLength(seen)
})

test('an endless answer is given up', async () => {
  const endless = createServer((_request, response) => {
    const block = Buffer.alloc(1024 * 1024, ' ')
    const more = (): void => {
      while (response.write(block));
    }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .on('drain', more)
      .on('error', () => {})
    more()
  })
  await new Promise<void>(resolve => endless.listen(0, '127.0.0.1', resolve))
  const shopUrl = `http://127.0.0.1:${(endless.address() as AddressInfo).port}`
  const result = await client({ shopUrl }).collections()
  endless.closeAllConnections()
  await new Promise(resolve => endless.close(resolve))
  expect(result).toMatchObject({ ok: false, message: expect.stringContaining('sent more than 16 MB') })
})

test('a failure on a later page is the result', async () => {
  const pages = client().productPages()
  expect((await pages.next()).value).toMatchObject({ ok: true })
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'error500', next: 1 })
  expect((await pages.next()).value).toMatchObject({ ok: false, reason: 'server_error' })
  expect((await pages.next()).done).toBe(true)
})
