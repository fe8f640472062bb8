import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  adminNotices,
  inState,
  ordersOf,
  outcomeOf,
  paidEvent,
  pay,
  place,
  report,
  stockOf
} from '../../testing/buying.ts'

import { timeOutOrders } from '../orders/index.ts'
import { startPaymentStack, type PaymentStack } from './stack.fixture.ts'

let stack: PaymentStack['stack']
let shop: PaymentStack['shop']
let buyer: PaymentStack['buyer']
let admin: PaymentStack['admin']
let rule = 0
let one: PaymentStack['one']
let placed: PaymentStack['placed']
let mine: PaymentStack['mine']
let moved: PaymentStack['moved']

beforeAll(async () => {
  // 16 blocks of 8.
  ;({ stack, shop, buyer, admin, rule, one, placed, mine, moved } = await startPaymentStack('127.17.0.0/25'))
}, 120_000)
afterAll(() => stack?.close())

const expire = async (publicId: string) => {
  await stack.ctx.db.execute(
    sql`update orders set reserved_until = now() - interval '1 second' where order_id = ${publicId}`
  )
  await timeOutOrders(stack.ctx)
}

test('paid after the time-out: delivered while there is stock, else failed until there is', async () => {
  const late = await placed()
  await expire(late.order_id)
  expect((await mine(late.order_id)).state).toBe('timed_out')
  await pay(late.checkout_url)
  await inState(stack, buyer, late.order_id, 'delivered')

  const tooLate = await placed()
  await expire(tooLate.order_id)
  const rest = await placed(await stockOf(stack, [rule]))
  expect(await stockOf(stack, [rule])).toBe(0)
  await pay(tooLate.checkout_url)
  const failed = await inState(stack, buyer, tooLate.order_id, 'failed')
  expect(failed).toMatchObject({ pay_status: 1, delivery_num: 0 })
  expect(failed).toMatchObject({
    fail_reason: 'Out of stock: the addresses were gone when the payment arrived',
    fail: { code: 'out_of_stock', params: {} }
  })
  expect((await adminNotices(stack)).at(-1)).toContain('paid too late')
  expect((await buyer.get<{ status: string }>(`/api/orders/checkout?order_id=${tooLate.order_id}`)).data.status).toBe(
    'success'
  )

  const deliver = () => admin.post(`/api/orders/order_list/${failed.id}/devery_order/`)
  expect((await deliver()).code).toBe(2000)
  const refused = await stack.eventually('the task to fail', async () => {
    const order = await mine(tooLate.order_id)
    return order.task === null && order.task_error ? order : null
  })
  expect(refused).toMatchObject({ state: 'failed', task_error: 'Out of stock' })
  await expire(rest.order_id)
  expect(await stockOf(stack, [rule])).toBeGreaterThan(0)
  expect((await deliver()).code).toBe(2000)
  await inState(stack, buyer, tooLate.order_id, 'delivered')
  expect(await moved(tooLate.order_id)).toMatchObject({ grants: 1, payments: 1, leases: 1 })
  expect(await one(sql`select inventory.differences() as a, inventory.double_leased() as b`)).toEqual({ a: 0, b: 0 })
})

test('a payment for an order that was deleted brings it back', async () => {
  const { order_id, checkout_url } = await placed()
  const { id } = await mine(order_id)
  expect((await admin.delete(`/api/orders/order_list/${id}/`)).status).toBe(409)
  await expire(order_id)
  expect((await admin.delete(`/api/orders/order_list/${id}/`)).code).toBe(2000)
  expect((await ordersOf(buyer)).some(order => order.order_id === order_id)).toBe(false)
  await pay(checkout_url)
  await inState(stack, buyer, order_id, 'delivered')
})

test("a payment for the order of a deleted user delivers nothing, and is in the administrators' inbox", async () => {
  const leaving = await stack.customer(shop.url, 'leaving1')
  const { data } = await place(stack, leaving, 8, [rule])
  await stack.ctx.db.execute(sql`update users set deleted_at = now() where username = 'leaving1'`)
  await report(shop.url, paidEvent({ publicId: data.order_id, amount: '20.00' }), { eventId: 'of nobody' })
  expect(await outcomeOf(stack, 'of nobody')).toMatchObject({ outcome: 'unknown_order' })
  expect(await moved(data.order_id)).toMatchObject({ state: 'placed', payments: 0, grants: 0 })
  await expire(data.order_id)
})
