import type { Order } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { tellRefund } from '../payments/event-outcome.fixture.ts'
import { startOrderShop, type Buyer, type OrderShop } from '../payments/order-shop.fixture.ts'
import { sessions } from '../accounts/tables.ts'
import { TEST_PASSWORD } from '../../testing/shop.ts'
import { variants } from '../catalog/tables.ts'
import { writeSettings } from '../settings/index.ts'
import { timeOutOrders } from './index.ts'
import { checkoutKeys } from './tables.ts'
import { retention } from '../../retention.ts'
import { applyRetention } from '../retention/figures.ts'

type Placed = { checkout_url: string; id: number; order_id: string; expires_at: string }

/** Addresses of the only range. */
const ALL = 1024
let world: OrderShop
let buyer: Buyer
let people = 0

beforeAll(async () => {
  world = await startOrderShop({ ranges: ['127.91.0.0/22'] })
  await writeSettings(world.shop.ctx, { max_unpaid_addresses: 64, max_unpaid_orders: 20 })
}, 60_000)
afterAll(() => world?.close())
afterEach(() => world.endAll())

/** Each test has its own customer, because limits count a day. */
const newBuyer = () => world.customer(`buyer${(people += 1)}`)
const ask = (quantity = 8, key?: string, rules = world.rules.slice(0, 1), who = buyer) =>
  who.post<Placed>(
    '/api/orders/checkout',
    world.wanted(quantity, rules),
    key === undefined ? {} : { 'idempotency-key': key }
  )
const cancel = (id: number, who = buyer) => who.post(`/api/orders/order_list/${id}/cancel/`)
const ordersOf = async (who = buyer) =>
  (await who.get<{ data: Order[] }>('/api/orders/order_list/?limit=1000')).data.data

test('a customer holds at most so many addresses unpaid, in one order or in many at once', async () => {
  buyer = await newBuyer()
  const whole = await ask(ALL)
  expect(whole).toMatchObject({
    status: 400,
    data: { reason: 'too_many_addresses', params: { max: 64 } },
    msg: 'An order can have at most 64 IPs. Please order fewer.'
  })
  // The page knows the limit before a customer asks.
  expect((await buyer.get('/api/orders/limits')).data).toEqual({ addresses: 64 })
  expect(await world.stock()).toBe(ALL)
  const replies = await Promise.all(Array.from({ length: 12 }, () => ask(8)))
  expect(replies.filter(reply => reply.code === 2000)).toHaveLength(8)
  const refused = replies.filter(reply => reply.code !== 2000)
  expect(refused.every(reply => reply.status === 429 && /yours hold 64/.test(reply.msg))).toBe(true)
  expect(await world.stock()).toBe(ALL - 64)
  // Other customers are not affected, and a paid order does not count.
  const other = await newBuyer()
  expect((await ask(64, undefined, undefined, other)).code).toBe(2000)
  const [first] = replies.filter(reply => reply.code === 2000)
  const order = await world.row(first?.data.id ?? 0)
  await world.pay(order)
  expect((await ask(8)).code).toBe(2000)
  expect((await ask(8)).status).toBe(429)
})

test('a customer who has never paid holds few addresses, and all such customers of a network a few times as many', async () => {
  const { ctx } = world.shop
  await writeSettings(ctx, { max_new_customer_addresses: 16 })
  onTestFinished(() => writeSettings(ctx, { max_new_customer_addresses: 256 }).then(() => undefined))
  buyer = await newBuyer()
  expect((await buyer.get('/api/orders/limits')).data).toEqual({ addresses: 16 })
  const first = await ask(16)
  expect(await ask(8)).toMatchObject({
    status: 429,
    data: { reason: 'too_many_before_payment', params: { max: 16, held: 16 } }
  })
  // At once, as a script would.
  const others = await Promise.all(Array.from({ length: 5 }, newBuyer))
  const replies = await Promise.all(others.map(other => ask(16, undefined, undefined, other)))
  expect(replies.filter(reply => reply.code === 2000)).toHaveLength(3)
  expect(replies.filter(({ data }) => 'reason' in data && data.reason === 'network_holds_unpaid')).toHaveLength(2)
  // After a payment the customer's own limit counts, whatever its network holds.
  await world.pay(await world.row(first.data.id))
  expect((await buyer.get('/api/orders/limits')).data).toEqual({ addresses: 64 })
  expect((await ask(64)).code).toBe(2000)
  // Money that went back is no payment.
  const { platformOrderId, amount } = await world.row(first.data.id)
  expect(await tellRefund(ctx, Number(platformOrderId), amount)).toBe('refunded')
  expect((await buyer.get('/api/orders/limits')).data).toEqual({ addresses: 16 })
  const next = await ask(16, undefined, undefined, await newBuyer())
  expect(next).toMatchObject({ status: 429, data: { reason: 'network_holds_unpaid' } })
})

test('new customers with an IPv6 /64 each hold no more than three times what one network may', async () => {
  const { ctx } = world.shop
  await writeSettings(ctx, { max_new_customer_addresses: 8 })
  onTestFinished(() => writeSettings(ctx, { max_new_customer_addresses: 256 }).then(() => undefined))
  const buyers = await Promise.all(Array.from({ length: 14 }, newBuyer))
  await ctx.db.execute(sql`
    update sessions set ip = ('2001:db8:5:' || to_hex(256 * (user_id % 200)) || '::1')::inet
    where user_id in (select id from users where username like 'buyer%')`)
  const replies = await Promise.all(buyers.map(one => ask(8, undefined, undefined, one)))
  expect(replies.filter(({ code }) => code === 2000)).toHaveLength(12)
  expect(replies.filter(({ data }) => 'reason' in data && data.reason === 'network_holds_unpaid')).toHaveLength(2)
})

describe('the limit of a network', () => {
  beforeEach(() => writeSettings(world.shop.ctx, { max_new_customer_addresses: 8, max_unpaid_orders: 20 }))
  afterEach(() => writeSettings(world.shop.ctx, { max_new_customer_addresses: 256 }))

  /** Each of eight new customers asks for 8 addresses. @returns how many orders were placed */
  async function ofEight(ask8: (who: Buyer, n: number) => Promise<{ code: number }>): Promise<number> {
    let placed = 0
    for (let n = 0; n < 8; n++) if ((await ask8(await newBuyer(), n)).code === 2000) placed++
    return placed
  }

  test('holds for customers who log out', async () => {
    const placed = await ofEight(async who => {
      const form = { username: who.user.username, password: TEST_PASSWORD }
      expect((await who.post('/api/auth/login', form)).code).toBe(2000)
      const reply = await ask(8, undefined, undefined, who)
      await who.get('/api/auth/logout')
      await world.shop.ctx.db.delete(sessions).where(eq(sessions.userId, who.user.id))
      return reply
    })
    expect(placed).toBe(4)
  })

  test('holds for customers who pay a cent', async () => {
    const placed = await ofEight(async who => {
      const reply = await ask(8, undefined, undefined, who)
      if (reply.code !== 2000) return reply
      const short = await world.pay(await world.row(reply.data.id), { lines: { 11: 1 } })
      expect(short).toMatchObject({ outcome: 'lines_missing' })
      return reply
    })
    expect(placed).toBe(4)
  })

  test('holds for customers who log in from one network and order from another', async () => {
    const placed = await ofEight((who, n) =>
      who.post('/api/orders/checkout', world.wanted(8, world.rules.slice(0, 1)), {
        'x-forwarded-for': `203.${n}.113.7`
      })
    )
    expect(placed).toBe(4)
  })
})

test('an order that was paid for less than was ordered holds its addresses within the same limits', async () => {
  buyer = await newBuyer()
  await writeSettings(world.shop.ctx, { max_unpaid_orders: 3 })
  const payShort = async (id: number) =>
    expect(await world.pay(await world.row(id), { lines: { 11: 1 } })).toMatchObject({ outcome: 'lines_missing' })
  for (const quantity of [32, 24]) await payShort((await ask(quantity)).data.id)
  expect(await world.stock()).toBe(ALL - 56)
  expect(await ask(16)).toMatchObject({
    status: 429,
    data: { reason: 'too_many_unpaid_addresses', params: { max: 64, held: 56 } }
  })
  await payShort((await ask(8)).data.id)
  expect(await ask(8)).toMatchObject({ status: 429, data: { reason: 'too_many_reservations', held: 3 } })
  // With the right payment it is a normal order.
  const [last] = await ordersOf()
  await world.pay(await world.row(last?.id ?? 0))
  expect((await ask(8)).code).toBe(2000)
  await writeSettings(world.shop.ctx, { max_unpaid_orders: 20 })
})

test('a customer who keeps paying too little is stopped for the rest of the day', async () => {
  buyer = await newBuyer()
  let held = 0
  for (; held < 8; held++) {
    const asked = await ask(64)
    if (asked.code !== 2000) break
    await world.pay(await world.row(asked.data.id), { lines: { 11: 1 } })
    await world.advance(31 * MINUTE)
    await timeOutOrders(world.shop.ctx)
  }
  // All of it for two hours of a day.
  expect(held).toBe(4)
  expect(await ask(64)).toMatchObject({ status: 429, data: { reason: 'unpaid_too_often' } })
})

test('a cancelled order frees its addresses at once, and room for another', async () => {
  buyer = await newBuyer()
  const placed = await ask(64)
  expect((await ask(8)).status).toBe(429)
  expect(await world.stock()).toBe(ALL - 64)
  expect((await cancel(placed.data.id)).code).toBe(2000)
  expect(await world.stock()).toBe(ALL)
  expect((await ordersOf())[0]).toMatchObject({ state: 'cancelled', checkout_url: null, reserved_until: null })
  const poll = await buyer.get(`/api/orders/checkout?order_id=${placed.data.order_id}`)
  expect(poll.data).toMatchObject({ status: 'timeout', is_cancelled: true, pay_status: 0 })
  // A repeat changes nothing.
  expect((await cancel(placed.data.id)).code).toBe(2000)
  expect((await ask(64)).code).toBe(2000)
})

test('only an unpaid order of one’s own is cancelled; an administrator cancels anyone’s', async () => {
  buyer = await newBuyer()
  const stranger = await newBuyer()
  const admin = await world.admin(`boss${people}`)
  const placed = await ask()
  expect((await cancel(placed.data.id, stranger)).status).toBe(404)
  expect((await cancel(999_999)).status).toBe(404)
  expect((await world.row(placed.data.id)).state).toBe('placed')
  expect((await cancel(placed.data.id, admin)).code).toBe(2000)
  const log = await admin.get<{ data: object[] }>(`/api/settings/audit_log/?search=order ${placed.data.id}`)
  expect(log.data.data).toMatchObject([{ action: 'order.cancel', before: { state: 'placed' } }])

  const paid = await ask()
  await world.pay(await world.row(paid.data.id))
  const silent = await ask()
  await world.advance(31 * MINUTE)
  await timeOutOrders(world.shop.ctx)
  for (const { data } of [paid, silent]) {
    expect(await cancel(data.id)).toMatchObject({ status: 409, data: { reason: 'order_not_unpaid' } })
  }
})

test('who holds addresses, lets them go and holds them again is stopped for a while', async () => {
  buyer = await newBuyer()
  // Four times all allowed addresses, each time for 30 minutes.
  for (let n = 0; n < 4; n++) {
    expect((await ask(64)).code).toBe(2000)
    await world.advance(31 * MINUTE)
    await timeOutOrders(world.shop.ctx)
  }
  expect(await ask(8)).toMatchObject({ status: 429, data: { reason: 'unpaid_too_often' } })
  const other = await newBuyer()
  expect((await ask(64, undefined, undefined, other)).code).toBe(2000)
  await world.advance(DAY)
  expect((await ask(64)).code).toBe(2000)
})

test('cancelling at once costs the time that was held; cancelling for ever is stopped too', async () => {
  buyer = await newBuyer()
  for (let n = 0; n < 12; n++) {
    const placed = await ask(64)
    expect(placed.code).toBe(2000)
    await world.advance(MINUTE)
    expect((await cancel(placed.data.id)).code).toBe(2000)
  }
  await writeSettings(world.shop.ctx, { max_unpaid_orders: 1 })
  expect(await ask(8)).toMatchObject({ status: 429, data: { reason: 'unpaid_too_often' } })
  await writeSettings(world.shop.ctx, { max_unpaid_orders: 20 })
  expect((await ask(8)).code).toBe(2000)
})

test('the same Idempotency-Key gives the same reply and one order, also at once with itself', async () => {
  buyer = await newBuyer()
  const replies = await Promise.all(Array.from({ length: 6 }, () => ask(8, 'key-1')))
  expect(replies.every(reply => reply.code === 2000)).toBe(true)
  for (const reply of replies) expect(reply.data).toEqual(replies[0]?.data)
  expect(await ordersOf()).toHaveLength(1)
  // The reply stays the same after the plan is withdrawn, and after the payment.
  const { db } = world.shop.ctx
  await db.update(variants).set({ isActive: false })
  expect((await ask(8, 'key-1')).data).toEqual(replies[0]?.data)
  await db.update(variants).set({ isActive: true })
  await world.pay(await world.row(replies[0]?.data.id ?? 0))
  expect((await ask(8, 'key-1')).data).toEqual(replies[0]?.data)
  // Another customer may use the same key.
  const other = await newBuyer()
  const theirs = await ask(8, 'key-1', undefined, other)
  expect(theirs.data.order_id).not.toBe(replies[0]?.data.order_id)
})

test('the key of an order that was cancelled, timed out or deleted is refused; another key places a new order', async () => {
  buyer = await newBuyer()
  const cancelled = await ask(8, 'key-c')
  await cancel(cancelled.data.id)
  const over = (order: string) => ({
    status: 409,
    data: { reason: 'idempotency_key_over', params: { order } },
    msg: `Order ${order} of this Idempotency-Key was cancelled or has timed out. Send a new key to place a new order.`
  })
  expect(await ask(8, 'key-c')).toMatchObject(over(cancelled.data.order_id))
  expect(await ask(16, 'key-c')).toMatchObject({ data: { reason: 'idempotency_key_reused' } })
  const silent = await ask(8, 'key-t')
  const deleted = await ask(8, 'key-d')
  await world.advance(31 * MINUTE)
  // The clock decides before the job has run.
  expect(await ask(8, 'key-t')).toMatchObject(over(silent.data.order_id))
  await timeOutOrders(world.shop.ctx)
  expect(await ask(8, 'key-t')).toMatchObject(over(silent.data.order_id))
  await world.shop.ctx.db.execute(sql`update orders set deleted_at = now() where id = ${deleted.data.id}`)
  expect(await ask(8, 'key-d')).toMatchObject(over(deleted.data.order_id))
  expect(await world.stock()).toBe(ALL)
  expect((await ask(8, 'key-new')).code).toBe(2000)
})

test('a key stands for one request: another body under it is refused, and so is a key that is none', async () => {
  buyer = await newBuyer()
  expect((await ask(8, 'key-2')).code).toBe(2000)
  expect(await ask(16, 'key-2')).toMatchObject({ status: 422, data: { reason: 'idempotency_key_reused' } })
  expect((await ask(8, 'key-2', world.rules.slice(1, 2))).status).toBe(422)
  for (const key of ['', 'a b', 'x'.repeat(201)]) {
    expect(await ask(8, key), key).toMatchObject({ status: 400, data: { reason: 'idempotency_key_invalid' } })
  }
  expect((await ask(8, 'x'.repeat(200))).code).toBe(2000)
  // The sequence of the rules does not make another request.
  expect((await ask(8, 'key-3', world.rules)).code).toBe(2000)
  expect((await ask(8, 'key-3', world.rules.toReversed())).code).toBe(2000)
  expect(await ordersOf()).toHaveLength(3)
})

test('a refused checkout keeps no key; a key runs out after a day and is removed', async () => {
  buyer = await newBuyer()
  expect((await ask(ALL, 'key-4')).status).toBe(400)
  const first = await ask(8, 'key-4')
  expect(first.code).toBe(2000)
  await world.advance(24 * HOUR + MINUTE)
  const second = await ask(8, 'key-4')
  expect(second.data.order_id).not.toBe(first.data.order_id)
  await ask(8, 'key-5')
  await world.advance(24 * HOUR + MINUTE)
  await ask(8, 'key-6')
  const keys = retention.filter(({ what }) => what === 'checkout_keys')
  await applyRetention(world.shop.ctx, keys)
  const { rows } = await world.shop.ctx.db.execute(sql`select key from checkout_keys order by key`)
  expect(rows).toEqual([{ key: 'key-6' }])
  const kept = await world.shop.ctx.db.select().from(checkoutKeys).where(eq(checkoutKeys.userId, buyer.user.id))
  expect(kept).toHaveLength(1)
})
