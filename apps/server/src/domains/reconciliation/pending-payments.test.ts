import type { Order } from '@netlet/contract'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { timeOutOrders, type OrderRow } from '../orders/index.ts'
import { startBooks, type Books, type Paid } from '../payments/books.fixture.ts'
import { reconcile, says } from './reconciling.fixture.ts'

let b: Books
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
beforeEach(async () => {
  await b.world.endAll()
  b.world.platformOrders.known.clear()
})
afterAll(() => b?.world.close())

/** The platform has the payment in this status, and the shop reads it. */
async function read(paid: Paid, status: string, more: { cancelledAt?: string } = {}): Promise<void> {
  says(b, paid, [], { displayFinancialStatus: status, fullyPaid: false, ...more })
  await reconcile(b)
}
/** What the buyer sees of the order some time later. */
async function after(milliseconds: number, { id, publicId }: OrderRow) {
  await b.world.advance(milliseconds)
  await timeOutOrders(b.world.shop.ctx)
  const { data } = await b.buyer.get<{ data: Order[] }>(`/api/orders/order_list/?id=${id}`)
  const order = data.data[0]
  const polled = await b.buyer.get<Pick<Order, 'payment_pending'>>(`/api/orders/checkout?order_id=${publicId}`)
  expect(polled.data.payment_pending).toBe(order?.payment_pending)
  return { state: order?.state, pending: order?.payment_pending, link: order?.checkout_url !== null }
}
const UNPAID = { state: 'placed', pending: false, link: true }
const HELD = { state: 'placed', pending: true, link: false }
const GONE = { state: 'timed_out', pending: false, link: false }

test.for(['PENDING', 'AUTHORIZED'])(
  'a payment that the platform has as %s holds its addresses until it is paid',
  async status => {
    const placed = await b.world.place(b.buyer)
    const paid = b.paymentFor(placed)
    const free = await b.world.stock()
    expect(await after(20 * MINUTE, placed)).toEqual(UNPAID)
    for (let times = 0; times < 2; times++) await read(paid, status)
    expect(await after(HOUR, placed)).toEqual(HELD)
    expect(await after(6 * DAY, placed)).toEqual(HELD)
    expect(await b.world.stock()).toBe(free)
    expect(await b.tell('orders/paid', { ...paid, financial_status: 'paid' })).toBe('settled')
    await b.world.confirm()
    expect(await after(HOUR, placed)).toEqual({ state: 'delivered', pending: false, link: false })
    // The platform's search may return the order once more.
    await read(paid, status)
    expect(await after(8 * DAY, placed)).toMatchObject({ state: 'delivered' })
  }
)

test('a payment that stays pending holds its addresses for a week', async () => {
  const placed = await b.world.place(b.buyer)
  await read(b.paymentFor(placed), 'PENDING')
  expect(await after(7 * DAY, placed)).toEqual(GONE)
})

test.for([
  { name: 'has expired', status: 'EXPIRED', more: {} },
  { name: 'is voided', status: 'VOIDED', more: {} },
  { name: 'is cancelled with its order', status: 'PENDING', more: { cancelledAt: '2026-01-02T00:00:00Z' } }
])('a pending payment that $name lets go of its addresses', async ({ status, more }) => {
  const placed = await b.world.place(b.buyer)
  const free = await b.world.stock()
  const paid = b.paymentFor(placed)
  await read(paid, 'PENDING')
  expect(await after(HOUR, placed)).toEqual(HELD)
  await read(paid, status, more)
  expect(await after(MINUTE, placed)).toEqual(GONE)
  expect(await b.world.stock()).toBe(free + 8)
})

test('a payment that failed within the reservation shortens nothing, and a second one that is pending counts', async () => {
  const placed = await b.world.place(b.buyer)
  const second = b.paymentFor(placed)
  await read(b.paymentFor(placed), 'EXPIRED')
  expect(await after(20 * MINUTE, placed)).toEqual(UNPAID)
  // The first one is read again with it.
  await read(second, 'PENDING')
  expect(await after(HOUR, placed)).toEqual(HELD)
  await read(second, 'EXPIRED')
  expect(await after(MINUTE, placed)).toEqual(GONE)
})

test('a pending payment for less than was ordered holds nothing', async () => {
  const placed = await b.world.place(b.buyer)
  await read(b.paymentFor(placed, { lines: { '11': 8, '901': 7 } }), 'PENDING')
  expect(await after(HOUR, placed)).toEqual(GONE)
})

test('an order whose payment is pending does not keep its buyer from ordering more', async () => {
  const buyer = await b.world.customer('second')
  const first = await b.world.place(buyer, 40)
  await read(b.paymentFor(first, { lines: { '11': 40, '901': 40 } }), 'PENDING')
  await b.world.advance(HOUR)
  const next = await buyer.post('/api/orders/checkout', b.world.wanted())
  expect(next).toMatchObject({ code: 2000 })
})
