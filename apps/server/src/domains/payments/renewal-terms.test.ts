import type { InboxEntry, Order } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { paidEvent } from '../../testing/buying.ts'
import { endGraces, expireOrders } from '../delivery/index.ts'
import type { OrderRow } from '../orders/index.ts'
import { timeOutOrders } from '../orders/index.ts'
import { writeSettings } from '../settings/index.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'
import { one, tell } from './event-row.fixture.ts'

let world: OrderShop
let buyer: Buyer
let admin: Buyer

beforeAll(async () => {
  world = await startOrderShop({ ranges: ['127.90.0.0/24'], ruleCount: 1 })
  buyer = await world.customer('buyer1')
  admin = await world.admin('boss1')
}, 120_000)
afterAll(() => world?.close())
beforeEach(async () => {
  await world.endAll()
  const { db } = world.shop.ctx
  await db.execute(sql`update variants set proxy_time = 30, platform_id = '11', is_active = true`)
  await db.execute(sql`update acl_rules set valid = true`)
})

const termIs = (days: number) => world.shop.ctx.db.execute(sql`update variants set proxy_time = ${days}`)

let ids = 910_000
const nextId = () => (ids += 1)

async function delivered(): Promise<OrderRow> {
  const order = await world.place(buyer)
  await world.pay(order)
  await world.confirm()
  return world.row(order.id)
}

/** By how many days an order now ends later; negative: earlier. */
const movedBy = async ({ id, expiredAt }: OrderRow) =>
  ((await world.row(id)).expiredAt?.getTime() ?? 0) / DAY - (expiredAt?.getTime() ?? 0) / DAY

const refund = (id: number, { amount }: OrderRow) =>
  tell(world, 'refunds/create', {
    id: nextId(),
    order_id: id,
    transactions: [{ kind: 'refund', status: 'success', amount }]
  })

test('a renewal gives the term that the plan is sold with when it is paid, and its mail says so', async () => {
  const order = await delivered()
  await termIs(7)
  expect(await world.pay(order, { renewal: true, id: nextId() })).toMatchObject({ outcome: 'settled' })
  expect(await movedBy(order)).toBe(7)
  const { days, mailed } = await one<{ days: number; mailed: number }>(
    world.shop.ctx,
    sql`select p.days, (j.data -> 'data' ->> 'days')::int as mailed from payments p
      join pgboss.job j on j.data ->> 'key' = 'renewed:' || p.platform_order_id
      where p.order_id = ${order.id} and p.kind = 'renewal'`
  )
  expect({ days, mailed }).toEqual({ days: 7, mailed: 7 })
})

test('the link to a renewal says which term it gives', async () => {
  const order = await delivered()
  await termIs(7)
  await world.shop.ctx.db.execute(sql`update variants set is_active = true`)
  const reply = await buyer.post<{ checkout_url: string; days: number }>(
    `/api/orders/order_list/${order.id}/order-renew-checkout/`
  )
  expect(reply.data.days).toBe(7)
  expect(new URL(reply.data.checkout_url).searchParams.get('note')).toContain('for 7 days')
})

test('a renewal is offered only while its term would last, if that is shorter than the grace', async () => {
  const order = await delivered()
  await termIs(1)
  await writeSettings(world.shop.ctx, { grace_hours: 72 })
  const { shop } = world
  const ended = new Date(shop.ctx.now().getTime() - 2 * HOUR)
  await shop.ctx.db.execute(sql`update orders set expired_at = ${ended} where id = ${order.id}`)
  await expireOrders(shop.ctx)
  const until = new Date(ended.getTime() + DAY).toISOString()
  const offered = async () =>
    (await buyer.get<{ data: Order[] }>(`/api/orders/order_list/?id=${order.id}`)).data.data[0]?.grace_until
  const link = () => buyer.post(`/api/orders/order_list/${order.id}/order-renew-checkout/`)
  expect(await offered()).toBe(until)
  const { told } = await one<{ told: string }>(
    shop.ctx,
    sql`select data -> 'data' ->> 'grace_until' as told from pgboss.job
      where name = 'send-mail' and data ->> 'template' = 'order-expired' and data ->> 'key' like ${`expired:${order.id}:%`}`
  )
  expect(told).toBe(until)
  expect((await link()).code).toBe(2000)
  await world.advance(23 * HOUR)
  expect(await offered()).toBeNull()
  expect(await link()).toMatchObject({ status: 409, data: { reason: 'order_expired' } })
  // The rest of the grace serves nothing, so its addresses can be sold again.
  const held = (await world.row(order.id)).graceUntil?.toISOString()
  await endGraces(shop.ctx)
  await world.confirm()
  const { leases } = await one<{ leases: number }>(
    shop.ctx,
    sql`select count(*)::int as leases from leases where order_id = ${order.id} and state <> 'released'`
  )
  expect({ held, leases }).toEqual({ held: until, leases: 0 })
  await writeSettings(shop.ctx, { grace_hours: 24 })
})

test('nothing is held for a renewal that would be over already, for example after the worker was down for a whole term', async () => {
  const order = await delivered()
  await termIs(1)
  const { shop } = world
  await writeSettings(shop.ctx, { grace_hours: 72 })
  const ended = new Date(shop.ctx.now().getTime() - 25 * HOUR)
  await shop.ctx.db.execute(sql`update orders set expired_at = ${ended} where id = ${order.id}`)
  await expireOrders(shop.ctx)
  expect(await world.row(order.id)).toMatchObject({ state: 'expired', graceUntil: null })
  await writeSettings(shop.ctx, { grace_hours: 24 })
})

test('a renewal that is given back takes the days that it gave, and gives them again when its dispute is won', async () => {
  const order = await delivered()
  await termIs(7)
  const id = nextId()
  await world.pay(order, { renewal: true, id })
  await termIs(90)
  const dispute = { id: nextId(), order_id: id, type: 'chargeback', amount: order.amount, currency: 'USD' }
  await tell(world, 'disputes/create', { ...dispute, status: 'needs_response' })
  expect(await movedBy(order)).toBe(0)
  await tell(world, 'disputes/update', { ...dispute, status: 'won' })
  expect(await movedBy(order)).toBe(7)
})

test('a renewal before the delivery adds its own days to the first term; given back, it takes them off', async () => {
  const order = await world.place(buyer)
  await world.pay(order)
  await termIs(7)
  const id = nextId()
  await world.pay(order, { renewal: true, id })
  await termIs(3)
  await world.pay(order, { renewal: true, id: nextId() })
  await refund(id, order)
  await world.confirm()
  const { deliveredAt, expiredAt } = await world.row(order.id)
  expect(((expiredAt?.getTime() ?? 0) - (deliveredAt?.getTime() ?? 0)) / DAY).toBe(33)
})

test('a purchase gives what was promised while its addresses are held, and what is sold today when it comes later', async () => {
  const [inTime, late, lateTold] = [await world.place(buyer), await world.place(buyer), await world.place(buyer)]
  const paidAt = world.shop.ctx.now().toISOString()
  await termIs(7)
  await world.pay(inTime)
  await world.advance(HOUR)
  await timeOutOrders(world.shop.ctx)
  await world.pay(late)
  // The platform took the money in time, and its webhook was late.
  const told = paidEvent({ publicId: lateTold.publicId, amount: '20.00', lines: { '11': 8, '901': 8 } })
  await tell(world, 'orders/paid', { ...told, processed_at: paidAt })
  await world.confirm()
  const terms = [inTime, late, lateTold].map(async ({ id }) => {
    const { deliveredAt, expiredAt } = await world.row(id)
    return ((expiredAt?.getTime() ?? 0) - (deliveredAt?.getTime() ?? 0)) / DAY
  })
  expect(await Promise.all(terms)).toEqual([30, 7, 30])
})

test('a payment that an administrator applies gives the term of when it was paid', async () => {
  const order = await world.place(buyer)
  await world.advance(31 * MINUTE)
  await termIs(7)
  const entry = await held(paidEvent({ publicId: 'NL-nobody', amount: '20.00', lines: { '11': 8 } }))
  expect(await act(entry, 'apply', { order: order.publicId })).toMatchObject({ code: 2000 })
  await world.confirm()
  const { deliveredAt, expiredAt } = await world.row(order.id)
  expect(((expiredAt?.getTime() ?? 0) - (deliveredAt?.getTime() ?? 0)) / DAY).toBe(7)
})

/** Reports a payment that is held, and returns its inbox entry. */
async function held(event: object): Promise<InboxEntry> {
  const { id } = await tell(world, 'orders/paid', event)
  return (await admin.get<{ entry: InboxEntry }>(`/api/payments/inbox/${id}/`)).data.entry
}
const act = (entry: InboxEntry, action: string, body: object) =>
  admin.post(`/api/payments/inbox/${entry.id}/${action}/`, { version: entry.version, ...body })

test.each([
  ['its plan was withdrawn', sql`update variants set is_active = false`, 'Here'],
  ['its access rule was withdrawn', sql`update acl_rules set valid = false`, 'Rule 1'],
  ['its plan is another variant of the platform now', sql`update variants set platform_id = '12'`, 'Here: 0/8']
])('a renewal by a kept link is held once %s; an administrator may apply it', async (_why, withdraw, what) => {
  const order = await delivered()
  await world.shop.ctx.db.execute(withdraw)
  const lines = { '11': 8, '901': 8 }
  const entry = await held(paidEvent({ publicId: order.publicId, amount: '20.00', renewal: true, lines }))
  expect(entry).toMatchObject({
    outcome: 'purchase_not_sold',
    unresolved: true,
    payment: 'held',
    params: { order_id: order.publicId, what }
  })
  expect(entry.summary).toContain(what)
  expect(await movedBy(order)).toBe(0)
  expect(await act(entry, 'apply', { order: order.publicId })).toMatchObject({ code: 2000 })
  expect(await movedBy(order)).toBe(30)
  expect((await admin.get<{ entry: InboxEntry }>(`/api/payments/inbox/${entry.id}/`)).data.entry).toMatchObject({
    unresolved: false,
    resolution: 'applied',
    payment: 'accepted'
  })
})

test('a purchase by variants that were replaced since counts while its addresses are held, and not later', async () => {
  const [inTime, late] = [await world.place(buyer), await world.place(buyer)]
  await world.shop.ctx.db.execute(sql`update variants set platform_id = '12'`)
  const lines = { '11': 8, '901': 8 }
  expect(await world.pay(inTime, { lines })).toMatchObject({ outcome: 'settled' })
  await world.advance(31 * MINUTE)
  expect(await world.pay(late, { lines })).toMatchObject({
    outcome: 'lines_missing',
    detail: { missing: 'Here: 0/8' }
  })
})

test('a purchase that is paid late, of what is sold no longer, is held, says so, and an administrator may deliver it', async () => {
  const { db } = world.shop.ctx
  for (const withdraw of [
    sql`update variants set is_active = false`,
    sql`update products set active = false`,
    sql`update acl_rules set valid = false`
  ]) {
    const order = await world.place(buyer)
    const inTime = await world.place(buyer)
    await world.advance(31 * MINUTE)
    await timeOutOrders(world.shop.ctx)
    await db.execute(withdraw)
    expect(await world.pay(order)).toMatchObject({ outcome: 'purchase_not_sold', detail: { what: expect.any(String) } })
    expect(await world.row(order.id)).toMatchObject({ state: 'failed', failCode: 'purchase_not_sold' })
    const { accepted } = await one<{ accepted: boolean }>(
      world.shop.ctx,
      sql`select accepted from payments where order_id = ${order.id}`
    )
    expect(accepted).toBe(false)
    const deliver = await admin.post(`/api/orders/order_list/${order.id}/devery_order/`)
    expect(deliver).toMatchObject({ code: 2000 })
    // Money that the platform took in time counts, even if its report is late.
    const reservedUntil = inTime.reservedUntil.getTime()
    const processed_at = new Date(reservedUntil - MINUTE).toISOString()
    const paid = paidEvent({ publicId: inTime.publicId, amount: '20.00', lines: { '11': 8, '901': 8 } })
    expect(await tell(world, 'orders/paid', { ...paid, processed_at })).toMatchObject({ outcome: 'settled' })
    await db.execute(sql`update variants set is_active = true`)
    await db.execute(sql`update products set active = true`)
    await db.execute(sql`update acl_rules set valid = true`)
  }
})

test('a term that would be over before it begins is not sold, and a payment for it is held', async () => {
  const order = await delivered()
  await termIs(7)
  const { shop } = world
  const now = shop.ctx.now().getTime()
  // Eight days of a ten-day grace have passed.
  const [ended, until] = [new Date(now - 8 * DAY).toISOString(), new Date(now + 2 * DAY).toISOString()]
  await shop.ctx.db.execute(sql`update orders set state = 'expired', expired_at = ${ended}, ended_at = ${ended},
    grace_until = ${until} where id = ${order.id}`)
  const link = `/api/orders/order_list/${order.id}/order-renew-checkout/`
  expect(await buyer.post(link)).toMatchObject({
    code: 409,
    msg: 'The order has expired, please place a new order.'
  })
  expect(await world.pay(order, { renewal: true, id: nextId() })).toMatchObject({ outcome: 'too_late' })
  expect(await world.row(order.id)).toMatchObject({ state: 'expired', expiredAt: new Date(ended) })
  await termIs(9)
  expect((await buyer.post(link)).code).toBe(2000)
})
