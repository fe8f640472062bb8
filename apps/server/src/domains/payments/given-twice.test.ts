/** More goes back of a payment than it brought, and an administrator hears of it. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startBooks, type Books, type Paid } from './books.fixture.ts'
import { compareFigures, wrongBooks } from '../statements/books-check.ts'

let b: Books
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
afterAll(() => b?.world.close())
afterEach(async () => {
  expect(await compareFigures(b.db())).toEqual([])
  expect(await wrongBooks(b.db())).toEqual([])
  await b.world.endAll()
})

const openOf = async (paid: Paid) =>
  (await b.openOf(paid)).map(({ outcome, params }) => [outcome, params['amount'], params['charged']])

test('a payment that an administrator marked as refunded is refunded on the platform too', async () => {
  const { order } = await b.delivered()
  const again = b.paymentFor(order)
  expect(await b.tell('orders/paid', again)).toBe('paid_twice')
  const [entry] = await b.openOf(again)
  expect(await b.act(entry, 'refunded', { note: 'by bank transfer' })).toMatchObject({ code: 2000 })
  expect(await openOf(again)).toEqual([])
  expect(await b.refund(again, '20.00')).toBe('refunded_twice')
  expect(await openOf(again)).toEqual([['refunded_twice', '40.00', '20.00']])
  expect(await b.paymentRow(again)).toMatchObject({ refundedAmount: '20.00' })
  const [twice] = await b.openOf(again)
  expect(await b.act(twice, 'ignore', { note: 'it was one refund' })).toMatchObject({ code: 2000 })
  expect(await openOf(again)).toEqual([])
})

test('a payment that was refunded is charged back too, until the shop wins the dispute', async () => {
  const { paid } = await b.delivered()
  expect(await b.refund(paid, '15.00')).toBe('partly_refunded')
  expect(await b.refund(paid, '5.00')).toBe('refunded')
  expect(await b.chargeback.opened(paid)).toBe('refunded_twice')
  // The same dispute again, and its end.
  expect(await b.chargeback.opened(paid)).toBe('ignored')
  expect(await b.dispute(paid, 'lost')).toBe('ignored')
  expect(await openOf(paid)).toEqual([['refunded_twice', '40.00', '20.00']])
  await b.world.advance(1000)
  expect(await b.dispute(paid, 'won', { finalized_on: b.now().toISOString() })).toBe('ignored')
  expect(await openOf(paid)).toEqual([])
})

test('a part of a payment was refunded before all of it is charged back', async () => {
  const { order, paid } = await b.delivered()
  expect(await b.refund(paid, '15.00')).toBe('partly_refunded')
  expect(await b.chargeback.opened(paid)).toBe('refunded_twice')
  expect(await b.world.row(order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
  expect(await openOf(paid)).toEqual([['refunded_twice', '35.00', '20.00']])
})

test('a payment that was charged back is refunded too', async () => {
  const { paid } = await b.delivered()
  expect(await b.chargeback.opened(paid)).toBe('refunded')
  expect(await b.refund(paid, '20.00')).toBe('refunded_twice')
  expect(await openOf(paid)).toEqual([['refunded_twice', '40.00', '20.00']])
})

test('a cancellation that refunds, and the refund that it makes, are the same money', async () => {
  for (const isFirst of [true, false]) {
    const { paid } = await b.delivered()
    const cancelled = { id: paid.id, name: paid.name, financial_status: 'refunded' }
    if (isFirst) expect(await b.tell('orders/cancelled', cancelled)).toBe('refunded')
    expect(await b.refund(paid, '20.00')).toBe(isFirst ? 'ignored' : 'refunded')
    if (!isFirst) expect(await b.tell('orders/cancelled', cancelled)).toBe('ignored')
    expect(await openOf(paid)).toEqual([])
  }
})
