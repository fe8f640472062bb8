/** More goes back of a payment than it brought, and an administrator hears of it. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { sql } from '../../infra/db/drizzle.ts'
import { MINUTE } from '../../infra/clock.ts'
import { work } from '../reconciliation/platform-orders.fixture.ts'
import { startBooks, type Books, type Paid } from './books.fixture.ts'
import { compareFigures, wrongBooks } from '../statements/books-check.ts'

let b: Books
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
afterAll(() => b?.world.close())
beforeEach(() => b.world.advance(MINUTE))
afterEach(async () => {
  expect(await compareFigures(b.db())).toEqual([])
  expect(await wrongBooks(b.db())).toEqual([])
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
  expect(await openOf(again)).toEqual([['refunded_twice', '20.00', '20.00']])
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
  expect(await openOf(paid)).toEqual([['refunded_twice', '20.00', '20.00']])
  await b.world.advance(1000)
  expect(await b.dispute(paid, 'won', { finalized_on: b.now().toISOString() })).toBe('ignored')
  expect(await openOf(paid)).toEqual([])
})

const KINDS: Record<string, () => Promise<Paid>> = {
  purchase: async () => (await b.delivered()).paid,
  renewal: async () => {
    const renewal = b.paymentFor((await b.delivered()).order, { renewal: true })
    await b.tell('orders/paid', renewal)
    return renewal
  },
  'second purchase that is held': async () => {
    const again = b.paymentFor((await b.delivered()).order)
    expect(await b.tell('orders/paid', again)).toBe('paid_twice')
    return again
  }
}
const lost = (paid: Paid, amount = '20.00') => b.dispute(paid, 'lost', { amount, finalized_on: b.now().toISOString() })
const opened = (paid: Paid, amount = '20.00') => b.dispute(paid, 'needs_response', { amount })
const WAYS: Record<string, [(paid: Paid) => Promise<unknown>, string, string]> = {
  'a part is refunded, and all is charged back': [
    async paid => [await b.refund(paid, '15.00'), await opened(paid), await lost(paid)],
    '15.00',
    '20.00'
  ],
  'a part is charged back, and all is refunded': [
    async paid => [await opened(paid, '6.00'), await b.refund(paid, '20.00'), await lost(paid, '6.00')],
    '6.00',
    '20.00'
  ],
  'all is refunded and charged back': [
    async paid => [await b.refund(paid, '20.00'), await opened(paid)],
    '20.00',
    '20.00'
  ],
  'all is refunded, more is paid, and what was refunded is charged back': [
    async paid => {
      await b.refund(paid, '20.00')
      await b.world.advance(MINUTE)
      await b.tell('orders/paid', { ...paid, total_price: '35.00', updated_at: b.now().toISOString() })
      await opened(paid)
    },
    '5.00',
    '35.00'
  ]
}
test.for(Object.keys(KINDS).flatMap(kind => Object.keys(WAYS).map(way => [kind, way] as const)))(
  'of a %s: %s',
  async ([kind, way]) => {
    const [give, amount, charged] = WAYS[way] ?? expect.fail(way)
    const paid = (await KINDS[kind]?.()) ?? expect.fail(kind)
    await give(paid)
    expect(await openOf(paid)).toContainEqual(['refunded_twice', amount, charged])
  }
)

test('the refund and the chargeback of a purchase with a paid renewal leave both decisions open', async () => {
  const { order, paid } = await b.delivered()
  const renewal = b.paymentFor(order, { renewal: true })
  expect(await b.tell('orders/paid', renewal)).toBe('settled')
  expect(await b.refund(paid, '15.00')).toBe('partly_refunded')
  expect(await b.chargeback.opened(paid)).toBe('renewals_unserved')
  await work(b.world)
  const unserved = ['renewals_unserved', '20.00 USD', undefined]
  expect(await openOf(paid)).toEqual([['refunded_twice', '15.00', '20.00'], unserved])
  await b.world.advance(MINUTE)
  expect(await b.chargeback.won(paid)).toBe('dispute_won')
  expect((await openOf(paid)).map(([outcome]) => outcome)).not.toContain('refunded_twice')
})

test('a payment that was refunded and charged back before it was reported', async () => {
  const paid = b.paymentFor(await b.world.place(b.buyer))
  expect([await b.refund(paid, '15.00'), await b.chargeback.opened(paid)]).toEqual(['refunded', 'refunded'])
  expect(await b.tell('orders/paid', paid)).toBe('refunded')
  await work(b.world)
  expect(await openOf(paid)).toEqual([['refunded_twice', '15.00', '20.00']])
})

test('operators get a notice of a chargeback once its payment is known, and only once', async () => {
  for (const amount of ['20.00', '6.00']) {
    const placed = await b.world.place(b.buyer)
    const paid = b.paymentFor(placed)
    const noticesOf = async () => {
      const { rows } = await b.db().execute<{ params: object }>(sql`
        select data -> 'params' as params from pgboss.job where data ->> 'words' = 'dispute' and data::text like ${`%${paid.name}"%`}`)
      return rows.map(({ params }) => params)
    }
    const told = [{ payment: paid.name, money: `${amount} USD`, order: placed.publicId }]
    await b.dispute(paid, 'needs_response', { amount })
    expect(await noticesOf()).toEqual([])
    await b.tell('orders/paid', paid)
    expect(await noticesOf()).toEqual(told)
    await b.dispute(paid, 'under_review', { amount })
    await b.tell('orders/paid', { ...paid, updated_at: b.now().toISOString() })
    expect(await noticesOf()).toEqual(told)
  }
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
