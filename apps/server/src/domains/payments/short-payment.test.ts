import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { MINUTE } from '../../infra/clock.ts'
import { users } from '../accounts/tables.ts'
import { timeOutOrders, type OrderRow } from '../orders/index.ts'
import { audit } from '../inventory/index.ts'
import { compareFigures } from '../statements/books-check.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'
import { nextId, TOO_LITTLE, paidOrder, tell, tellRefund } from './event-outcome.fixture.ts'

let world: OrderShop
let buyer: Buyer
let order: OrderRow
let stock = 0
let people = 0

beforeAll(async () => {
  world = await startOrderShop({ ranges: ['127.96.0.0/25'] })
}, 60_000)
afterAll(() => world?.close())
beforeEach(async () => {
  await world.endAll()
  stock = await world.stock()
  buyer = await world.customer(`buyer${(people += 1)}`)
  order = await world.place(buyer)
})

const poll = async () => (await buyer.get<object>(`/api/orders/checkout?order_id=${order.publicId}`)).data
const payShort = async (): Promise<number> => {
  const event = paidOrder(order.publicId, '0.01', { lines: TOO_LITTLE })
  expect(await tell(world.shop.ctx, 'orders/paid', event)).toBe('lines_missing')
  return event.id
}
const payFully = () => tell(world.shop.ctx, 'orders/paid', paidOrder(order.publicId, '20.00'))
const books = async () => [await audit(world.shop.ctx.db), await compareFigures(world.shop.ctx.db)]
const CLEAN = [{ differences: 0, doubleLeased: 0 }, []]

test('a payment that fell short is pending with what is wrong, until the time to pay is over', async () => {
  expect(await poll()).toEqual({
    status: 'pending',
    is_cancelled: false,
    payment_pending: false,
    pay_status: 0,
    delivery_num: 0,
    proxy_num: 8,
    fail: null
  })
  await payShort()
  expect(await poll()).toMatchObject({ status: 'pending', pay_status: 0, fail: { code: 'lines_missing' } })
  await world.advance(31 * MINUTE)
  expect(await poll()).toMatchObject({ status: 'timeout', pay_status: 0, fail: { code: 'lines_missing' } })
  expect(await payFully()).toBe('settled')
  expect(await poll()).toMatchObject({ status: 'success', pay_status: 1, fail: null })
})

test('delivering what was not paid for settles it: that is for those who decide about money', async () => {
  await payShort()
  const helper = await world.admin(`helper${people}`)
  const { db } = world.shop.ctx
  await db
    .update(users)
    .set({ operatorRole: 'support' })
    .where(sql`username = ${`helper${people}`}`)
  const deliver = (by: Buyer) => by.post(`/api/orders/order_list/${order.id}/devery_order/`, {})
  expect(await deliver(helper)).toMatchObject({ status: 403, msg: 'Your role does not allow this' })
  expect(await world.row(order.id)).toMatchObject({ state: 'failed', task: null })
  await db
    .update(users)
    .set({ operatorRole: 'operations' })
    .where(sql`username = ${`helper${people}`}`)
  expect((await deliver(helper)).status).toBe(200)
})

test('an order whose short payment was given back is paid and delivered as if that had never come', async () => {
  const short = await payShort()
  expect(await tellRefund(world.shop.ctx, short, '0.01')).toBe('refunded')
  expect(await world.row(order.id)).toMatchObject({
    state: 'placed',
    paidAt: null,
    payAmount: null,
    platformOrderId: null,
    failCode: null,
    refundedAmount: '0.00',
    checkoutUrl: order.checkoutUrl
  })
  expect(await world.stock()).toBe(stock - 8)
  expect(await poll()).toMatchObject({ status: 'pending', pay_status: 0, fail: null })
  const { rows } = await world.shop.ctx.db.execute<{ ended: string }>(sql`select data -> 'data' ->> 'ended' as ended
    from pgboss.job where name = 'send-mail' and data ->> 'key' like ${`refunded:${short}:%`}`)
  expect(rows).toEqual([{ ended: 'unpaid' }])
  // Repeats of the same refund, and parts of it, change nothing.
  expect(await tellRefund(world.shop.ctx, short, '0.01')).toBe('ignored')
  expect(await payFully()).toBe('settled')
  await world.confirm()
  expect(await world.row(order.id)).toMatchObject({ state: 'delivered', payAmount: '20.00', checkoutUrl: null })
  expect(await books()).toEqual(CLEAN)
})

test('after the reservation it times out, and a payment counts as a late one does', async () => {
  const short = await payShort()
  await world.advance(31 * MINUTE)
  await timeOutOrders(world.shop.ctx)
  expect(await world.row(order.id)).toMatchObject({ state: 'failed', checkoutUrl: null })
  await tellRefund(world.shop.ctx, short, '0.01')
  expect(await poll()).toMatchObject({ status: 'timeout', pay_status: 0 })
  await timeOutOrders(world.shop.ctx)
  expect((await world.row(order.id)).state).toBe('timed_out')
  expect(await world.stock()).toBe(stock)
  expect(await payFully()).toBe('settled')
  await world.confirm()
  expect((await world.row(order.id)).state).toBe('delivered')
  expect(await books()).toEqual(CLEAN)
})

test('short payments can come and go: the order is as payable, and can be cancelled', async () => {
  for (let n = 0; n < 3; n++) await tellRefund(world.shop.ctx, await payShort(), '0.01')
  expect((await buyer.post(`/api/orders/order_list/${order.id}/cancel/`)).code).toBe(2000)
  expect(await world.stock()).toBe(stock)
  expect(await books()).toEqual(CLEAN)
})

test('money of a short payment that comes back is held, for an administrator to apply; the order waits as before', async () => {
  const { ctx } = world.shop
  const short = await payShort()
  const dispute = { id: nextId(), order_id: short, type: 'chargeback', amount: '0.01', currency: 'USD' }
  expect(await tell(ctx, 'disputes/create', { ...dispute, status: 'needs_response' })).toBe('refunded')
  expect((await world.row(order.id)).state).toBe('placed')
  expect(await tell(ctx, 'disputes/update', { ...dispute, status: 'won' })).toBe('dispute_won')
  expect((await world.row(order.id)).state).toBe('placed')
  const { rows } = await ctx.db.execute(
    sql`select accepted, refunded_at, refunded_amount from payments where platform_order_id = ${String(short)}`
  )
  expect(rows).toEqual([{ accepted: false, refunded_at: null, refunded_amount: '0.00' }])
  expect(await payFully()).toBe('settled')
  expect(await books()).toEqual(CLEAN)
})
