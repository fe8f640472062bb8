import { EXPIRING_DAYS, type Order } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY } from '../../infra/clock.ts'
import type { TestClient } from '../../testing/client.ts'
import { ORDERED } from '../../testing/ordered.ts'
import { userActor } from '../../testing/session.ts'
import { startTestShop, TEST_PASSWORD, type TestShop } from '../../testing/shop.ts'
import { createApiKey } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import { collections, productCollections, products, variants } from '../catalog/tables.ts'
import { addGroup, addRule, addServer, inTransaction } from '../inventory/inventory.fixture.ts'
import { addCidr, reserve } from '../inventory/index.ts'
import { aclRules } from '../inventory/tables.ts'
import { deliveryRoutes } from '../delivery/index.ts'
import { orderMail, orderRoutes } from './index.ts'
import { hasOpenMoney } from '../inbox/index.ts'
import { deliveryRefusal, ordersPaidBy } from '../payments/index.ts'
import { payments } from '../payments/tables.ts'
import { orders } from './tables.ts'
import { addRow, addRows } from '../../testing/rows.ts'

let shop: TestShop
let admin: TestClient
let anna: TestClient & { user: { id: number } }
let bert: TestClient & { user: { id: number } }
/** Ids of orders by name. */
const made: Record<string, number> = {}
const PATH = '/api/orders/order_list/'

beforeAll(async () => {
  shop = await startTestShop({
    routes: (mount, ctx) => {
      orderRoutes(mount, ctx, { ordersPaidBy, hasOpenMoney })
      deliveryRoutes(mount, ctx, { deliveryRefusal })
    }
  })
  const { db } = shop.ctx
  admin = await shop.admin({ username: 'boss' })
  anna = await shop.customer({ username: 'anna', email: 'anna@one.example' })
  bert = await shop.customer({ username: 'annabert', email: 'bert@two.example' })
  const serverId = await addServer(db, 'here')
  const serverGroupId = await addGroup(db, 'here', [serverId])
  const rule = await addRule(db, 'One')
  await inTransaction(db, addCidr, { cidr: '10.1.0.0/28', serverId })
  const [metro, rural] = await addRows(shop.ctx, products, [
    { platformId: '1', name: 'Metro' },
    { platformId: '2', name: 'Rural' }
  ])
  if (!metro || !rural) throw new Error('nothing was inserted')
  const variant = await addRow(shop.ctx, variants, {
    productId: metro.id,
    platformId: '3',
    name: 'Here',
    price: '2.00',
    serverGroupId
  })
  const all = await addRow(shop.ctx, collections, { platformId: '1', name: 'All' })
  await db.insert(productCollections).values({ collectionId: all.id, productId: rural.id })

  const insert = async (what: string, change: Partial<typeof orders.$inferInsert>) => {
    const row = await addRow(shop.ctx, orders, {
      publicId: `NL-${what.toUpperCase().padEnd(16, 'Q')}`,
      userId: anna.user.id,
      productId: metro.id,
      variantId: variant.id,
      serverGroupId,
      ...ORDERED,
      productName: 'Metro',
      rules: [rule],
      state: 'timed_out',
      proxyUsername: what,
      ...change
    })
    made[what] = row.id
    return row.id
  }
  const paid = { paidAt: shop.ctx.now(), payAmount: '20.00', platformOrderId: '70001', platformOrderNumber: '#4001' }
  const holding = await insert('holding', {
    ...paid,
    state: 'delivered',
    deliveryNum: 8,
    expiredAt: new Date('2027-01-01')
  })
  const failed = { ...paid, platformOrderId: '70002', platformOrderNumber: '#4002', state: 'failed' as const }
  await insert('failed', { ...failed, expiredAt: new Date('2026-12-01') })
  await insert('unpaid', {
    userId: bert.user.id,
    productName: 'Metro 4001 as it was',
    variantPrice: '3.00',
    amount: '28.00'
  })
  await insert('rural', { userId: bert.user.id, productId: rural.id, productName: 'Rural' })
  await insert('gone', { deletedAt: shop.ctx.now() })
  await addRow(shop.ctx, payments, {
    orderId: holding,
    platformOrderId: '80001',
    platformOrderNumber: '#5001',
    kind: 'renewal',
    amount: '20.00',
    discount: '0',
    accepted: true
  })
  await reserve(db, { orderId: holding, groupId: serverGroupId, step: 8, rules: [rule], quantity: 8 })
})
afterAll(() => shop?.close())

/** A query's results by name, in order. */
async function found(query: Record<string, string>, who = admin, path = PATH) {
  const reply = await who.get<{ data: Order[]; total: number; total_exact: boolean }>(
    `${path}?${new URLSearchParams(query).toString()}`
  )
  expect(reply.status, JSON.stringify(reply.data)).toBe(200)
  expect(reply.data).toMatchObject({ total: reply.data.data.length, total_exact: true })
  return reply.data.data.map(({ id }) => Object.keys(made).find(name => made[name] === id))
}

test('an id, a number, an address or an e-mail is looked up as one', async () => {
  const everywhere: Record<string, string[]> = {
    'NL-HOLDINGQQQQQQQQQ': ['holding'],
    'nl-holdingqqqqqqqqq': ['holding'],
    HOLDINGQ: ['holding'],
    '#4001': ['holding'],
    '4002': ['failed'],
    '70002': ['failed'],
    '80001': ['holding'],
    '#9999': [],
    'anna@one.example': ['failed', 'holding'],
    '10.1.0.3': ['holding'],
    '10.1.0.12': [],
    '10.9.9.9': [],
    '2001:db8::1': [],
    // Valid for Node, but not for the database.
    'fe80::1%eth0': []
  }
  for (const [search, expected] of Object.entries(everywhere)) {
    expect(await found({ search }), search).toEqual(expected)
  }
  expect(await found({ search: String(made['rural']) })).toEqual(['rural'])
  expect(await found({ search: String(made['gone']) })).toEqual([])
  expect(await found({ search: 'NL-GONEQQQQQQQQQQQQ' })).toEqual([])
})

test('a name is a part of a product as it was sold, or of a user', async () => {
  expect(await found({ search: 'metro' })).toEqual(['unpaid', 'failed', 'holding'])
  expect(await found({ search: 'as it WAS' })).toEqual(['unpaid'])
  expect(await found({ search: 'anna' })).toEqual(['rural', 'unpaid', 'failed', 'holding'])
  expect(await found({ search: 'two.ex' })).toEqual(['rural', 'unpaid'])
  expect(await found({ search: 'nothing like it' })).toEqual([])
  await shop.ctx.db.update(products).set({ name: 'Renamed' }).where(eq(products.name, 'Rural'))
  expect(await found({ search: 'rural' })).toEqual(['rural'])
  expect(await found({ search: 'renamed' })).toEqual([])
})

test('filters narrow each other, and the search call is the same list', async () => {
  const search = '/api/orders/search'
  expect(await found({ username: 'annabert' })).toEqual(['rural', 'unpaid'])
  expect(await found({ username: 'annabert', product_name: 'metro' })).toEqual(['unpaid'])
  expect(await found({ username: 'annabert', product_name: 'metro', order_id: 'RURALQ' }, admin, search)).toEqual([])
  expect(await found({ username: 'annabert', order_id: 'RURALQ' }, admin, search)).toEqual(['rural'])
  expect(await found({ product_type: '1' })).toEqual(['rural'])
  expect(await found({ product_type: '1', search: 'anna@one.example' })).toEqual([])
  expect(await found({ product_type: '77' })).toEqual([])
  expect(await found({ pay_status: '1' })).toEqual(['failed', 'holding'])
  expect(await found({ pay_status: '0', username: 'anna' })).toEqual(['rural', 'unpaid'])
  expect(await found({ state: 'failed' })).toEqual(['failed'])
  expect(await found({ problem: '1' })).toEqual(['failed'])
  expect(await found({ problem: '1', search: 'annabert' })).toEqual([])
})

test('it sorts by end, the endless last, and by amount', async () => {
  expect(await found({ sort_by: 'expired_at', sort_order: 'asc' })).toEqual(['failed', 'holding', 'unpaid', 'rural'])
  expect(await found({ sort_by: 'amount' })).toEqual(['unpaid', 'rural', 'failed', 'holding'])
  expect(await found({ sort_by: 'amount', search: 'anna', state: 'timed_out', sort_order: 'asc' })).toEqual([
    'rural',
    'unpaid'
  ])
  expect((await admin.get(`${PATH}?sort_by=proxy_password`)).status).toBe(400)
})

test('customers find only their own orders, by any search', async () => {
  expect(await found({}, bert)).toEqual(['rural', 'unpaid'])
  expect(await found({ search: 'anna' }, bert)).toEqual([])
  expect(await found({ search: '#4001' }, bert)).toEqual([])
  // The platform's number of another customer's order.
  expect(await found({ search: '4001' }, bert)).toEqual(['unpaid'])
  expect(await found({ search: '10.1.0.3' }, bert)).toEqual([])
  expect(await found({ search: 'rural' }, bert)).toEqual(['rural'])
  expect(await found({ search: '10.1.0.3' }, anna)).toEqual(['holding'])
  expect(await found({ username: 'anna' }, bert)).toEqual(['rural', 'unpaid'])
})

test("a customer's search reads the plans' names, in Chinese too", async () => {
  expect(await found({ search: ORDERED.variantName.toLowerCase() }, bert)).toEqual(['rural', 'unpaid'])
  expect(await found({ search: '此处' }, anna)).toEqual([])
  const translations = { 'zh-CN': { words: { [ORDERED.variantName]: '此处' } } }
  await shop.ctx.db.update(products).set({ translations })
  try {
    expect(await found({ search: '此处' }, anna)).toEqual(['failed', 'holding'])
  } finally {
    await shop.ctx.db.update(products).set({ translations: {} })
  }
})

test('a customer narrows the own orders to what ends soon and by the time of the purchase', async () => {
  const { db } = shop.ctx
  const now = shop.ctx.now().getTime()
  const inDays = (days: number) => new Date(now + days * DAY)
  const change = (what: string, row: Partial<typeof orders.$inferInsert>) =>
    db
      .update(orders)
      .set(row)
      .where(eq(orders.id, made[what] ?? 0))
  const before = await db.select().from(orders)
  try {
    await change('holding', { expiredAt: inDays(EXPIRING_DAYS) })
    expect(await found({ expiring: '1' }, anna)).toEqual(['holding'])
    await change('holding', { expiredAt: inDays(EXPIRING_DAYS + 1) })
    expect(await found({ expiring: '1' }, anna)).toEqual([])
    // Over, and its addresses are held.
    await change('failed', { state: 'expired', expiredAt: inDays(-1), graceUntil: inDays(1) })
    await change('holding', { expiredAt: inDays(2) })
    expect(await found({ expiring: '1', sort_by: 'expired_at', sort_order: 'asc' }, anna)).toEqual([
      'failed',
      'holding'
    ])
    expect(await found({ expiring: '1' }, bert)).toEqual([])
    await change('failed', { graceUntil: inDays(0) })
    expect(await found({ expiring: '1' }, anna)).toEqual(['holding'])

    await change('failed', { createdAt: inDays(-3) })
    const placed_from = inDays(-3).toISOString()
    expect(await found({ placed_from }, anna)).toEqual(['failed', 'holding'])
    expect(await found({ placed_from, placed_until: inDays(-2).toISOString() }, anna)).toEqual(['failed'])
    expect(await found({ placed_until: placed_from }, anna)).toEqual([])
    expect((await anna.get(`${PATH}?placed_from=0000-01-01T00:00:00Z`)).status).toBe(400)
    // They read one customer's orders, so an administrator's list ignores them.
    expect(await found({ expiring: '1', placed_until: placed_from })).toHaveLength(4)
  } finally {
    for (const row of before)
      await change(Object.keys(made).find(name => made[name] === row.id) ?? '', {
        state: row.state,
        expiredAt: row.expiredAt,
        graceUntil: row.graceUntil,
        createdAt: row.createdAt
      })
  }
})

test('the file needs the same rights and holds the same rows', async () => {
  const file = async (who: TestClient, query: string, path = PATH) => {
    const reply = await who.fetch(`${path}?format=csv&${query}`)
    return { status: reply.status, type: reply.headers.get('content-type'), text: await reply.text() }
  }
  expect((await file(shop.visitor(), '')).status).toBe(401)
  expect((await file(anna, '', '/api/orders/search')).status).toBe(403)
  expect((await file(admin, 'after=x')).status).toBe(400)
  expect((await file(admin, 'format=xls')).status).toBe(400)
  const names = ({ text }: { text: string }) =>
    text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map(line => line.split(',')[1])
  const own = await file(bert, 'limit=1')
  expect(own.type).toBe('text/csv; charset=utf-8')
  expect(names(own)).toEqual(['NL-RURALQQQQQQQQQQQ', 'NL-UNPAIDQQQQQQQQQQ'])
  expect(names(await file(admin, 'problem=1'))).toEqual(['NL-FAILEDQQQQQQQQQQ'])
  expect(names(await file(admin, 'sort_by=amount&search=annabert'))).toEqual([
    'NL-UNPAIDQQQQQQQQQQ',
    'NL-RURALQQQQQQQQQQQ'
  ])
})

test('the file says to a spreadsheet that it is UTF-8, and begins with its first name for a program', async () => {
  const made = await createApiKey(shop.ctx, userActor(bert.user.id), {
    name: 'books',
    scopes: ['read'],
    password: TEST_PASSWORD
  })
  if (!made.ok) throw new Error(made.reason)
  const program = { headers: { authorization: `Bearer ${made.data.key}` } }
  // Decoding the text would remove the byte order mark.
  const startOf = async (reply: Response) =>
    Buffer.from(await reply.arrayBuffer())
      .toString('utf8')
      .slice(0, 3)
  expect(await startOf(await bert.fetch(`${PATH}?format=csv`))).toBe('\ufeffid')
  expect(await startOf(await shop.visitor().fetch(`${PATH}?format=csv`, program))).toBe('id,')
})

test('a failure names no server to a customer and quotes none, and all of it to an administrator', async () => {
  const { db } = shop.ctx
  const id = made['failed'] ?? 0
  const holding = made['holding'] ?? 0
  const address = 'https://10.7.7.7:8443'
  await db
    .update(orders)
    .set({ failCode: 'server_unreachable', failParams: { server: 'paris-rack-9', count: 8 } })
    .where(eq(orders.id, id))
  const refused = `${address} said no`
  await db
    .update(orders)
    .set({
      failCode: 'agent_refused',
      failParams: { message: refused },
      taskErrorCode: 'agent_refused',
      taskErrorParams: { message: refused }
    })
    .where(eq(orders.id, holding))

  const replies = await Promise.all(
    [PATH, `${PATH}?format=csv`, `${PATH}${id}/get_proxy_detail/`, `${PATH}${holding}/get_proxy_detail/`].map(path =>
      Promise.all([anna, admin].map(async who => (await who.fetch(path)).text()))
    )
  )
  for (const [own] of replies) {
    expect(own).not.toContain('paris-rack-9')
    expect(own).not.toContain('10.7.7.7')
  }
  const detail = async (who: TestClient, orderId: number) =>
    (await who.get<{ order: Order }>(`${PATH}${orderId}/get_proxy_detail/`)).data.order
  expect(await detail(anna, id)).toMatchObject({
    fail_reason: 'A server is not responding; 8 addresses are waiting for it',
    fail: { code: 'server_unreachable', params: { count: 8 } }
  })
  expect(await detail(anna, holding)).toMatchObject({
    fail: { code: 'agent_refused', params: {} },
    task_error: 'A server refused the proxies',
    task_fail: { code: 'agent_refused', params: {} }
  })
  expect(await detail(admin, id)).toMatchObject({
    fail_reason: 'Server paris-rack-9 is not responding; 8 addresses are waiting for it',
    fail: { code: 'server_unreachable', params: { server: 'paris-rack-9', count: 8 } }
  })
  expect(await detail(admin, holding)).toMatchObject({
    task_error: `A server refused the proxies: ${refused}`,
    task_fail: { code: 'agent_refused', params: { message: refused } }
  })
})

test('the orders of a product that have not ended are counted, by variant', async () => {
  const { db } = shop.ctx
  const [variant] = await db.select().from(variants)
  if (!variant) throw new Error('there is no variant')
  const ofProduct = (id: number) => admin.get(`/api/orders/of_product/${id}/`)
  await db
    .update(orders)
    .set({ state: 'placed' })
    .where(eq(orders.id, made['unpaid'] ?? 0))
  try {
    // Timed-out and deleted orders have ended.
    const counts = { unpaid: 1, live: 2 }
    expect((await ofProduct(variant.productId)).data).toEqual({
      ...counts,
      variants: [{ id: variant.id, ...counts }]
    })
  } finally {
    await db
      .update(orders)
      .set({ state: 'timed_out' })
      .where(eq(orders.id, made['unpaid'] ?? 0))
  }
  expect((await ofProduct(999_999)).data).toEqual({ unpaid: 0, live: 0, variants: [] })
})

test('an order is called in Chinese as its plan and rules are, found by that, and mailed so; a plan renamed since is not', async () => {
  const { db } = shop.ctx
  const id = made['holding'] ?? 0
  const detail = async () => (await anna.get<{ order: Order }>(`${PATH}${id}/get_proxy_detail/`)).data.order
  const translations = { 'zh-CN': { name: '都会', desc: '很长的说明', words: { [ORDERED.variantName]: '此处' } } }
  const metro = eq(products.name, 'Metro')
  const [product] = await db.update(products).set({ translations }).where(metro).returning()
  await db.update(aclRules).set({ translations: { 'zh-CN': { name: '规则一' } } })
  await db.update(users).set({ language: 'zh-CN' }).where(eq(users.id, anna.user.id))
  try {
    const order = await detail()
    expect(order).toMatchObject({ product_name: 'Metro', acl_names: ['One'] })
    expect(order.translations).toEqual({
      'zh-CN': { product_name: '都会', variant_name: '此处', acl_names: ['规则一'] }
    })
    expect(JSON.stringify(order)).not.toContain('很长的说明')
    expect(await found({ search: '都会' }, anna)).toEqual(await found({ search: 'Metro' }, anna))
    expect(await found({ search: '没有' }, anna)).toEqual([])
    expect(await orderMail(db, id)).toMatchObject({ language: 'zh-CN', data: { product_name: '都会 · 此处' } })
    await db.update(users).set({ language: 'en' }).where(eq(users.id, anna.user.id))
    const english = { language: 'en', data: { product_name: `Metro · ${ORDERED.variantName}` } }
    expect(await orderMail(db, id)).toMatchObject(english)
    // The Chinese name belongs to the new name, which was not sold.
    await db
      .update(products)
      .set({ name: 'Suburb' })
      .where(eq(products.id, product?.id ?? 0))
    expect((await detail()).translations).toEqual({
      'zh-CN': { product_name: 'Metro', variant_name: ORDERED.variantName, acl_names: ['规则一'] }
    })
  } finally {
    await db
      .update(products)
      .set({ name: 'Metro', translations: {} })
      .where(eq(products.id, product?.id ?? 0))
    await db.update(aclRules).set({ translations: {} })
    await db.update(users).set({ language: 'en' }).where(eq(users.id, anna.user.id))
  }
  expect(await detail()).not.toHaveProperty('translations')
})
