import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ordersOf, place, stockOf, type Placed } from '../../testing/buying.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestStack, type TestStack, type ShopProcess } from '../../testing/test-stack.ts'
import { variants } from '../catalog/tables.ts'
import { excludeRules } from '../inventory/index.ts'
import { writeSettings } from '../settings/index.ts'
import { timeOutOrders } from './index.ts'

/** 32 blocks of 8. */
const ALL = 256
let stack: TestStack
let shop: ShopProcess
let buyer: TestClient
let admin: TestClient

beforeAll(async () => {
  stack = await startTestStack({ range: '127.22.0.0/24' })
  const { db } = stack.ctx
  const [plan] = await db.select().from(variants)
  if (!plan?.serverGroupId) throw new Error('no plan')
  await db.insert(variants).values({ ...without(plan), platformId: '990001', option1: 'Withdrawn', isActive: false })
  // Rule 3 is never sold on the only range.
  await db.transaction(async tx => {
    const { rows } = await tx.execute<{ id: number }>(sql`select id from cidrs`)
    await excludeRules({ tx }, rows[0]?.id ?? 0, [stack.rules[2] ?? 0])
  })
  shop = await stack.startShop('serve')
  buyer = await stack.customer(shop.url, 'buyer1')
  admin = await stack.admin(shop.url, 'boss1')
}, 120_000)
afterAll(() => stack?.close())
beforeEach(async () => {
  await stack.ctx.db.execute(sql`update orders set reserved_until = now() - interval '1 second'`)
  await timeOutOrders(stack.ctx)
})

const without = ({ id: _id, ...row }: typeof variants.$inferSelect) => row

/** How many rows there are in all tables that a purchase writes. */
async function written() {
  const { rows } = await stack.ctx.db.execute(sql`select
    (select count(*) from orders) as orders, (select count(*) from order_events) as events,
    (select count(*) from leases) as leases, (select count(*) from lease_blocks) as blocks,
    (select count(*) from payments) as payments, (select count(*) from proxies) as proxies,
    (select count(*) from agent_users) as users, (select count(*) from pgboss.job where name <> 'converge-server') as jobs`)
  return rows[0]
}

const ask = (body: unknown, who = buyer) => who.post<Placed>('/api/orders/checkout', body)
const wanted = (change: object = {}) => ({
  product_id: stack.productId,
  quantity: 8,
  option_selected: { option1: 'New York', acl_selected: [stack.rules[0]] },
  ...change
})
const choosing = (option1: string | undefined, rules: unknown) =>
  wanted({ option_selected: { option1, acl_selected: rules } })

test('what cannot be sold is refused in clear words, and nothing is written', async () => {
  const [one = 0, two = 0, excluded = 0] = stack.rules
  const before = await written()
  const multiple = 'The quantity must be a positive multiple of 8'
  const refusals: [what: string, body: unknown, status: number, msg: RegExp | string][] = [
    ['nothing', wanted({ quantity: 0 }), 400, multiple],
    ['less than nothing', wanted({ quantity: -8 }), 400, multiple],
    ['half a block', wanted({ quantity: 4 }), 400, multiple],
    ['a block and a half', wanted({ quantity: 12 }), 400, multiple],
    ['a fraction', wanted({ quantity: 8.5 }), 400, /quantity/],
    ['more than all', wanted({ quantity: ALL + 8 }), 409, 'Out of stock'],
    ['more than any column holds', wanted({ quantity: 8e15 }), 400, /quantity/],
    ['a number beyond numbers', wanted({ quantity: 1e300 }), 400, /quantity/],
    ['a word', wanted({ quantity: 'eight' }), 400, /quantity/],
    ['no quantity', wanted({ quantity: null }), 400, /quantity/],
    ['a list of quantities', wanted({ quantity: [8] }), 400, /quantity/],
    ['an unknown place', choosing('Atlantis', [one]), 400, /not available/],
    ['a withdrawn plan', choosing('Withdrawn', [one]), 400, /not available/],
    ['no place', choosing(undefined, [one]), 400, /.+/],
    ['an unknown product', wanted({ product_id: 999_999 }), 400, /not available/],
    ['an unknown rule', choosing('New York', [one, 999_999]), 400, /no longer available/],
    ['a rule twice', choosing('New York', [one, two, one]), 400, 'You can choose each only once'],
    ['no rule', choosing('New York', []), 400, 'Please select'],
    ['rules that are none', choosing('New York', 'all'), 400, 'Please select'],
    ['a rule that the range is excluded from', choosing('New York', [one, excluded]), 409, 'Out of stock'],
    ['an empty body', {}, 400, /.+/],
    ['no object', '[]', 400, /.+/]
  ]
  for (const [what, body, status, msg] of refusals) {
    const reply = await ask(body)
    expect(reply, what).toMatchObject({ status, code: status })
    expect(reply.msg, what).toMatch(msg)
  }
  expect(await ask(wanted(), admin)).toMatchObject({
    status: 400,
    code: 400,
    msg: 'Admin accounts cannot make purchases. Please use a regular account.'
  })
  const { createTestClient } = await import('../../testing/client.ts')
  expect((await ask(wanted(), createTestClient(shop.url))).status).toBe(401)
  expect(await written()).toEqual(before)
})

test('the server prices an order; the body has no say', async () => {
  const [one = 0, two = 0] = stack.rules
  const reply = await ask({
    ...choosing('New York', [one, two]),
    quantity: '16',
    price: '0.01',
    amount: '0.01',
    variant_price: 0,
    state: 'delivered',
    user_id: 1
  })
  expect(reply).toMatchObject({ code: 2000, data: { amount: '48.00' } })
  const order = (await ordersOf(buyer)).find(row => row.order_id === reply.data.order_id)
  expect(order).toMatchObject({
    amount: '48.00',
    product_quantity: 16,
    state: 'placed',
    pay_status: 0,
    pay_amount: null
  })
  const url = new URL(reply.data.checkout_url)
  expect(url.pathname).toContain(':16')
  expect(url.searchParams.get('attributes[order_id]')).toBe(reply.data.order_id)
  expect(order?.checkout_url).toBe(reply.data.checkout_url)
  const left = Date.parse(reply.data.expires_at) - stack.ctx.now().getTime()
  expect(left).toBeLessThanOrEqual(30 * 60_000)
  expect(left).toBeGreaterThan(29 * 60_000)
})

test('a customer holds 20 unpaid reservations at most, also when it asks for many at once', async () => {
  await writeSettings(stack.ctx, { max_unpaid_orders: 20 })
  const [one = 0] = stack.rules
  const replies = await Promise.all(Array.from({ length: 24 }, () => place(stack, buyer, 8, [one])))
  expect(replies.filter(reply => reply.code === 2000)).toHaveLength(20)
  const refused = replies.filter(reply => reply.code !== 2000)
  expect(refused.every(reply => reply.status === 429 && /too many unpaid orders/.test(reply.msg))).toBe(true)
  const another = await stack.customer(shop.url, 'buyer2')
  expect((await place(stack, another, 8, [one])).code).toBe(2000)
  expect(await stockOf(stack, [one])).toBe(ALL - 21 * 8)

  // Half an hour later all of them have timed out, and the customer may order again.
  await stack.ctx.db.execute(sql`update orders set reserved_until = now() - interval '1 second'`)
  const first = replies.find(reply => reply.code === 2000)?.data.order_id ?? ''
  const poll = () => buyer.get<{ status: string }>(`/api/orders/checkout?order_id=${first}`)
  // The clock decides before the job has run.
  expect((await poll()).data).toMatchObject({ status: 'timeout', is_cancelled: false, pay_status: 0 })
  expect((await ordersOf(buyer)).every(order => order.state === 'timed_out' && order.checkout_url === null)).toBe(true)
  const [mine, theirs] = await Promise.all([timeOutOrders(stack.ctx), timeOutOrders(stack.ctx)])
  expect(mine + theirs).toBe(21)
  expect(await timeOutOrders(stack.ctx)).toBe(0)
  expect(await stockOf(stack, [one])).toBe(ALL)
  expect((await poll()).data.status).toBe('timeout')
  expect((await place(stack, buyer, 8, [one])).code).toBe(2000)
  expect((await another.get(`/api/orders/checkout?order_id=${first}`)).status).toBe(404)
})
