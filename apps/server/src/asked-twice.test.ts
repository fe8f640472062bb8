import { routes, type GiftCard, type Order, type RefundPlan, type Route, type User } from '@netlet/contract'
import { eq, sql } from './infra/db/drizzle.ts'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { users } from './domains/accounts/tables.ts'
import { expireOrders } from './domains/delivery/index.ts'
import { orders } from './domains/orders/tables.ts'
import { startOrderShop, type Buyer, type OrderShop } from './domains/payments/order-shop.fixture.ts'
import { one, tell } from './domains/payments/event-row.fixture.ts'
import { newKey } from './testing/asking-once.ts'
import { paidEvent } from './testing/buying.ts'

/** A call that is ready to be made, and how often what it asks for has happened. */
type Asking = {
  by: Buyer
  method?: 'post' | 'put'
  path: string
  body: Record<string, unknown>
  key?: Record<string, string>
  done: () => Promise<number>
}
type Prepare = () => Promise<Asking>

let world: OrderShop
let buyer: Buyer
let boss: Buyer
let cards = 0

beforeAll(async () => {
  world = await startOrderShop({ ruleCount: 1, ranges: ['127.90.0.0/23'] })
  buyer = await world.customer('buyer1')
  boss = await world.admin('boss1')
}, 120_000)
afterAll(() => world?.close())

const send = ({ by, method = 'post', path, body, key }: Asking) => by[method](path, body, key)
const count = async (query: ReturnType<typeof sql>) => (await one<{ n: number }>(world.shop.ctx, query)).n

async function bought() {
  const order = await world.place(buyer)
  const paid = paidEvent({ publicId: order.publicId, amount: '20.00', lines: { '11': 8, '901': 8 } })
  await tell(world, 'orders/paid', paid)
  await world.confirm()
  return { id: order.id, publicId: order.publicId, paid }
}

/** A payment that fell short, and so waits in the inbox. */
async function held() {
  const order = await world.place(buyer)
  const paid = paidEvent({ publicId: order.publicId, amount: '16.00', lines: { '11': 8 } })
  const { id } = await tell(world, 'orders/paid', paid)
  return { id, order, paid }
}

const refundsOf = (platformOrder: number | string) => () =>
  Promise.resolve(world.refundsMade.filter(({ platformOrderId }) => platformOrderId === String(platformOrder)).length)
const eventsOf = (orderId: number, kind: string) => () =>
  count(sql`select count(*)::int as n from order_events where order_id = ${orderId} and kind = ${kind}`)

/** Calls that would happen again: each takes something that says which one it is. */
const KEYED: Record<string, { takes: string; again: string; other: object; prepare: Prepare }> = {
  'POST /api/rewards/gift_card/exchange/': {
    takes: 'Idempotency-Key',
    again: 'answer',
    other: { mount: '9999.00' },
    async prepare() {
      const customer = await world.customer(`c${randomUUID().slice(0, 8)}`)
      await world.shop.ctx.db.update(users).set({ coins: 1000 }).where(eq(users.id, customer.user.id))
      const mount = `${(cards += 1)}.00`
      for (const card of ['a', 'b', 'c'])
        await boss.post('/api/rewards/gift_card/', { mount, code: `TWICE-${cards}-${card}`, point: 50 })
      await boss.post('/api/rewards/gift_card/', { mount: '9999', code: `OTHER-${cards}`, point: 50 })
      return {
        by: customer,
        path: '/api/rewards/gift_card/exchange/',
        body: { mount, point: 50 },
        key: newKey(),
        done: () => count(sql`select count(*)::int as n from gift_cards where exchanged_by = ${customer.user.id}`)
      }
    }
  },
  'POST /api/rewards/gift_cards/': {
    takes: 'batch',
    again: 'answer',
    other: { point: 7 },
    async prepare() {
      const mount = `${(cards += 1)}.00`
      return {
        by: boss,
        path: '/api/rewards/gift_cards/',
        body: { mount, point: 50, count: 3, batch: randomUUID().replaceAll('-', '') },
        done: async () => (await count(sql`select count(*)::int as n from gift_cards where mount = ${mount}`)) / 3
      }
    }
  },
  'PUT /api/users/u/:id/': {
    takes: 'version',
    again: 'stale',
    other: { reward_points_change: 70 },
    async prepare() {
      const { user } = await world.customer(`u${randomUUID().slice(0, 8)}`)
      const found = await boss.get<User>(`/api/users/u/${user.id}/`)
      return {
        by: boss,
        method: 'put',
        path: `/api/users/u/${user.id}/`,
        body: { reward_points_change: 50, level_points_change: 5, version: found.data.version },
        done: async () => (await count(sql`select coins::int as n from users where id = ${user.id}`)) / 50
      }
    }
  },
  'POST /api/orders/order_list/:id/credit/': {
    takes: 'ends_at',
    again: 'stale',
    other: { days: 5 },
    async prepare() {
      const { id } = await bought()
      const path = `/api/orders/order_list/${id}/`
      const { expired_at } = (await boss.get<Order>(path)).data
      return {
        by: boss,
        path: `${path}credit/`,
        body: { days: 3, note: 'sorry', ends_at: expired_at },
        done: eventsOf(id, 'credited')
      }
    }
  },
  'POST /api/orders/order_list/:id/refund/': {
    takes: 'version',
    again: 'refund_running',
    other: { amount: '6.00' },
    async prepare() {
      const { id, paid } = await bought()
      const path = `/api/orders/order_list/${id}/refund/`
      const { version } = (await boss.get<RefundPlan>(`${path}?amount=5.00`)).data
      return { by: boss, path, body: { amount: '5.00', version }, done: refundsOf(paid.id) }
    }
  },
  'POST /api/payments/inbox/:id/refund/': {
    takes: 'version',
    again: 'refund_running',
    other: { amount: '6.00' },
    async prepare() {
      const { id, paid } = await held()
      const path = `/api/payments/inbox/${id}/refund/`
      const { version } = (await boss.get<RefundPlan>(`${path}?amount=5.00`)).data
      return { by: boss, path, body: { amount: '5.00', version }, done: refundsOf(paid.id) }
    }
  }
}

test('what requires a key is among these', () => {
  const all = Object.values(routes).flatMap(domain => Object.values<Route>(domain))
  const required = all.filter(({ idempotencyKey }) => idempotencyKey === 'required')
  expect(required).not.toEqual([])
  for (const { method, path } of required) expect(KEYED).toHaveProperty([`${method} ${path}`])
})

describe.each(Object.entries(KEYED))('%s', (_call, { takes, again, other, prepare }) => {
  test(`is refused without ${takes}, and nothing has happened`, async () => {
    const asking = await prepare()
    const { [takes]: _left, ...body } = asking.body
    const refused = await send({ ...asking, body, key: {} })
    expect(refused).toMatchObject({ status: 400, msg: expect.not.stringContaining('expected string') as string })
    expect(await asking.done()).toBe(0)
  })

  test('asked five times at once, and later again, it happens once', async () => {
    const asking = await prepare()
    const replies = await Promise.all([1, 2, 3, 4, 5].map(() => send(asking)))
    replies.push(await send(asking))
    expect(await asking.done()).toBe(1)
    const [made, ...refused] = replies.toSorted((a, b) => a.status - b.status)
    expect(made?.code).toBe(2000)
    for (const reply of refused)
      if (again === 'answer') expect(reply).toMatchObject({ code: 2000, data: made?.data })
      else expect(reply).toMatchObject({ status: 409, data: { reason: again } })
  })

  test('another body under the same key is refused, before and after', async () => {
    const asking = await prepare()
    const changed = { ...asking, body: { ...asking.body, ...other } }
    expect((await send(asking)).code).toBe(2000)
    expect([409, 422]).toContain((await send(changed)).status)
    expect(await asking.done()).toBe(1)
  })
})

const code = () => `CODE-${randomUUID().slice(0, 8)}`
/** Calls that what they ask for keeps from happening again: they need no key. */
const ONCE_BY_STATE: Record<string, Prepare> = {
  async 'POST /api/payments/inbox/:id/apply/'() {
    const { id, order } = await held()
    const path = `/api/payments/inbox/${id}/apply/`
    return { by: boss, path, body: { order: order.publicId }, done: eventsOf(order.id, 'payment_applied') }
  },
  async 'POST /api/payments/inbox/:id/ignore/'() {
    const { id, order } = await held()
    const path = `/api/payments/inbox/${id}/ignore/`
    return { by: boss, path, body: { note: 'a test' }, done: eventsOf(order.id, 'payment_ignored') }
  },
  async 'POST /api/payments/inbox/:id/refunded/'() {
    const { id, paid } = await held()
    const done = () =>
      count(sql`select count(*)::int as n from payment_refunds where platform_order_id = ${String(paid.id)}`)
    return { by: boss, path: `/api/payments/inbox/${id}/refunded/`, body: { note: 'by bank' }, done }
  },
  async 'POST /api/orders/order_list/:id/devery_order/'() {
    const { order } = await held()
    const path = `/api/orders/order_list/${order.id}/devery_order/`
    return { by: boss, path, body: {}, done: eventsOf(order.id, 'task_requested') }
  },
  async 'POST /api/orders/order_list/:id/reopen/'() {
    const order = await world.place(buyer)
    await world.pay(order)
    // As orders expired before their time began with the delivery.
    const { db } = world.shop.ctx
    await db
      .update(orders)
      .set({ state: 'delivered', expiredAt: new Date(0) })
      .where(eq(orders.id, order.id))
    await expireOrders(world.shop.ctx)
    await world.confirm()
    return {
      by: boss,
      path: `/api/orders/order_list/${order.id}/reopen/`,
      body: {},
      done: eventsOf(order.id, 'reopen')
    }
  },
  async 'POST /api/rewards/coupon_code/'() {
    const body = { username: buyer.user.username, code: code(), discount: '5', code_type: 1 }
    const done = () => count(sql`select count(*)::int as n from coupons where code = ${body.code}`)
    return { by: boss, path: '/api/rewards/coupon_code/', body, done }
  },
  async 'POST /api/rewards/gift_card/'() {
    const body = { mount: '5.00', code: code(), point: 50 } satisfies Partial<GiftCard>
    const done = () => count(sql`select count(*)::int as n from gift_cards where code = ${body.code}`)
    return { by: boss, path: '/api/rewards/gift_card/', body, done }
  }
}

test.each(Object.entries(ONCE_BY_STATE))('%s happens once', async (_call, prepare) => {
  const asking = await prepare()
  const replies = await Promise.all([1, 2, 3, 4, 5].map(() => send(asking)))
  replies.push(await send(asking))
  expect(await asking.done()).toBe(1)
  expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409, 409, 409])
})
