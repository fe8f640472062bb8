import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { DAY, HOUR } from '../../infra/clock.ts'
import { endGraces, expireOrders } from '../delivery/index.ts'
import { audit } from '../inventory/index.ts'
import type { OrderRow } from '../orders/index.ts'
import { writeSettings } from '../settings/index.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'
import { nextId, paidOrder, tell, tellRefund } from './event-outcome.fixture.ts'

let world: OrderShop
let admin: Buyer
let buyer: Buyer
let order: OrderRow
let stock = 0
let time = Date.parse('2026-03-01T00:00:00Z')
const advance = async (milliseconds: number) => {
  time += milliseconds
  await world.advance(0)
}

beforeAll(async () => {
  world = await startOrderShop({ ranges: ['127.98.0.0/25'], now: () => new Date(time) })
  admin = await world.admin('boss1')
  buyer = await world.customer('buyer1')
}, 60_000)
afterAll(() => world?.close())
beforeEach(async () => {
  await world.endAll()
  stock = await world.stock()
  const { id, publicId } = await world.place(buyer)
  await tell(world.shop.ctx, 'orders/paid', paidOrder(publicId, '20.00'))
  await world.confirm()
  order = await world.row(id)
})

const now = () => world.row(order.id)
const bought = () => order.expiredAt?.getTime() ?? 0
/** Renews. @returns the platform's id of the payment */
async function renew(): Promise<number> {
  const event = paidOrder(order.publicId, '20.00', { renewal: true })
  expect(await tell(world.shop.ctx, 'orders/paid', event)).toBe('settled')
  await world.confirm()
  return event.id
}
const refund = async (paid: number) => {
  expect(await tellRefund(world.shop.ctx, paid, '20.00')).toBe('refunded')
  await world.confirm()
}
const move = async (to: number) =>
  expect(
    (await admin.post(`/api/orders/order_list/${order.id}/update_proxy_expired_at/`, { expired_at: to })).code
  ).toBe(2000)

test('renewals in the grace that are refunded again and again do not prolong it', async () => {
  const { ctx } = world.shop
  await advance(30 * DAY)
  await expireOrders(ctx)
  await world.confirm()
  for (const wait of [10 * HOUR, 13 * HOUR]) {
    await advance(wait)
    const renewal = await renew()
    expect(await now()).toMatchObject({ state: 'delivered', graceUntil: null })
    await refund(renewal)
    expect(await now()).toMatchObject({ state: 'expired', graceUntil: new Date(bought() + 24 * HOUR) })
  }
  // Refunds in its last minutes and after its end: nothing is held any more.
  const last = await renew()
  await advance(2 * HOUR)
  await refund(last)
  expect(await now()).toMatchObject({ state: 'expired', graceUntil: null, expiredAt: order.expiredAt })
  expect(await world.stock()).toBe(stock)
  expect(await audit(ctx.db)).toEqual({ differences: 0, doubleLeased: 0 })
})

test('a renewal that is refunded in the grace after it leaves no grace beyond that of the time before it', async () => {
  const { ctx } = world.shop
  const renewal = await renew()
  await advance(60 * DAY)
  await expireOrders(ctx)
  await world.confirm()
  expect((await now()).graceUntil?.getTime()).toBe(time + 24 * HOUR)
  await refund(renewal)
  await endGraces(ctx)
  await world.confirm()
  expect(await now()).toMatchObject({ state: 'expired', graceUntil: null })
  expect(await world.stock()).toBe(stock)
})

test('a refunded renewal takes no time that other payments bought, even if an administrator had shortened the term', async () => {
  const renewal = await renew()
  await move(time + DAY)
  await refund(renewal)
  // As short as the administrator made it, but no shorter.
  expect(await now()).toMatchObject({ state: 'delivered', expiredAt: new Date(time + DAY) })
  const { rows } = await world.shop.ctx.db.execute(sql`select term_taken from payments where order_id = ${order.id}
    and kind = 'renewal'`)
  expect(rows).toEqual([{ term_taken: false }])

  const again = await renew()
  await move(bought() + 5 * DAY)
  await refund(again)
  expect((await now()).expiredAt?.getTime()).toBe(bought())
})

test('a refunded renewal takes its own term only, and leaves what was given besides', async () => {
  const [first, second] = [await renew(), await renew()]
  await refund(first)
  expect((await now()).expiredAt?.getTime()).toBe(bought() + 30 * DAY)
  await move(bought() + 33 * DAY)
  await refund(second)
  expect((await now()).expiredAt?.getTime()).toBe(bought() + 3 * DAY)
})

const dispute = async (paid: number, id: number, status: 'needs_response' | 'won') => {
  const topic = status === 'won' ? 'disputes/update' : 'disputes/create'
  const told = { id, order_id: paid, type: 'chargeback', status, amount: '20.00', currency: 'USD' }
  const outcome = await tell(world.shop.ctx, topic, told)
  await world.confirm()
  return outcome
}

test('a dispute that was won about a shortened renewal brings back the time that was taken, to the hour, and not the whole term', async () => {
  const renewal = await renew()
  // Less than 3 of the 30 renewed days are left.
  const left = 3 * DAY - 11 * HOUR
  await move(bought() + left)
  for (const id of [nextId(), nextId()]) {
    expect(await dispute(renewal, id, 'needs_response')).toBe('refunded')
    expect((await now()).expiredAt?.getTime()).toBe(bought())
    expect(await dispute(renewal, id, 'won')).toBe('settled')
    expect((await now()).expiredAt?.getTime()).toBe(bought() + left)
  }
})

test('a won dispute about a renewal that had ended brings no time back', async () => {
  const renewal = await renew()
  await move(bought() - 2 * DAY)
  const id = nextId()
  expect(await dispute(renewal, id, 'needs_response')).toBe('refunded')
  expect(await dispute(renewal, id, 'won')).toBe('settled')
  expect((await now()).expiredAt?.getTime()).toBe(bought() - 2 * DAY)
})

test('a renewal that is refunded leaves no changes and no resets, and the next one restarts the count', async () => {
  await writeSettings(world.shop.ctx, { customer_changes_per_term: 2, customer_resets_per_term: 3 })
  const first = await renew()
  expect(await now()).toMatchObject({ changesUsed: 0, resetsUsed: 0 })
  await refund(first)
  expect(await now()).toMatchObject({ state: 'delivered', changesUsed: 2, resetsUsed: 3 })
  await renew()
  expect(await now()).toMatchObject({ changesUsed: 0, resetsUsed: 0 })
})

test('a renewal before the delivery that is refunded takes nothing of the quotas', async () => {
  await writeSettings(world.shop.ctx, { customer_changes_per_term: 2, customer_resets_per_term: 3 })
  const { id, publicId } = await world.place(buyer)
  await tell(world.shop.ctx, 'orders/paid', paidOrder(publicId, '20.00'))
  const event = paidOrder(publicId, '20.00', { renewal: true })
  expect(await tell(world.shop.ctx, 'orders/paid', event)).toBe('settled')
  expect((await world.row(id)).extraDays).toBe(30)
  expect(await tellRefund(world.shop.ctx, event.id, '20.00')).toBe('refunded')
  expect(await world.row(id)).toMatchObject({ extraDays: 0, changesUsed: 0, resetsUsed: 0 })
})
