import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { work } from '../reconciliation/platform-orders.fixture.ts'
import { queueUnreadOrders } from '../reconciliation/read-order.ts'
import { reconcile, says } from '../reconciliation/reconciling.fixture.ts'
import { writeSettings } from '../settings/index.ts'
import { askRefund } from './ask-refund.fixture.ts'
import { compareFigures, wrongBooks } from '../statements/books-check.ts'
import { startBooks, type Books } from './books.fixture.ts'
import { refundRowsOf } from './refund-rows.ts'

let b: Books
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
afterAll(() => b?.world.close())
afterEach(async () => {
  expect(await compareFigures(b.db())).toEqual([])
  expect(await wrongBooks(b.db())).toEqual([])
  b.world.platformOrders.known.clear()
})

/** A report of a paid order after 5.00 of 12.00 were refunded: it does not tell what was charged. */
const partlyBack = (paid: object) => ({
  ...paid,
  financial_status: 'partially_refunded',
  current_total_price: '7.00',
  updated_at: b.now().toISOString()
})

test.for([
  { name: 'what was taken off it before it was paid was never charged', left: '12.00', open: '0.00', charged: '12.00' },
  { name: 'what was taken off it since is owed to the buyer', left: '12.00', open: '-8.00', charged: '20.00' },
  { name: 'both', left: '12.00', open: '-3.00', charged: '15.00' },
  { name: 'more than at first was never asked for', left: '99.00', open: '-3.00', charged: '20.00' }
])('an order is reported as edited and then paid: $name', async ({ left, open, charged }) => {
  const before = await b.books()
  const placed = await b.world.place(b.buyer)
  const paid = {
    ...b.paymentFor(placed),
    current_total_price: left,
    total_outstanding: open,
    total_price_set: { presentment_money: { amount: '15.40', currency_code: 'GBP' } }
  }
  expect(await b.tell('orders/paid', paid)).toBe('settled')
  expect(await b.paymentRow(paid)).toMatchObject({ amount: charged, charged })
  expect(await b.world.row(placed.id)).toMatchObject({ payAmount: charged })
  expect((await b.books())?.points).toBe((before?.points ?? 0) + Math.floor(Number(charged)))
  // The buyer gets back what was taken, in any reported currency.
  const pounds = ((15.4 * Number(charged)) / 20).toFixed(2)
  const transactions = [{ kind: 'refund', status: 'success', amount: pounds, currency: 'GBP' }]
  expect(await b.tell('refunds/create', { id: paid.id, order_id: paid.id, transactions })).toBe('refunded')
})

test('the same if no webhook reported the payment: what the platform received counts', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed)
  says(b, { ...paid, total_price: '12.00' }, [])
  expect(await reconcile(b)).toBe(1)
  expect(await b.paymentRow(paid)).toMatchObject({ accepted: true, charged: '12.00' })
})

test('an order that was paid in part, and given back in part, pays for nothing; its later refunds of a payment count', async () => {
  const placed = await b.world.place(b.buyer)
  const half = b.paymentFor(placed)
  says(b, half, [{ id: half.id, amount: '5.00' }], { fullyPaid: false })
  expect(await reconcile(b)).toBe(0)
  expect(await b.world.row(placed.id)).toMatchObject({ state: 'placed' })
  await b.world.advance(60_000)
  says(b, half, [{ id: half.id, amount: '5.00' }])
  expect(await reconcile(b)).toBe(2)
  expect(await b.world.row(placed.id)).toMatchObject({ state: 'delivering', refundedAmount: '5.00' })
  // Lines were added that are not paid for.
  await b.world.advance(60_000)
  const refunds = [half.id, half.id + 1].map(id => ({ id, amount: '5.00' }))
  says(b, half, refunds, { fullyPaid: false })
  expect(await reconcile(b)).toBe(1)
  expect(await b.world.row(placed.id)).toMatchObject({ state: 'delivering', refundedAmount: '10.00' })
})

test.for([{ first: '20.00' }, { first: '0.50' }])(
  'what was added to an order and paid since is earned once, and lost as it goes back: $first at first',
  async ({ first }) => {
    const start = await b.books()
    const placed = await b.world.place(b.buyer)
    const paid = b.paymentFor(placed, { amount: first })
    expect(await b.tell('orders/paid', paid)).toBe('settled')
    await b.world.confirm()
    await b.world.advance(60_000)
    const grown = { ...paid, total_price: '45.50', updated_at: b.now().toISOString() }
    for (const _ of [1, 2]) expect(await b.tell('orders/paid', grown)).toBe('ignored')
    says(b, grown, [])
    expect(await reconcile(b)).toBe(0)
    const all = await b.books()
    expect(all).toMatchObject({ points: (start?.points ?? 0) + 45, coins: (start?.coins ?? 0) + 2 })
    expect(await b.world.row(placed.id)).toMatchObject({ payAmount: '45.50', lastAmount: '45.50' })
    await b.dispute(paid, 'needs_response', { amount: '25.50' })
    expect(await b.books()).toMatchObject({ points: (start?.points ?? 0) + 20, coins: (start?.coins ?? 0) + 1 })
    await b.dispute(paid, 'won', { amount: '25.50' })
    expect(await b.books()).toEqual(all)
    expect(await b.refund(paid, '30.00')).toBe('partly_refunded')
    expect(await b.books()).toMatchObject({ points: (start?.points ?? 0) + 15, coins: start?.coins })
    expect(await b.refund(paid, '15.50')).toBe('refunded')
    expect(await b.books()).toEqual(start)
  }
)

test('what was added to a renewal is part of what the order and its running term cost; what comes late changes nothing', async () => {
  const { order } = await b.delivered()
  const renewal = b.paymentFor(order, { renewal: true, amount: '10.00' })
  expect(await b.tell('orders/paid', renewal)).toBe('settled')
  await b.world.advance(60_000)
  const grown = { ...renewal, total_price: '12.00', updated_at: b.now().toISOString() }
  expect(await b.tell('orders/paid', grown)).toBe('ignored')
  const before = await b.books()
  expect(await b.tell('orders/paid', { ...renewal, updated_at: '2020-01-01T00:00:00Z' })).toBe('ignored')
  expect(await b.world.row(order.id)).toMatchObject({ payAmount: '32.00', lastAmount: '12.00' })
  expect(await b.books()).toEqual(before)
})

test('what was taken off an order before its payment is never charged, also after a part was refunded', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = { ...b.paymentFor(placed), current_total_price: '12.00', total_outstanding: '0.00' }
  await b.tell('orders/paid', paid)
  await b.world.confirm()
  await b.refund(paid, '5.00')
  await b.world.advance(MINUTE)
  expect(await b.tell('orders/paid', partlyBack(paid))).toBe('ignored')
  expect(await b.paymentRow(paid)).toMatchObject({ charged: '12.00' })
  await b.refund(paid, '7.00')
  expect(await b.world.row(placed.id)).toMatchObject({ state: 'refunded', payAmount: '12.00' })
})

test('a held payment keeps its charge if a later report does not tell it', async () => {
  const placed = await b.world.place(b.buyer)
  const total_price_set = { presentment_money: { amount: '15.40', currency_code: 'GBP' } }
  const edited = { current_total_price: '12.00', total_outstanding: '0.00', total_price_set }
  const paid = { ...b.paymentFor(placed, { lines: { '11': 8 } }), ...edited }
  expect(await b.tell('orders/paid', paid)).toBe('lines_missing')
  const { charged, buyerAmount } = await b.paymentRow(paid)
  await b.refund(paid, '5.00')
  await b.world.advance(MINUTE)
  expect(await b.tell('orders/paid', partlyBack(paid))).toBe('ignored')
  expect(await b.paymentRow(paid)).toMatchObject({ charged, amount: '12.00', buyerAmount, buyerCurrency: 'GBP' })
})

test('a held payment that grew and is applied is what its order says was paid', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed, { amount: '10.00', lines: { '11': 8 } })
  await b.tell('orders/paid', paid)
  await b.world.advance(MINUTE)
  await b.tell('orders/paid', { ...paid, total_price: '15.00', updated_at: b.now().toISOString() })
  expect(await b.world.row(placed.id)).toMatchObject({ state: 'failed', payAmount: '15.00', lastAmount: '15.00' })
  const [entry] = await b.openOf(paid)
  expect(await b.act(entry, 'apply', { order: placed.publicId })).toMatchObject({ code: 2000 })
  expect(await b.paymentRow(paid)).toMatchObject({ amount: '15.00' })
  expect(await b.world.row(placed.id)).toMatchObject({ payAmount: '15.00', lastAmount: '15.00' })
})

test.for([
  { not: { currency: 'EUR' }, later: {} },
  { not: { currency: 'EUR' }, later: { shop_currency: 'EUR' } },
  { not: { test: true }, later: { accept_test_payments: true } }
])(
  'a payment that brought no money, was applied and grew, brings none, and a part of it does not end the lease: %j',
  async ({ not, later }) => {
    const start = await b.books()
    const placed = await b.world.place(b.buyer)
    const paid = b.paymentFor(placed, not)
    await b.tell('orders/paid', paid)
    const [entry] = await b.openOf(paid)
    expect(await b.act(entry, 'apply', { order: placed.publicId })).toMatchObject({ code: 2000 })
    await b.world.confirm()
    await b.world.advance(MINUTE)
    const grown = { ...paid, total_price: '35.00', updated_at: b.now().toISOString() }
    await writeSettings(b.world.shop.ctx, later)
    expect(await b.tell('orders/paid', grown)).toBe('ignored')
    await writeSettings(b.world.shop.ctx, { shop_currency: 'USD', accept_test_payments: false })
    expect(await b.paymentRow(paid)).toMatchObject({ charged: '35.00', amount: '0.00' })
    const transactions = [{ kind: 'refund', status: 'success', amount: '20.00', currency: paid.currency }]
    await b.tell('refunds/create', { id: paid.id, order_id: paid.id, transactions })
    expect(await b.world.row(placed.id)).toMatchObject({ state: 'delivered', payAmount: '0.00' })
    expect(await b.books()).toEqual(start)
  }
)

test('a payment that counts and grows brings all of it after the shop changed its currency', async () => {
  const { order, paid } = await b.delivered()
  await b.world.advance(MINUTE)
  await writeSettings(b.world.shop.ctx, { shop_currency: 'EUR' })
  await b.tell('orders/paid', { ...paid, total_price: '35.00', updated_at: b.now().toISOString() })
  await writeSettings(b.world.shop.ctx, { shop_currency: 'USD' })
  expect(await b.paymentRow(paid)).toMatchObject({ charged: '35.00', amount: '35.00' })
  expect(await b.world.row(order.id)).toMatchObject({ payAmount: '35.00' })
})

test('a payment that is reported again in another currency books nothing, held or applied', async () => {
  const start = await b.books()
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed, { currency: 'EUR' })
  const tellInDollars = async () => {
    await b.world.advance(MINUTE)
    const dollars = { ...paid, currency: 'USD', total_price: '99.00', updated_at: b.now().toISOString() }
    expect(await b.tell('orders/paid', dollars)).toBe('ignored')
    expect(await b.paymentRow(paid)).toMatchObject({ currency: 'EUR', charged: '20.00', amount: '0.00' })
    expect(await b.books()).toEqual(start)
  }
  expect(await b.tell('orders/paid', paid)).toBe('wrong_currency')
  await tellInDollars()
  const [entry] = await b.openOf(paid)
  expect(await b.act(entry, 'apply', { order: placed.publicId })).toMatchObject({ code: 2000 })
  await b.world.confirm()
  await tellInDollars()
})

test('a deleted order is restored when more is paid for it', async () => {
  const { order, paid } = await b.delivered()
  await b.world.endAll()
  expect(await b.admin.delete(`/api/orders/order_list/${order.id}/`)).toMatchObject({ code: 2000 })
  await b.world.advance(MINUTE)
  await b.tell('orders/paid', { ...paid, total_price: '35.00', updated_at: b.now().toISOString() })
  expect(await b.world.row(order.id)).toMatchObject({ deletedAt: null, payAmount: '35.00' })
})

test.for(['reopen', 'refund'] as const)(
  'a refund that is reported before the extra payment ends the lease, and an administrator can then %s',
  async decision => {
    const start = await b.books()
    const { order, paid } = await b.delivered()
    expect(await b.refund(paid, '20.00')).toBe('refunded')
    expect(await b.books()).toEqual(start)
    const [refund] = await refundRowsOf(b.db(), String(paid.id))
    says(b, { ...paid, total_price: '35.50' }, [{ id: Number(refund?.key.split(':')[1]), amount: '20.00' }])
    await b.world.advance(11 * MINUTE)
    await reconcile(b)
    await queueUnreadOrders(b.world.shop.ctx)
    await work(b.world)
    await reconcile(b)
    const paidMore = { payAmount: '35.50', refundedAmount: '20.00' }
    expect(await b.world.row(order.id)).toMatchObject({ state: 'expired', lastAmount: '35.50', ...paidMore })
    expect(await b.paymentRow(paid)).toMatchObject({ amount: '35.50', refundedAmount: '20.00', refundedAt: null })
    expect(await b.books()).toMatchObject({ points: (start?.points ?? 0) + 15 })
    const open = await b.openOf(paid)
    expect(open).toContainEqual(expect.objectContaining({ outcome: 'partly_refunded' }))
    if (decision === 'reopen') {
      expect(await b.reopen(order)).toMatchObject({ code: 2000 })
      await b.world.confirm()
      expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', ...paidMore })
    } else {
      expect(await askRefund(b.admin, order)).toMatchObject({ code: 2000 })
      expect(await b.refund(paid, '15.50')).toBe('refunded')
      expect(await b.world.row(order.id)).toMatchObject({ state: 'refunded', refundedAmount: '35.50' })
      expect(await b.books()).toEqual(start)
    }
  }
)

test('what is paid more for a refunded renewal brings no time back, and its refund takes none', async () => {
  const { order } = await b.delivered()
  const kept = b.paymentFor(order, { renewal: true })
  expect(await b.tell('orders/paid', kept)).toBe('settled')
  const { expiredAt } = await b.world.row(order.id)
  const renewal = b.paymentFor(order, { renewal: true, amount: '10.00' })
  expect(await b.tell('orders/paid', renewal)).toBe('settled')
  expect(await b.refund(renewal, '10.00')).toBe('refunded')
  await b.world.advance(MINUTE)
  const grown = {
    ...renewal,
    financial_status: 'partially_refunded',
    total_price: '14.00',
    updated_at: b.now().toISOString()
  }
  expect(await b.tell('orders/paid', grown)).toBe('partly_refunded')
  expect(await b.tell('orders/paid', grown)).toBe('ignored')
  const sums = { payAmount: '54.00', refundedAmount: '10.00', lastAmount: '14.00' }
  expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', expiredAt, ...sums })
  expect(await b.openOf(renewal)).toMatchObject([{ outcome: 'partly_refunded' }])
  expect(await b.refund(renewal, '4.00')).toBe('refunded')
  expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', expiredAt, refundedAmount: '14.00' })
})

test('what is paid more for a payment that was refunded while it was held is held', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed, { lines: { '11': 8 } })
  expect(await b.tell('orders/paid', paid)).toBe('lines_missing')
  expect(await b.refund(paid, '20.00')).toBe('refunded')
  await b.world.advance(MINUTE)
  const grown = {
    ...paid,
    financial_status: 'partially_refunded',
    total_price: '35.00',
    updated_at: b.now().toISOString()
  }
  expect(await b.tell('orders/paid', grown)).toBe('partly_refunded')
  expect(await b.paymentRow(paid)).toMatchObject({ accepted: false, refundedAt: null, refundedAmount: '20.00' })
  const [entry] = await b.openOf(paid)
  expect(await b.act(entry, 'apply', { order: placed.publicId })).toMatchObject({ code: 2000 })
  await b.world.confirm()
  const sums = { payAmount: '35.00', refundedAmount: '20.00' }
  expect(await b.world.row(placed.id)).toMatchObject({ state: 'delivered', ...sums })
})

test.for(['told', 'read'] as const)(
  'what is paid more for a held payment that an operator marked as refunded waits for an administrator, if %s',
  async how => {
    const placed = await b.world.place(b.buyer)
    const paid = { ...b.paymentFor(placed, { lines: { '11': 8 } }), updated_at: b.now().toISOString() }
    expect(await b.tell('orders/paid', paid)).toBe('lines_missing')
    const [held] = await b.openOf(paid)
    expect((await b.act(held, 'refunded', { note: 'by bank' })).status).toBe(200)
    await b.world.advance(HOUR)
    const grown = { ...paid, total_price: '35.00', updated_at: b.now().toISOString() }
    says(b, grown, [], { displayFinancialStatus: 'PAID' })
    if (how === 'told') expect(await b.tell('orders/paid', grown)).toBe('partly_refunded')
    else expect(await reconcile(b)).toBe(1)
    expect(await b.paymentRow(paid)).toMatchObject({ refundedAmount: '20.00', refundedAt: null })
    expect(await b.openOf(paid)).toMatchObject([{ outcome: 'partly_refunded' }])
  }
)

test.for(['after', 'before'] as const)(
  'a dispute of an unknown amount that comes %s its payment does not cover what is paid later',
  async when => {
    const order = await b.world.place(b.buyer)
    const paid = { ...b.paymentFor(order), updated_at: b.now().toISOString() }
    const dispute = () => b.dispute(paid, 'needs_response', { amount: null, currency: null })
    if (when === 'before') await dispute()
    await b.tell('orders/paid', paid)
    if (when === 'after') await dispute()
    expect(await b.paymentRow(paid)).toMatchObject({ refundedAmount: '20.00', refundedAt: expect.any(Date) })
    await b.world.advance(HOUR)
    const grown = { ...paid, total_price: '55.00', updated_at: b.now().toISOString() }
    expect(await b.tell('orders/paid', grown)).toBe('partly_refunded')
    expect(await b.paymentRow(paid)).toMatchObject({ amount: '55.00', refundedAmount: '20.00', refundedAt: null })
  }
)

test('what is paid more long after a full refund is found with its order, once', async () => {
  const { order, paid } = await b.delivered()
  expect(await b.refund(paid, '20.00')).toBe('refunded')
  const [refund] = await refundRowsOf(b.db(), String(paid.id))
  const refunds = [{ id: Number(refund?.key.split(':')[1]), amount: '20.00' }]
  says(b, paid, refunds)
  await b.world.advance(11 * MINUTE)
  await queueUnreadOrders(b.world.shop.ctx)
  await work(b.world)
  await b.world.advance(30 * DAY)
  says(b, paid, refunds)
  expect(await reconcile(b)).toBe(0)
  says(b, { ...paid, total_price: '35.50' }, refunds, { displayFinancialStatus: 'PARTIALLY_REFUNDED' })
  expect(await reconcile(b)).toBe(1)
  expect(await reconcile(b)).toBe(0)
  expect(await b.world.row(order.id)).toMatchObject({ state: 'expired', payAmount: '35.50', refundedAmount: '20.00' })
  expect(await b.openOf(paid)).toContainEqual(expect.objectContaining({ outcome: 'partly_refunded' }))
})

test.for(['reading', 'applying'] as const)(
  'more is paid for a held payment of which a part went back: it is known by %s',
  async how => {
    const placed = await b.world.place(b.buyer)
    const times = () => ({ total_outstanding: '0.00', updated_at: b.now().toISOString() })
    const paid = { ...b.paymentFor(placed, { lines: { '11': 8 } }), current_total_price: '20.00', ...times() }
    expect(await b.tell('orders/paid', paid)).toBe('lines_missing')
    const part = { id: 881 + how.length, amount: '5.00' }
    const transactions = [{ kind: 'refund', status: 'success', amount: '5.00', currency: 'USD' }]
    await b.tell('refunds/create', { id: part.id, order_id: paid.id, transactions })
    const read = async () => {
      await b.world.advance(11 * MINUTE)
      await reconcile(b)
      await queueUnreadOrders(b.world.shop.ctx)
      await work(b.world)
      await reconcile(b)
    }
    says(b, paid, [part])
    await read()
    await b.world.advance(MINUTE)
    const more = { ...paid, total_price: '35.00', ...times() }
    // This report does not tell what was taken, so the reading of the order has to.
    await b.tell('orders/paid', { ...more, financial_status: 'partially_refunded', current_total_price: '30.00' })
    says(b, more, [part], { updatedAt: more.updated_at })
    const [held] = await b.openOf(paid)
    if (how === 'applying') expect(await b.act(held, 'apply', { order: placed.publicId })).toMatchObject({ code: 2000 })
    await read()
    expect(await b.paymentRow(paid)).toMatchObject({ charged: '35.00', refundedAmount: '5.00' })
    expect(await b.world.row(placed.id)).toMatchObject({ payAmount: '35.00' })
    // An older report of that kind changes nothing.
    const old = { ...paid, financial_status: 'partially_refunded', line_items: [] }
    expect(await b.tell('orders/paid', old)).toBe('ignored')
    expect(await b.paymentRow(paid)).toMatchObject({ reportedAt: new Date(more.updated_at) })
  }
)

test.for([{ currency: 'EUR' }, { test: true }])(
  'a free order that brings the shop nothing (%o) brings nothing when it grows',
  async more => {
    const placed = await b.world.place(b.buyer)
    const paid = { ...b.paymentFor(placed, { amount: '0.00', ...more }), ...more }
    await b.tell('orders/paid', paid)
    const [held] = await b.openOf(paid)
    expect(await b.act(held, 'apply', { order: placed.publicId })).toMatchObject({ code: 2000 })
    await b.world.advance(MINUTE)
    await b.tell('orders/paid', { ...paid, total_price: '3500.00', updated_at: b.now().toISOString() })
    expect(await b.paymentRow(paid)).toMatchObject({ amount: '0.00', charged: '3500.00', accepted: true })
  }
)
