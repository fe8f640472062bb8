import type { Order } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { endGraces, expireOrders } from '../delivery/index.ts'
import { proxies } from '../delivery/tables.ts'
import { servers } from '../servers/tables.ts'
import { release } from '../inventory/index.ts'
import type { OrderRow } from '../orders/index.ts'
import { writeSettings } from '../settings/index.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'

let world: OrderShop
let buyer: Buyer
let admin: Buyer

beforeAll(async () => {
  world = await startOrderShop({ ranges: ['127.90.0.0/25', '127.90.1.0/25'] })
  buyer = await world.customer('buyer')
  admin = await world.admin('boss')
}, 60_000)
afterAll(() => world?.close())
afterEach(() => world.endAll())

const path = (order: Pick<OrderRow, 'id'>, call: string) => `/api/orders/order_list/${order.id}/${call}/`
const now = () => world.shop.ctx.now()
const later = (from: Date | null, milliseconds: number) => new Date((from?.getTime() ?? 0) + milliseconds)

async function delivered(quantity = 8): Promise<OrderRow> {
  const order = await world.place(buyer, quantity)
  expect(await world.pay(order)).toMatchObject({ outcome: 'settled' })
  await world.confirm()
  return world.row(order.id)
}

async function proxiesOf(orderId: number) {
  const { rows } = await world.shop.ctx.db.execute<{ ip: string; state: string }>(
    sql`select host(ip) as ip, state from proxies where order_id = ${orderId} order by ip`
  )
  return rows
}

/** Moves the clock just past the order's expiry and runs the expiry job. */
async function expire({ expiredAt }: OrderRow): Promise<void> {
  await world.advance(later(expiredAt, 1000).getTime() - now().getTime())
  await expireOrders(world.shop.ctx)
}

test('the term starts with the delivery, even after a long wait', async () => {
  const order = await world.place(buyer)
  await world.pay(order)
  expect(await world.row(order.id)).toMatchObject({ state: 'delivering', expiredAt: null, deliveredAt: null })
  // Longer than its term: an undelivered order does not expire.
  await world.advance(40 * DAY)
  expect(await expireOrders(world.shop.ctx)).toBe(0)
  expect(await world.row(order.id)).toMatchObject({ state: 'delivering', expiredAt: null })
  const listed = await buyer.get<{ data: object[] }>(`/api/orders/order_list/?order_id=${order.publicId}`)
  expect(listed.data.data).toMatchObject([{ expired_at: null, delivered_at: null, is_expired: false }])
  expect((await admin.post(path(order, 'update_proxy_expired_at'), { expired_at: now().getTime() + DAY })).status).toBe(
    409
  )

  const before = now()
  await world.confirm()
  const ready = await world.row(order.id)
  expect(ready.state).toBe('delivered')
  expect(ready.deliveredAt?.getTime()).toBeGreaterThanOrEqual(before.getTime())
  expect(ready.expiredAt).toEqual(later(ready.deliveredAt, 30 * DAY))
})

test('an order that was delivered in part does not expire either', async () => {
  // More addresses than one server has.
  const order = await world.place(buyer, 136)
  await world.pay(order)
  await world.confirm(world.serverIds.slice(0, 1))
  expect(await world.row(order.id)).toMatchObject({ state: 'partly_delivered', expiredAt: null })
  await world.advance(60 * DAY)
  await expireOrders(world.shop.ctx)
  expect((await world.row(order.id)).state).toBe('partly_delivered')
  await world.confirm()
  const whole = await world.row(order.id)
  expect(whole).toMatchObject({ state: 'delivered', deliveryNum: 136 })
})

test('a renewal before the delivery makes the first term longer, once for each payment', async () => {
  const order = await world.place(buyer)
  await world.pay(order)
  expect(await world.pay(order, { renewal: true, id: 5001 })).toMatchObject({ outcome: 'settled' })
  expect(await world.pay(order, { renewal: true, id: 5001 })).toMatchObject({ outcome: 'ignored' })
  expect(await world.pay(order, { renewal: true, id: 5002 })).toMatchObject({ outcome: 'settled' })
  expect(await world.row(order.id)).toMatchObject({ state: 'delivering', expiredAt: null, extraDays: 60 })
  const { rows: mailed } = await world.shop.ctx.db.execute(
    sql`select data -> 'data' -> 'expires_at' as until from pgboss.job where data ->> 'key' in ('renewed:5001', 'renewed:5002')`
  )
  expect(mailed).toEqual([{ until: null }, { until: null }])
  await world.confirm()
  const ready = await world.row(order.id)
  expect(ready.expiredAt).toEqual(later(ready.deliveredAt, 90 * DAY))
  // From now on a renewal extends the expiry, and a repeated confirmation changes nothing.
  await world.pay(order, { renewal: true, id: 5003 })
  expect((await world.row(order.id)).expiredAt).toEqual(later(ready.deliveredAt, 120 * DAY))
})

test('at its end an order stops, keeps its addresses for the grace, and a renewal brings the same proxies back', async () => {
  const order = await delivered()
  const before = await proxiesOf(order.id)
  const stock = await world.stock()
  await expire(order)
  const expired = await world.row(order.id)
  expect(expired.state).toBe('expired')
  expect((expired.graceUntil?.getTime() ?? 0) - now().getTime()).toBeGreaterThan(24 * HOUR - MINUTE)
  await world.confirm()
  // The agents have dropped the order, and its addresses stay reserved.
  const { rows } = await world.shop.ctx.db.execute(sql`select 1 from agent_users where order_id = ${order.id}`)
  expect(rows).toEqual([])
  expect(await world.stock()).toBe(stock)
  expect((await buyer.get(path(order, 'export_proxies'))).msg).toBe('No proxy data found')
  for (const call of ['reset_proxy_password', 'reset_proxy', 'devery_order']) {
    expect(await admin.post(path(order, call)), call).toMatchObject({ data: { reason: 'order_over' } })
  }
  expect(await buyer.get(path(order, 'check_proxy'))).toMatchObject({ data: { reason: 'order_expired' } })
  expect((await admin.delete(`/api/orders/order_list/${order.id}/`)).status).toBe(409)
  expect((await buyer.post(path(order, 'order-renew-checkout'))).code).toBe(2000)
  const shown = await buyer.get<{ data: { grace_until: string }[] }>(
    `/api/orders/order_list/?order_id=${order.publicId}`
  )
  expect(shown.data.data[0]?.grace_until).toBe(expired.graceUntil?.toISOString())

  expect(await world.pay(order, { renewal: true })).toMatchObject({ outcome: 'settled' })
  // No agent has answered yet. The delivery goes on, and the end of the grace takes nothing away.
  await world.advance(30 * HOUR)
  expect(await endGraces(world.shop.ctx)).toBe(0)
  expect(await world.row(order.id)).toMatchObject({ state: 'delivering', graceUntil: null, deliveryNum: 0 })
  await world.confirm()
  const back = await world.row(order.id)
  expect(back).toMatchObject({ state: 'delivered', deliveryNum: 8, deliveredAt: order.deliveredAt })
  expect(back).toMatchObject({ proxyUsername: order.proxyUsername, proxyPassword: order.proxyPassword })
  expect(back.expiredAt).toEqual(later(order.expiredAt, 30 * DAY))
  expect(await proxiesOf(order.id)).toEqual(before)
  expect(await world.stock()).toBe(stock)
  // The customer gets a mail that the proxies work again.
  const { rows: jobs } = await world.shop.ctx.db.execute(
    sql`select 1 from pgboss.job where name = 'order-delivered' and data ->> 'orderId' = ${String(order.id)}`
  )
  expect(jobs).toHaveLength(2)
})

test('a renewal in the grace whose addresses are gone brings others, and is held if there are no others', async () => {
  const { ctx } = world.shop
  const [moved, stuck] = [await delivered(), await delivered()]
  for (const order of [moved, stuck]) {
    await expire(order)
    await world.confirm()
    // As after their server was given up.
    await command(ctx, SYSTEM, async ({ tx }) => {
      await tx.update(proxies).set({ state: 'retired' }).where(eq(proxies.orderId, order.id))
      await release(tx, { orderId: order.id })
    })
  }
  expect(await world.pay(moved, { renewal: true })).toMatchObject({ outcome: 'settled' })
  await world.confirm()
  expect(await world.row(moved.id)).toMatchObject({ state: 'delivered', deliveryNum: 8 })
  await ctx.db.update(servers).set({ status: 'paused' })
  try {
    expect(await world.pay(stuck, { renewal: true })).toMatchObject({ outcome: 'too_late' })
    expect(await world.row(stuck.id)).toMatchObject({ state: 'expired', expiredAt: stuck.expiredAt })
  } finally {
    await ctx.db.update(servers).set({ status: 'active' })
  }
})

test('what was renewed in its grace and never worked again is reopened for the time that it was not served', async () => {
  const order = await delivered()
  await expire(order)
  await world.advance(10 * HOUR)
  await world.pay(order, { renewal: true })
  const renewed = await world.row(order.id)
  const unserved = (renewed.expiredAt?.getTime() ?? 0) - now().getTime()
  // Its agent is silent for the whole new term.
  await expire(renewed)
  await world.advance(25 * HOUR)
  await endGraces(world.shop.ctx)
  expect(await world.row(order.id)).toMatchObject({ state: 'expired', deliveryNum: 0 })
  await world.confirm()
  const reopened = await admin.post<Order>(path(order, 'reopen'), {})
  expect(reopened).toMatchObject({ code: 2000, data: { state: 'delivering' } })
  const left = Date.parse(reopened.data.expired_at ?? '') - now().getTime()
  // The clock runs during the calls.
  expect(Math.abs(left - unserved)).toBeLessThan(MINUTE)
  await world.confirm()
  // It was served since, so it is not reopened again.
  await expire(await world.row(order.id))
  expect((await admin.post(path(order, 'reopen'), {})).status).toBe(409)
})

test('a renewal in the second grace of an order that did not work in between adds to what was not served', async () => {
  const order = await delivered()
  await expire(order)
  await world.pay(order, { renewal: true })
  const first = await world.row(order.id)
  const unserved = (first.expiredAt?.getTime() ?? 0) - now().getTime()
  await expire(first)
  await world.pay(order, { renewal: true })
  const second = await world.row(order.id)
  const left = (second.expiredAt?.getTime() ?? 0) - now().getTime()
  expect(Math.abs(left - unserved - 30 * DAY)).toBeLessThan(MINUTE)
  await world.confirm()
  expect(await world.row(order.id)).toMatchObject({ state: 'delivered', expiredAt: second.expiredAt })
})

test('after the grace the addresses return to stock and a renewal is refused', async () => {
  const order = await delivered()
  const stock = await world.stock()
  await expire(order)
  await world.confirm()
  await world.advance(24 * HOUR - 2 * MINUTE)
  expect(await endGraces(world.shop.ctx)).toBe(0)
  expect(await world.stock()).toBe(stock)
  await world.advance(3 * MINUTE)
  const words = 'The order has expired, please place a new order.'
  // The clock decides, even before the job runs.
  expect(await buyer.post(path(order, 'order-renew-checkout'))).toMatchObject({ status: 409, msg: words })
  const ended = await Promise.all([endGraces(world.shop.ctx), endGraces(world.shop.ctx)])
  expect(ended[0] + ended[1]).toBe(1)
  expect(await world.stock()).toBe(stock + 8)
  expect(await buyer.post(path(order, 'order-renew-checkout'))).toMatchObject({ status: 409, msg: words })
  expect(await world.pay(order, { renewal: true })).toMatchObject({ outcome: 'too_late' })
  expect((await proxiesOf(order.id)).every(proxy => proxy.state === 'retired')).toBe(true)
  const { rows } = await world.shop.ctx.db.execute<{ kind: string }>(
    sql`select kind from order_events where order_id = ${order.id} order by id desc limit 3`
  )
  expect(rows.map(event => event.kind)).toEqual(['payment_held', 'grace_ended', 'expire'])
})

test('addresses of an ended grace wait for an agent that has not confirmed the end', async () => {
  const order = await delivered()
  const stock = await world.stock()
  await expire(order)
  await world.advance(25 * HOUR)
  expect(await endGraces(world.shop.ctx)).toBe(1)
  expect(await world.stock()).toBe(stock)
  await world.confirm()
  expect(await world.stock()).toBe(stock + 8)
})

test('without a grace the addresses return as soon as the agents have confirmed', async () => {
  await writeSettings(world.shop.ctx, { grace_hours: 0 })
  const order = await delivered()
  const stock = await world.stock()
  await expire(order)
  expect(await world.row(order.id)).toMatchObject({ state: 'expired', graceUntil: null })
  expect((await buyer.post(path(order, 'order-renew-checkout'))).status).toBe(409)
  await world.confirm()
  expect(await world.stock()).toBe(stock + 8)
  await writeSettings(world.shop.ctx, { grace_hours: 24 })
})

test('a change of addresses that the expiry interrupted goes on when the order comes back', async () => {
  const order = await delivered()
  const stock = await world.stock()
  const { runTask } = await import('../delivery/tasks.ts')
  const { deliveryPorts } = await import('../../workers.ts')
  const asked = await admin.post<{ task_id: string }>(path(order, 'reset_proxy'))
  await runTask(world.shop.ctx, deliveryPorts, { orderId: order.id, taskId: asked.data.task_id })
  expect(await world.stock()).toBe(stock - 8)
  await expire(order)
  expect(await world.row(order.id)).toMatchObject({ state: 'expired', task: null })
  await world.confirm()
  expect(await world.stock()).toBe(stock - 8)
  await world.pay(order, { renewal: true })
  // One confirmation with both, one with only the new addresses.
  await world.confirm()
  await world.confirm()
  expect(await world.row(order.id)).toMatchObject({ state: 'delivered', deliveryNum: 8 })
  expect(await world.stock()).toBe(stock)
})

test('a renewal just after the expiry, before the job came by, counts from the expiry', async () => {
  const order = await delivered()
  await world.advance(later(order.expiredAt, 1000).getTime() - now().getTime())
  expect(await world.pay(order, { renewal: true })).toMatchObject({ outcome: 'settled' })
  expect(await expireOrders(world.shop.ctx)).toBe(0)
  expect(await world.row(order.id)).toMatchObject({ state: 'delivered', expiredAt: later(order.expiredAt, 30 * DAY) })
})
