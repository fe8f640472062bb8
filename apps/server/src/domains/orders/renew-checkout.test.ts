import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fromCents, toCents } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { demoPlans, demoRules, demoRulesProduct } from '../../../../sandbox/src/shopify/catalogue.ts'
import { control, launch, newDataDir, removeDataDir, secrets } from '../../../../sandbox/src/testing/harness.ts'
import type { Sandbox } from '../../../../sandbox/src/sandbox.ts'
import { DAY, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { startTestShop, type TestShop, type TestUser } from '../../testing/shop.ts'
import type { TestClient } from '../../testing/client.ts'
import { addGroup, addProduct } from '../catalog/products.fixture.ts'
import { products, variants } from '../catalog/tables.ts'
import { checkPlatform } from '../commerce/index.ts'
import { createRule } from '../inventory/index.ts'
import { aclRules } from '../inventory/tables.ts'
import { orders } from './tables.ts'
import { writeSettings } from '../settings/index.ts'
import { orderRoutes } from './routes.ts'
import { addRow } from '../../testing/rows.ts'
import { fromNow } from '../../testing/later.ts'
import { openSaleCheck } from './sale-check.ts'

const PLAN_GONE =
  'This plan is no longer sold, so you cannot renew it. Your proxies work until they expire. Please choose another plan.'
const RULE_GONE =
  'The access rule Nike is no longer sold, so you cannot renew this order. Your proxies work until they expire. Please place a new order.'

const planId = demoPlans[0]?.id ?? ''
const variantId = demoPlans[0]?.variants[0]?.id ?? ''
const ruleVariantId = demoRules[0]?.variantId ?? ''

let shop: TestShop
let sandbox: Sandbox
let dataDir: string
let customer: TestClient & { user: TestUser }
let orderId: number

beforeAll(async () => {
  shop = await startTestShop({
    routes: (mount, ctx) =>
      orderRoutes(mount, ctx, { ordersPaidBy: () => Promise.resolve([]), hasOpenMoney: sql`false` })
  })
  dataDir = await newDataDir()
  sandbox = await launch(dataDir, 'http://127.0.0.1:9')
  await writeSettings(shop.ctx, {
    shopify_shop_url: sandbox.url,
    shopify_app_key: secrets.accessToken,
    shopify_api_secret: secrets.appSecret
  })
  customer = await shop.customer()
  const { db } = shop.ctx
  const { groupId } = await addGroup(db, [{ cidr: '10.5.0.0/24' }])
  const product = await addProduct(db, { platformId: planId }, [{ platformId: variantId, serverGroupId: groupId }])
  const rule = await command(shop.ctx, SYSTEM, unit =>
    createRule(unit, {
      name: 'Nike',
      description: '',
      price: '0.50',
      platformVariantId: ruleVariantId,
      aclValue: 'nike.example'
    })
  )
  if (!rule.ok) throw new Error(rule.reason)
  const order = await addRow(shop.ctx, orders, {
    publicId: 'NL-RENEW',
    userId: customer.user.id,
    productId: product.id,
    variantId: product.variants[0]?.id ?? 0,
    serverGroupId: groupId,
    productName: 'Plan',
    variantName: 'London',
    quantity: 1,
    cartStep: 1,
    proxyTime: 30,
    variantPrice: '2.20',
    aclPrice: '0.50',
    amount: '2.70',
    rules: [rule.rule.id],
    checkoutUrl: 'https://shop.example.com',
    proxyUsername: 'u1',
    proxyPassword: 'p1',
    state: 'delivered',
    payAmount: '2.70',
    platformOrderId: '1',
    platformOrderNumber: '#1',
    paidAt: shop.ctx.now(),
    expiredAt: fromNow(shop.ctx, 10 * DAY)
  })
  orderId = order.id
})

beforeEach(async () => {
  // The cached answer of the platform expires.
  shop.advance(MINUTE)
  const { db } = shop.ctx
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'none' })
  for (const id of [planId, demoRulesProduct.id])
    await control(sandbox, 'PATCH', `/products/${id}`, { status: 'ACTIVE', silent: true })
  await db.update(products).set({ valid: true, active: true, deletedAt: null })
  await db.update(variants).set({ isActive: true, deletedAt: null })
  await db.update(aclRules).set({ valid: true, deletedAt: null })
})

afterAll(async () => {
  await shop?.close()
  await sandbox?.close()
  await removeDataDir(dataDir)
})

const renew = () => customer.post<{ checkout_url: string }>(`/api/orders/order_list/${orderId}/order-renew-checkout/`)

test('a plan that is sold has a link that the platform opens', async () => {
  const reply = await renew()
  expect(reply.code).toBe(2000)
  expect((await fetch(reply.data.checkout_url, { redirect: 'manual' })).status).toBe(302)
})

test.each([
  ['its product was withdrawn on the platform', () => shop.ctx.db.update(products).set({ valid: false })],
  ['its product was removed from the shop', () => shop.ctx.db.update(products).set({ deletedAt: shop.ctx.now() })],
  ['its product is not offered', () => shop.ctx.db.update(products).set({ active: false })],
  ['its variant is gone', () => shop.ctx.db.update(variants).set({ deletedAt: shop.ctx.now() })],
  ['its variant is not offered', () => shop.ctx.db.update(variants).set({ isActive: false })],
  [
    'the platform archived it without an event',
    () => control(sandbox, 'PATCH', `/products/${planId}`, { status: 'ARCHIVED', silent: true })
  ]
])('a plan is not renewed once %s: the customer learns it before paying', async (_why, withdraw) => {
  await withdraw()
  expect(await renew()).toMatchObject({ status: 409, msg: PLAN_GONE, data: { reason: 'plan_withdrawn' } })
})

test.each([
  ['deleted', () => shop.ctx.db.update(aclRules).set({ deletedAt: shop.ctx.now() })],
  ['withdrawn on the platform', () => shop.ctx.db.update(aclRules).set({ valid: false })],
  [
    'archived on the platform without an event',
    () => control(sandbox, 'PATCH', `/products/${demoRulesProduct.id}`, { status: 'DRAFT', silent: true })
  ]
])('an order whose access rule was %s is not renewed, and says which rule', async (_how, withdraw) => {
  await withdraw()
  expect(await renew()).toMatchObject({ status: 409, msg: RULE_GONE, data: { params: { rule: 'Nike' } } })
})

test.each([
  ['its plan', () => planId, 'London'],
  ['its rule', () => demoRulesProduct.id, 'Nike']
])(
  'an order is neither renewed nor placed for more than the checkout has left of %s',
  async (_what, productOf, name) => {
    const { db } = shop.ctx
    const id = productOf()
    const all = await control<{ id: string; variants: { id: string }[] }[]>(sandbox, 'GET', '/products')
    const setStock = async (stock: number | null) => {
      shop.advance(MINUTE)
      const of = all.find(product => product.id === id)?.variants.map(variant => ({ id: variant.id, stock }))
      await control(sandbox, 'PATCH', `/products/${id}`, { variants: of, silent: true })
    }
    const [order] = await db
      .update(orders)
      .set({ quantity: 4, amount: '10.80' })
      .where(eq(orders.id, orderId))
      .returning()
    // The shop knows from its last reading that it is counted.
    const counted = { platformStock: 'counted' } as const
    await (id === planId ? db.update(variants).set(counted) : db.update(aclRules).set(counted))
    const place = (quantity = 4) => {
      const option_selected = { option1: 'place 0', acl_selected: order?.rules }
      return customer.post('/api/orders/checkout', { product_id: order?.productId, quantity, option_selected })
    }
    await setStock(0)
    const soldOut = { status: 409, data: { reason: 'sold_out_on_platform', params: { name } } }
    expect([await renew(), await place()]).toMatchObject([soldOut, soldOut])
    await setStock(3)
    const short = { status: 409, data: { reason: 'short_on_platform', params: { name, left: 3 } } }
    expect([await renew(), await place()]).toMatchObject([short, short])
    expect(await place(3)).toMatchObject({ code: 2000 })
    await setStock(4)
    expect([await renew(), await place()]).toMatchObject([{ code: 2000 }, { code: 2000 }])
    // A platform that does not answer stops no order.
    await setStock(3)
    await control(sandbox, 'POST', '/graphql/faults', { kind: 'unauthorized', next: 1 })
    expect(await place()).toMatchObject({ code: 2000 })
    await setStock(null)
    expect([await renew(), await place()]).toMatchObject([{ code: 2000 }, { code: 2000 }])
    await db.update(orders).set({ quantity: 1, amount: '2.70' }).where(eq(orders.id, orderId))
    // The reservations end.
    shop.advance(31 * MINUTE)
    await db.update(variants).set({ platformStock: 'none' })
    await db.update(aclRules).set({ platformStock: 'none' })
  }
)

test('while the platform’s shop is paused, no order is placed or renewed', async () => {
  const [order] = await shop.ctx.db.select().from(orders).where(eq(orders.id, orderId))
  const option_selected = { option1: 'place 0', acl_selected: order?.rules }
  const place = () =>
    customer.post('/api/orders/checkout', { product_id: order?.productId, quantity: 4, option_selected })
  for (const paused of [true, false]) {
    await control(sandbox, 'POST', '/online_store', { paused })
    await checkPlatform(shop.ctx)
    const refused = { status: 503, data: { reason: 'platform_paused' } }
    expect(await renew()).toMatchObject(paused ? refused : { code: 2000 })
    if (!paused) continue
    expect(await place()).toMatchObject(refused)
    // A check that fails says nothing new.
    await control(sandbox, 'POST', '/graphql/faults', { kind: 'error500', next: 1 })
    await checkPlatform(shop.ctx)
    expect(await renew()).toMatchObject(refused)
  }
})

test('while the platform’s API does not answer, what is known here decides', async () => {
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'error500', next: 2 })
  expect(await renew()).toMatchObject({ code: 2000 })
  await shop.ctx.db.update(products).set({ valid: false })
  expect(await renew()).toMatchObject({ status: 409 })
})

test('another customer’s order is none', async () => {
  const [row] = await shop.ctx.db.select().from(orders).where(eq(orders.id, orderId))
  expect(row?.state).toBe('delivered')
  const other = await shop.customer()
  expect(await other.post(`/api/orders/order_list/${orderId}/order-renew-checkout/`)).toMatchObject({ status: 404 })
})

const renewMany = (ids: unknown, by: TestClient = customer) =>
  by.post<{ id: number; checkout_url?: string; days?: number; price?: string | null; reason?: string; msg?: string }[]>(
    '/api/orders/renew/',
    { order_ids: ids }
  )

/** Copies of the first order. */
async function addOrders(count: number, change: object = {}): Promise<number[]> {
  const [row] = await shop.ctx.db.select().from(orders).where(eq(orders.id, orderId))
  if (!row) throw new Error('no order')
  const { id: _id, ...same } = row
  const copies = Array.from({ length: count }, () => {
    const unique = randomUUID()
    return { ...same, publicId: unique, proxyUsername: unique, ...change }
  })
  return (await shop.ctx.db.insert(orders).values(copies).returning({ id: orders.id })).map(({ id }) => id)
}

test('several orders get a link each, or the reason of each that has none, in the sequence that was asked for', async () => {
  const [paid = 0, expired = 0, unpaid = 0] = [
    ...(await addOrders(1)),
    ...(await addOrders(1, { state: 'expired' })),
    ...(await addOrders(1, { state: 'placed', paidAt: null, payAmount: null }))
  ]
  const other = await shop.customer()
  const [theirs = 0] = await addOrders(1, { userId: other.user.id })
  const reply = await renewMany([unpaid, orderId, String(paid), expired, theirs, 999_999, orderId])
  expect(reply.code, reply.msg).toBe(2000)
  expect(reply.data).toMatchObject([
    { id: unpaid, reason: 'order_not_paid', msg: 'This order is unpaid', params: {} },
    { id: orderId, days: 30 },
    { id: paid, days: 30 },
    { id: expired, reason: 'order_expired' },
    { id: theirs, reason: 'not_found' },
    { id: 999_999, reason: 'not_found' }
  ])
  // Each link equals the single call's.
  const links = reply.data.map(one => one.checkout_url)
  expect(links[1]).toBe((await renew()).data.checkout_url)
  expect(links[2]).not.toBe(links[1])
  expect((await renewMany([theirs], other)).data).toMatchObject([{ id: theirs, days: 30 }])
})

test('the price is what the platform asks today for all proxies and rules, not what was paid before', async () => {
  const [many = 0] = await addOrders(1, { quantity: 8, amount: '21.60' })
  const each = toCents(demoPlans[0]?.variants[0]?.price ?? '') + toCents(demoRules[0]?.price ?? '')
  expect((await renewMany([orderId, many])).data).toMatchObject([
    { id: orderId, price: fromCents(each) },
    { id: many, price: fromCents(8n * each) }
  ])
})

test.each([
  ['that does not answer', undefined],
  ['whose price is not in whole cents', '5.001'],
  ['whose price is below nothing', '-5.00']
])('a platform %s says no price, and the link is there', async (_what, price) => {
  const platform = createServer((request, response) => {
    const node = (id: string) => ({
      id: `gid://shopify/ProductVariant/${id}`,
      price,
      product: { id: 'gid://shopify/Product/1', status: 'ACTIVE', updatedAt: shop.ctx.now().toISOString() }
    })
    request.resume().on('end', () => {
      response.statusCode = price === undefined ? 500 : 200
      response.end(JSON.stringify({ data: { nodes: [node(variantId), node(ruleVariantId)] } }))
    })
  })
  platform.listen(0, '127.0.0.1')
  await once(platform, 'listening')
  await writeSettings(shop.ctx, { shopify_shop_url: `http://127.0.0.1:${(platform.address() as AddressInfo).port}` })
  expect((await renewMany([orderId])).data).toMatchObject([{ id: orderId, days: 30, price: null }])
  platform.close()
  await writeSettings(shop.ctx, { shopify_shop_url: sandbox.url })
})

test('one withdrawn rule is said at each order that has it, and the others are not held up', async () => {
  const [bare = 0] = await addOrders(1)
  await shop.ctx.db.update(aclRules).set({ valid: false })
  const rule = await command(shop.ctx, SYSTEM, unit =>
    createRule(unit, {
      name: 'Other',
      description: '',
      price: '0.50',
      platformVariantId: '77',
      aclValue: 'other.example'
    })
  )
  if (!rule.ok) throw new Error(rule.reason)
  await shop.ctx.db
    .update(orders)
    .set({ rules: [rule.rule.id] })
    .where(eq(orders.id, bare))
  expect((await renewMany([orderId, bare])).data).toMatchObject([
    { id: orderId, reason: 'rule_withdrawn', params: { rule: 'Nike' }, msg: RULE_GONE },
    // The platform does not have variant 77.
    { id: bare, reason: 'rule_withdrawn', params: { rule: 'Other' } }
  ])
  await control(sandbox, 'POST', '/graphql/faults', { kind: 'error500', next: 2 })
  shop.advance(MINUTE)
  expect((await renewMany([orderId, bare])).data).toMatchObject([{ reason: 'rule_withdrawn' }, { id: bare, days: 30 }])
})

test.each([[[]], [Array.from({ length: 51 }, (_, n) => n + 1)], [['x']], [[0]], ['1,2'], [undefined], [[1.5]]])(
  'a list of orders that is none is refused: %#',
  async ids => {
    expect(await renewMany(ids)).toMatchObject({ status: 400, data: { errors: expect.any(Object) } })
  }
)

test('fifty orders asked for ten times at once are one question to the platform', async () => {
  const ids = await addOrders(50)
  let calls = 0
  const platform = createServer((request, response) => {
    calls += 1
    request.resume().on('end', () => response.end(JSON.stringify({ data: { nodes: [] } })))
  })
  platform.listen(0, '127.0.0.1')
  await once(platform, 'listening')
  await writeSettings(shop.ctx, { shopify_shop_url: `http://127.0.0.1:${(platform.address() as AddressInfo).port}` })
  const replies = await Promise.all(Array.from({ length: 10 }, () => renewMany(ids)))
  expect(replies.map(({ data }) => data.length)).toEqual(Array.from({ length: 10 }, () => 50))
  expect(calls).toBe(1)
  platform.close()
  await writeSettings(shop.ctx, { shopify_shop_url: sandbox.url })
})

test('pressing without end leads to one question to the platform in half a minute', async () => {
  let calls = 0
  const platform = createServer((request, response) => {
    calls += 1
    request.resume().on('end', () => response.end(JSON.stringify({ data: { nodes: [] } })))
  })
  platform.listen(0, '127.0.0.1')
  await once(platform, 'listening')
  await writeSettings(shop.ctx, { shopify_shop_url: `http://127.0.0.1:${(platform.address() as AddressInfo).port}` })
  const replies = await Promise.all(Array.from({ length: 50 }, renew))
  await renew()
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([409]))
  expect(calls).toBe(1)
  shop.advance(MINUTE)
  await renew()
  expect(calls).toBe(2)
  platform.close()
  await writeSettings(shop.ctx, { shopify_shop_url: sandbox.url })
})

test('one user causes a limited number of questions a minute; others are not delayed', async () => {
  let now = 0
  let calls = 0
  const check = openSaleCheck(() => new Date(now))
  const platform = {
    variants: () => {
      calls += 1
      return Promise.resolve({ ok: true as const, value: new Map<string, never>() })
    }
  }
  for (let n = 0; n < 100; n++) void check(platform, 1, [String(n)])
  expect(calls).toBe(20)
  expect(check(platform, 1, ['new'])).toBeNull()
  // Cached answers do not count.
  expect(await check(platform, 1, ['3'])).toMatchObject({ ok: true })
  expect(check(platform, 2, ['new'])).not.toBeNull()
  now += MINUTE
  expect(check(platform, 1, ['newer'])).not.toBeNull()
})
