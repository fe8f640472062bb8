import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { unpaidRetention } from '../inbox/index.ts'
import { timeOutOrders } from '../orders/index.ts'
import { startBooks, type Books } from '../payments/books.fixture.ts'
import { readUnpaid, reconcile } from './reconciling.fixture.ts'

let b: Books
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
beforeEach(async () => {
  await b.world.endAll()
  b.world.platformOrders.known.clear()
})
afterAll(() => b?.world.close())

const TAKEN = { kind: 'SALE', status: 'SUCCESS' }
const FAILED = { kind: 'SALE', status: 'FAILURE' }
const PARTLY: { name: string; more: Record<string, number>; transactions: (typeof TAKEN & { after?: number })[] }[] = [
  { name: 'a gift card paid a part, and the rest failed', more: {}, transactions: [TAKEN, FAILED] },
  { name: 'our lines are paid, and others that were added are not', more: { '555': 1 }, transactions: [TAKEN, FAILED] },
  {
    name: 'a part of the authorised money was captured',
    more: {},
    transactions: [
      { kind: 'AUTHORIZATION', status: 'SUCCESS' },
      { kind: 'CAPTURE', status: 'SUCCESS', after: 0 }
    ]
  }
]

test.for(PARTLY)('an order that ends while the platform has a part of its money is open once: $name', async one => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed, { lines: { '11': 8, '901': 8, ...one.more } })
  expect(await b.tell('orders/create', { ...paid, financial_status: 'partially_paid' })).toBe('not_paid')
  await readUnpaid(b, paid, 'PARTIALLY_PAID', { transactions: one.transactions })
  expect(await b.openOf(paid)).toEqual([])
  for (let hours = 0; hours < 3; hours++) {
    await b.world.advance(HOUR)
    await timeOutOrders(b.world.shop.ctx)
    await reconcile(b)
  }
  expect((await b.world.row(placed.id)).state).toBe('timed_out')
  const [open, ...others] = await b.openOf(paid)
  expect(others).toEqual([])
  expect(open).toMatchObject({ outcome: 'lines_missing', order: placed.publicId, platform_order: paid.name })
  expect(open?.params['missing']).toBe('0/8 (20.00 USD)')
  const clean = () => command(b.world.shop.ctx, SYSTEM, unit => unpaidRetention.remove(unit, b.now(), 1000))
  await clean()
  expect(await b.world.row(placed.id)).toMatchObject({ state: 'timed_out' })
  expect(await b.act(open, 'ignore', { note: 'given back' })).toMatchObject({ code: 2000 })
  await clean()
  await expect(b.world.row(placed.id)).rejects.toThrow()
})

test('a part of the money for an order that is cancelled is open until the rest is paid', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed)
  await readUnpaid(b, paid, 'PARTIALLY_PAID', { transactions: [TAKEN, FAILED] })
  expect(await b.buyer.post(`/api/orders/order_list/${placed.id}/cancel/`, {})).toMatchObject({ code: 2000 })
  await reconcile(b)
  expect((await b.openOf(paid)).map(({ outcome }) => outcome)).toEqual(['lines_missing'])
  expect(await b.tell('orders/paid', paid)).toBe('settled')
  expect(await b.openOf(paid)).toEqual([])
})

test('a part of the money for an order that ended is closed once it went back', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed)
  await readUnpaid(b, paid, 'PARTIALLY_PAID', { transactions: [TAKEN, FAILED] })
  expect(await b.buyer.post(`/api/orders/order_list/${placed.id}/cancel/`, {})).toMatchObject({ code: 2000 })
  await reconcile(b)
  expect(await b.openOf(paid)).toMatchObject([{ outcome: 'lines_missing' }])
  await b.refund(paid, '8.00')
  expect(await b.openOf(paid)).toEqual([])
})
