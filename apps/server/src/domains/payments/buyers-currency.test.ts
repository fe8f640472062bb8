import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { MINUTE } from '../../infra/clock.ts'
import { compareFigures, wrongBooks } from '../statements/books-check.ts'
import { startBooks, type Books, type Paid } from './books.fixture.ts'
import { platformOrder, work } from '../reconciliation/platform-orders.fixture.ts'
import { queueUnreadOrders } from '../reconciliation/read-order.ts'
import { reconcile, says } from '../reconciliation/reconciling.fixture.ts'
import { askRefund } from './ask-refund.fixture.ts'

let b: Books
let ids = 990_000

beforeAll(async () => {
  b = await startBooks()
}, 60_000)
afterAll(() => b?.world.close())
afterEach(async () => {
  // The stored figures and the rewards match the payments after every test.
  expect(await compareFigures(b.db())).toEqual([])
  expect(await wrongBooks(b.db())).toEqual([])
  b.world.platformOrders.known.clear()
})

/** A payment's report if the buyer paid in another currency. */
const inPounds = (paid: Paid, amount = '15.40', currency_code = 'GBP') => ({
  ...paid,
  total_price_set: { presentment_money: { amount, currency_code } }
})
const refundOf = ({ id: order_id }: Paid, amount: string, currency = 'GBP', id = (ids += 1)) =>
  b.tell('refunds/create', { id, order_id, transactions: [{ kind: 'refund', status: 'success', amount, currency }] })

async function delivered(amount?: string, currency?: string) {
  const order = await b.world.place(b.buyer)
  const paid = b.paymentFor(order)
  expect(await b.tell('orders/paid', inPounds(paid, amount, currency))).toBe('settled')
  await b.world.confirm()
  return { order, paid, row: () => b.world.row(order.id) }
}

test('a refund in the buyer’s currency counts as its payment was converted, and all of it in parts is all', async () => {
  const { paid, row } = await delivered()
  expect(await refundOf(paid, '3.85')).toBe('partly_refunded')
  expect(await row()).toMatchObject({ state: 'delivered', refundedAmount: '5.00' })
  expect(await refundOf(paid, '11.55')).toBe('refunded')
  expect(await row()).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
  const yen = await delivered('3010', 'JPY')
  for (const part of ['1003', '1003']) expect(await refundOf(yen.paid, part, 'JPY')).toBe('partly_refunded')
  expect(await refundOf(yen.paid, '1004', 'JPY')).toBe('refunded')
  expect(await yen.row()).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
})

test('one that is told before its payment is converted when that comes', async () => {
  const order = await b.world.place(b.buyer)
  const paid = b.paymentFor(order)
  expect(await refundOf(paid, '3.85')).toBe('refunded')
  expect(await b.tell('orders/paid', inPounds(paid))).toBe('partly_refunded')
  expect(await b.world.row(order.id)).toMatchObject({ state: 'delivering', refundedAmount: '5.00' })
  const other = b.paymentFor(await b.world.place(b.buyer))
  await refundOf(other, '15.40')
  expect(await b.tell('orders/paid', inPounds(other))).toBe('refunded')
})

test('a dispute in the buyer’s currency takes what it is of the payment, and won, gives that back', async () => {
  const start = await b.books()
  const { paid, row } = await delivered()
  const before = await b.books()
  const dispute = (status: string, amount: string, id: number) =>
    b.dispute(paid, status, { amount, currency: 'GBP', id })
  expect(await dispute('needs_response', '3.85', 8101)).toBe('partly_refunded')
  expect(await row()).toMatchObject({ state: 'delivered', refundedAmount: '5.00' })
  expect(await dispute('won', '3.85', 8101)).toBe('settled')
  expect(await b.books()).toEqual(before)
  expect(await dispute('needs_response', '15.40', 8102)).toBe('refunded')
  expect(await b.books()).toEqual(start)
  await b.world.advance(MINUTE)
  expect(await dispute('won', '15.40', 8102)).toBe('dispute_won')
  expect(await b.books()).toEqual(before)
})

test('without the rate of a payment, a refund counts as the platform lists it, and a dispute counts as the whole payment', async () => {
  const { order, paid } = await b.delivered()
  const id = (ids += 1)
  expect(await refundOf(paid, '3.85', 'GBP', id)).toBe('refunded')
  expect(await refundOf(paid, '3.85', 'GBP', id)).toBe('ignored')
  expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', refundedAmount: '0.00' })
  b.world.platformOrders.known.set(String(paid.id), platformOrder(paid, [{ id, amount: '5.00' }]))
  await work(b.world)
  expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', refundedAmount: '5.00' })
  expect(await b.dispute(paid, 'needs_response', { amount: '3.85', currency: 'GBP' })).toBe('refunded')
  expect(await b.world.row(order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
})

test.for([
  { name: 'rounds it otherwise', parts: ['3.86', '3.86', '3.86', '3.82'], shop: ['5.01', '5.01', '5.01', '4.96'] },
  { name: 'converts it by the rate of another day', parts: ['15.40'], shop: ['19.20'] },
  { name: 'converts a part of it to more than was paid', parts: ['15.00'], shop: ['20.10'] }
])('what went back in the buyer’s currency stays so where the platform $name', async ({ parts, shop }) => {
  const { paid, row } = await delivered()
  const refunds = parts.map((amount, at) => ({
    id: (ids += 1),
    amount: shop[at] ?? '',
    buyer: { amount, currency: 'GBP' }
  }))
  for (const { id, buyer } of refunds) await refundOf(paid, buyer.amount, 'GBP', id)
  await b.world.confirm()
  const before = await row()
  expect(before.state).toBe(parts[0] === '15.00' ? 'delivered' : 'refunded')
  await b.world.advance(11 * MINUTE)
  says(b, paid, refunds, { displayFinancialStatus: before.state === 'refunded' ? 'REFUNDED' : 'PARTIALLY_REFUNDED' })
  expect(await reconcile(b)).toBe(0)
  expect(await row()).toMatchObject({ state: before.state, refundedAmount: before.refundedAmount })
})

test.for([
  { name: 'reported', isTold: true },
  { name: 'found by reading', isTold: false }
])('a refund that was $name stays as it is when more is paid at another rate', async ({ isTold }) => {
  const { paid, row } = await delivered()
  const refunds = [{ id: (ids += 1), amount: '5.00', buyer: { amount: '3.85', currency: 'GBP' } }]
  if (isTold) await refundOf(paid, '3.85', 'GBP', refunds[0]?.id)
  else {
    says(b, paid, refunds)
    await reconcile(b)
  }
  expect(await row()).toMatchObject({ state: 'delivered', refundedAmount: '5.00' })
  await b.world.advance(11 * MINUTE)
  const grown = { ...inPounds(paid, '33.00'), total_price: '40.00', updated_at: b.now().toISOString() }
  await b.tell('orders/paid', grown)
  expect(await b.paymentRow(paid)).toMatchObject({ amount: '40.00', buyerAmount: '33.00', refundedAmount: '5.00' })
  says(b, grown, refunds)
  await reconcile(b)
  expect(await row()).toMatchObject({ state: 'delivered', refundedAmount: '5.00' })
  expect((await b.openOf(paid)).map(({ outcome }) => outcome)).toEqual(['partly_refunded'])
  // A part of it that came back is converted at the payment's rate of now.
  says(b, grown, [{ id: refunds[0]?.id ?? 0, amount: '3.00', buyer: { amount: '2.00', currency: 'GBP' } }])
  await reconcile(b)
  expect(await row()).toMatchObject({ refundedAmount: '2.43' })
  await b.world.advance(11 * MINUTE)
  says(b, grown, refunds)
  await reconcile(b)
  expect(await row()).toMatchObject({ refundedAmount: '4.67' })
})

test('a refund that is made in parts stays as it is when more is paid at another rate', async () => {
  const { paid, row } = await delivered()
  const id = (ids += 1)
  const part = (status: string) => ({ kind: 'refund', status, amount: '3.85', currency: 'GBP' })
  const transactions = [part('success'), part('pending')]
  expect(await b.tell('refunds/create', { id, order_id: paid.id, transactions })).toBe('partly_refunded')
  await b.world.advance(11 * MINUTE)
  const refunds = [{ id, amount: '10.00', buyer: { amount: '7.70', currency: 'GBP' } }]
  says(b, paid, refunds)
  await reconcile(b)
  expect(await row()).toMatchObject({ state: 'delivered', refundedAmount: '10.00' })
  await b.world.advance(11 * MINUTE)
  const grown = { ...inPounds(paid, '33.00'), total_price: '40.00', updated_at: b.now().toISOString() }
  await b.tell('orders/paid', grown)
  says(b, grown, refunds)
  await reconcile(b)
  expect(await row()).toMatchObject({ state: 'delivered', refundedAmount: '10.00' })
  expect((await b.openOf(paid)).map(({ outcome }) => outcome)).not.toContain('refund_failed')
})

test('the refund that the console asked for is the one that the platform tells of in the buyer’s currency', async () => {
  const { order, paid } = await delivered()
  expect(await askRefund(b.admin, order, { amount: '5.00' })).toMatchObject({ code: 2000 })
  const made = b.world.refundsMade.at(-1)?.id
  expect(await refundOf(paid, '3.84', 'GBP', made)).toBe('partly_refunded')
  expect(await b.openOf(paid)).toEqual([])
})

test('a payment that an administrator ignored stays ignored when its dispute is won, and that waits for somebody', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed, { lines: { '11': 8 } })
  expect(await b.tell('orders/paid', paid)).toBe('lines_missing')
  const [short] = await b.openOf(paid)
  expect(await b.act(short, 'ignore', { note: 'paid back by bank transfer' })).toMatchObject({ code: 2000 })
  expect(await b.chargeback.opened(paid)).toBe('refunded')
  expect(await b.chargeback.won(paid)).toBe('dispute_won')
  b.world.platformOrders.known.set(String(paid.id), platformOrder(b.paymentFor(placed, { id: paid.id }), []))
  await work(b.world)
  await queueUnreadOrders(b.world.shop.ctx)
  await work(b.world)
  expect(await b.paymentRow(paid)).toMatchObject({ accepted: false, refundedAt: null })
  const [open, ...others] = await b.openOf(paid)
  expect([open, others]).toMatchObject([{ outcome: 'dispute_won', payment: 'ignored' }, []])
  expect(await b.act(open, 'apply', { order: placed.publicId })).toMatchObject({ code: 2000 })
  expect(await b.paymentRow(paid)).toMatchObject({ accepted: true, ignoredAt: null })
})
