/** A buyer pays for more than the order has, and an administrator hears of it. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { MINUTE } from '../../infra/clock.ts'
import { startBooks, type Books, type Paid } from '../payments/books.fixture.ts'
import { work } from '../reconciliation/platform-orders.fixture.ts'
import { reconcile, says } from '../reconciliation/reconciling.fixture.ts'
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

const TWICE = { '11': 16, '901': 16 }
const twice = (paid: Paid): Paid => ({
  ...paid,
  line_items: paid.line_items.map(line => ({ ...line, quantity: 2 * line.quantity }))
})
/** Its rule is another one now. */
const exchanged = (paid: Paid) => ({
  ...paid,
  line_items: paid.line_items.flatMap(line =>
    line.variant_id === 901
      ? [
          { ...line, current_quantity: 0 },
          { ...line, id: line.id + 50, variant_id: 902, title: 'Rule 2' }
        ]
      : line
  )
})
const openOf = async (paid: Paid) => (await b.openOf(paid)).map(({ outcome, params }) => [outcome, params['lines']])

test('a purchase and a renewal of twice the quantity count, and wait for an administrator until a part goes back', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed, { amount: '40.00', lines: TWICE })
  expect(await b.tell('orders/paid', paid)).toBe('lines_more')
  await b.world.confirm()
  expect(await b.world.row(placed.id)).toMatchObject({ state: 'delivered', deliveryNum: 8, payAmount: '40.00' })
  const renewal = b.paymentFor(placed, { renewal: true, amount: '40.00', lines: TWICE })
  expect(await b.tell('orders/paid', renewal)).toBe('lines_more')
  expect(b.daysLeft(await b.world.row(placed.id))).toBe(60)
  for (const one of [paid, renewal]) {
    expect(await openOf(one)).toEqual([['lines_more', 'line 1: 16, line 2: 16']])
    // The same report again is no news.
    expect(await b.tell('orders/paid', { ...one, updated_at: b.now().toISOString() })).toBe('ignored')
  }
  const [entry] = await b.openOf(paid)
  expect(await b.act(entry, 'apply', { order: placed.publicId })).toMatchObject({ status: 409 })
  expect(await b.refund(paid, '20.00')).toBe('partly_refunded')
  expect(await openOf(paid)).toEqual([['partly_refunded', undefined]])
  const [other] = await b.openOf(renewal)
  expect(await b.act(other, 'ignore', { note: 'a present' })).toMatchObject({ code: 2000 })
  expect(await openOf(renewal)).toEqual([])
})

test('an order gets more lines on the platform after its payment, and the buyer pays them', async () => {
  const { paid } = await b.delivered()
  const grown = { ...twice(paid), total_price: '40.00', updated_at: b.now().toISOString() }
  for (const outcome of ['lines_more', 'ignored']) expect(await b.tell('orders/paid', grown)).toBe(outcome)
  expect(await openOf(paid)).toEqual([['lines_more', 'line 1: 16, line 2: 16']])
})

test('a rule is exchanged for a dearer one on the platform, and the buyer pays the difference', async () => {
  const { order, paid } = await b.delivered()
  await b.world.advance(MINUTE)
  const edited = { ...exchanged(paid), total_price: '28.00', updated_at: b.now().toISOString() }
  for (const outcome of ['lines_more', 'ignored']) expect(await b.tell('orders/paid', edited)).toBe(outcome)
  expect(await openOf(paid)).toEqual([['lines_more', 'line 1: 8, Rule 2: 8']])
  expect((await b.world.row(order.id)).rules).toEqual(order.rules)
  expect(await b.refund(paid, '8.00')).toBe('partly_refunded')
})

test.for([
  { name: 'a rule is exchanged at the same price', edit: exchanged, lines: 'line 1: 8, Rule 2: 8' },
  { name: 'lines are added for nothing', edit: twice, lines: 'line 1: 16, line 2: 16' }
])('an edit that changes no money has no webhook, is read, and is open once: $name', async ({ edit, lines }) => {
  const { order, paid } = await b.delivered()
  const before = await b.books()
  says(b, paid, [])
  expect(await reconcile(b)).toBe(0)
  for (const found of [1, 0]) {
    await b.world.advance(MINUTE)
    says(b, edit(paid), [])
    expect(await reconcile(b)).toBe(found)
    expect(await openOf(paid)).toEqual([['lines_more', lines]])
  }
  expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', rules: order.rules, payAmount: '20.00' })
  expect(await b.books()).toEqual(before)
  const [entry] = await b.openOf(paid)
  expect(await b.act(entry, 'ignore', { note: 'agreed' })).toMatchObject({ code: 2000 })
  // Refunds and removed lines are no additions.
  await b.world.advance(MINUTE)
  says(b, edit({ ...paid, line_items: paid.line_items.slice(0, 1) }), [])
  await reconcile(b)
  expect(await openOf(paid)).toEqual([])
})

test('lines that a short payment lacked, added after its delivery, are not more than its order has', async () => {
  const placed = await b.world.place(b.buyer)
  const short = b.paymentFor(placed, { lines: { '11': 8 } })
  expect(await b.tell('orders/paid', short)).toBe('lines_missing')
  const [held] = await b.openOf(short)
  expect(await b.act(held, 'apply', { order: placed.publicId })).toMatchObject({ code: 2000 })
  await b.world.confirm()
  await b.world.advance(MINUTE)
  says(b, { ...short, line_items: b.paymentFor(placed).line_items }, [])
  expect(await reconcile(b)).toBe(1)
  expect(await openOf(short)).toEqual([])
})

test('lines for two orders of one buyer are more than the one that is named needs', async () => {
  const [one, other] = [await b.world.place(b.buyer), await b.world.place(b.buyer, 16)]
  const both = b.paymentFor(one, { amount: '60.00', lines: { '11': 24, '901': 24 } })
  expect(await b.tell('orders/paid', both)).toBe('lines_more')
  expect((await b.world.row(other.id)).state).toBe('placed')
})

test('a tip, other goods and lines that were taken off are not more; too few are held as before', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed, { amount: '25.00', lines: { '11': 8, '901': 8, '555': 3 } })
  const [first, ...others] = paid.line_items
  const line_items = [{ ...first, quantity: 16, current_quantity: 8 }, ...others]
  expect(await b.tell('orders/paid', { ...paid, line_items })).toBe('settled')
  const short = b.paymentFor(await b.world.place(b.buyer), { lines: { '11': 100 } })
  expect(await b.tell('orders/paid', short)).toBe('lines_missing')
})

test('a payment for more of which a part went back before it was reported leaves both decisions open', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed, { amount: '40.00', lines: TWICE })
  expect(await b.refund(paid, '1.00')).toBe('refunded')
  await b.world.advance(MINUTE)
  expect(await b.tell('orders/paid', paid)).toBe('partly_refunded')
  await work(b.world)
  const both = [
    ['lines_more', 'line 1: 16, line 2: 16'],
    ['partly_refunded', undefined]
  ]
  expect(await openOf(paid)).toEqual(both)
  expect((await b.openOf(paid))[0]).toMatchObject({ order: placed.publicId, platform_order: paid.name })
  expect(await b.tell('orders/paid', { ...paid, updated_at: b.now().toISOString() })).toBe('ignored')
  await work(b.world)
  expect(await openOf(paid)).toEqual(both)
})

test('a held payment for more that an administrator applies is more than its order has, too', async () => {
  const { order } = await b.delivered()
  const other = await b.world.place(b.buyer)
  const [more, enough] = [b.paymentFor(order, { amount: '40.00', lines: TWICE }), b.paymentFor(order)]
  for (const again of [more, enough]) {
    expect(await b.tell('orders/paid', again)).toBe('paid_twice')
    const [held] = await b.openOf(again)
    const to = again === more ? other : await b.world.place(b.buyer)
    expect(await b.act(held, 'apply', { order: to.publicId })).toMatchObject({ code: 2000 })
    await work(b.world)
    expect(await openOf(again)).toEqual(again === more ? [['lines_more', 'line 1: 16, line 2: 16']] : [])
  }
  expect(await b.refund(more, '20.00')).toBe('partly_refunded')
  expect((await openOf(more)).map(([outcome]) => outcome)).toEqual(['partly_refunded'])
})
