import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { deliveryPorts } from '../../workers.ts'
import { runTask } from '../delivery/tasks.ts'
import { LINES, startBooks, type Books } from './books.fixture.ts'
import { compareFigures } from '../statements/books-check.ts'
import { paidEvent } from '../../testing/buying.ts'
import { work } from '../reconciliation/platform-orders.fixture.ts'
import { queueUnreadOrders } from '../reconciliation/read-order.ts'
import { reconcile, says } from '../reconciliation/reconciling.fixture.ts'
import { askRefund } from './ask-refund.fixture.ts'
import type { RefundMade } from './refund-platform.fixture.ts'

let books: Books
let world: Books['world']
let db: Books['db']
let buyer: Books['buyer']
let tell: Books['tell']
let paymentFor: Books['paymentFor']
let refund: Books['refund']
let delivered: Books['delivered']
let paymentRow: Books['paymentRow']
let openOf: Books['openOf']
let act: Books['act']

const ORDERS = '/api/orders/order_list'

beforeAll(async () => {
  books = await startBooks()
  ;({ world, db, buyer, tell, paymentFor, refund, delivered, paymentRow, openOf, act } = books)
}, 60_000)
afterAll(() => world?.close())
afterEach(async () => {
  // The stored figures match the payments after every test.
  expect(await compareFigures(db())).toEqual([])
})

test('a held payment is judged again by what the platform tells of it now', async () => {
  const placed = await world.place(buyer)
  const short = paymentFor(placed, { lines: { '11': 8, '901': 3 } })
  expect(await tell('orders/paid', short)).toBe('lines_missing')
  expect(await tell('orders/paid', short)).toBe('ignored')
  const edited = { ...paymentFor(placed, { id: short.id, lines: { '11': 8, '901': 5 } }), total_price: '22.00' }
  expect(await tell('orders/paid', edited)).toBe('ignored')
  expect(await world.row(placed.id)).toMatchObject({ state: 'failed', failParams: { missing: 'Rule 1: 5/8' } })
  const right = { ...paymentFor(placed, { id: short.id }), total_price: '25.00', updated_at: '2026-01-02T00:00:00Z' }
  expect(await tell('orders/paid', right)).toBe('settled')
  expect(await world.row(placed.id)).toMatchObject({ state: 'delivering', payAmount: '25.00' })
  expect(await paymentRow(short)).toMatchObject({ accepted: true, amount: '25.00', charged: '25.00' })
  expect(await openOf(short)).toEqual([])
  expect(await tell('orders/paid', right)).toBe('ignored')
})

test('a report that is older than what was judged changes nothing; one that says refunded gives the money back', async () => {
  const placed = await world.place(buyer)
  const short = { ...paymentFor(placed, { lines: { '11': 8 } }), updated_at: '2026-01-02T00:00:00Z' }
  expect(await tell('orders/paid', short)).toBe('lines_missing')
  const older = { ...paymentFor(placed, { id: short.id }), updated_at: '2026-01-01T00:00:00Z' }
  expect(await tell('orders/paid', older)).toBe('ignored')
  expect(await world.row(placed.id)).toMatchObject({ state: 'failed' })
  const refunded = { ...older, updated_at: '2026-01-03T00:00:00Z', financial_status: 'refunded' }
  expect(await tell('orders/paid', refunded)).toBe('refunded')
  expect(await world.row(placed.id)).toMatchObject({ state: 'placed', paidAt: null })
})

test('a purchase that fell short stays one when it is judged again, though its cart kept the attribute of a renewal', async () => {
  const fallShort = async () => {
    const placed = await world.place(buyer)
    const paid = paymentFor(placed, { renewal: true, lines: { '11': 8 } })
    expect(await tell('orders/paid', { ...paid, updated_at: '2026-01-01T00:00:00Z' })).toBe('lines_missing')
    // The shop's own tags change the platform's order, so it is reported again.
    expect(await tell('orders/paid', { ...paid, updated_at: '2026-01-02T00:00:00Z' })).toBe('ignored')
    return { placed, paid, right: { ...paid, ...paymentFor(placed, { renewal: true, id: paid.id }) } }
  }
  const edited = await fallShort()
  expect(await tell('orders/paid', edited.right)).toBe('settled')
  expect(await world.row(edited.placed.id)).toMatchObject({ state: 'delivering', payAmount: '20.00' })

  const byHand = await fallShort()
  const { data } = await books.admin.post<{ task_id: string }>(`${ORDERS}/${byHand.placed.id}/devery_order/`)
  await runTask(world.shop.ctx, deliveryPorts, { orderId: byHand.placed.id, taskId: data.task_id })
  expect(await refund(byHand.paid, '20.00')).toBe('refunded')
  expect(await world.row(byHand.placed.id)).toMatchObject({ state: 'refunded' })

  // Another purchase took its place, so it renews nothing.
  const replaced = await fallShort()
  expect(await tell('orders/paid', paymentFor(replaced.placed))).toBe('settled')
  expect(await tell('orders/paid', replaced.right)).toBe('ignored')
  expect(await world.row(replaced.placed.id)).toMatchObject({ extraDays: 0, payAmount: '20.00' })
})

test('a held renewal, and a payment that named no order, are settled when the platform tells of them rightly', async () => {
  const { order } = await delivered()
  const short = paymentFor(order, { renewal: true, lines: { '11': 8 } })
  expect(await tell('orders/paid', short)).toBe('lines_missing')
  expect(await openOf(short)).toHaveLength(1)
  expect(await tell('orders/paid', paymentFor(order, { renewal: true, id: short.id }))).toBe('settled')
  expect((await world.row(order.id)).expiredAt?.getTime()).toBe((order.expiredAt?.getTime() ?? 0) + 30 * DAY)
  expect(await openOf(short)).toEqual([])

  const placed = await world.place(buyer)
  const unknown = paidEvent({ publicId: 'NL-nobody', amount: '20.00', lines: LINES })
  expect(await tell('orders/paid', unknown)).toBe('unknown_order')
  expect(await tell('orders/paid', paymentFor(placed, { id: unknown.id }))).toBe('settled')
  expect(await openOf(unknown)).toEqual([])
})

test('a part that was given back of a held payment counts on its order from when the payment does', async () => {
  const placed = await world.place(buyer)
  const paid = paymentFor(placed, { lines: { '11': 8 } })
  expect(await tell('orders/paid', paid)).toBe('lines_missing')
  expect(await refund(paid, '5.00')).toBe('refunded')
  const [open] = await openOf(paid)
  expect(await act(open, 'apply', { order: placed.publicId })).toMatchObject({ code: 2000 })
  expect(await world.row(placed.id)).toMatchObject({ refundedAmount: '5.00', payAmount: '20.00' })
  expect(await refund(paid, '15.00')).toBe('refunded')
  expect(await world.row(placed.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
})

test('what the platform took more since an order was edited is no part of what its refund ends, told or found', async () => {
  for (const isTold of [true, false]) {
    const { order, paid } = await delivered()
    await world.advance(60_000)
    const grown = { ...paid, total_price: '40.00', updated_at: books.now().toISOString() }
    if (isTold) expect(await tell('orders/paid', grown)).toBe('ignored')
    else {
      says(books, grown, [])
      expect(await reconcile(books)).toBe(1)
    }
    expect(await refund(paid, '20.00')).toBe('partly_refunded')
    expect(await world.row(order.id)).toMatchObject({ state: 'delivered' })
    expect(await refund(paid, '20.00')).toBe('refunded')
    await world.endAll()
  }
})

test.for([
  ['deliver', 'report'],
  ['apply', 'reading'],
  ['refund', 'report'],
  ['ignore', 'reading']
] as const)(
  'an administrator can %s an ignored payment for which more was paid, known by %s',
  async ([decision, by]) => {
    const placed = await world.place(buyer)
    const paid = { ...paymentFor(placed, { lines: { '11': 8 } }), updated_at: books.now().toISOString() }
    expect(await tell('orders/paid', paid)).toBe('lines_missing')
    const [held] = await openOf(paid)
    expect(await act(held, 'ignore', { note: 'agreed by phone' })).toMatchObject({ code: 2000 })
    await world.advance(MINUTE)
    const grown = {
      ...paymentFor(placed, { id: paid.id }),
      total_price: '35.00',
      updated_at: books.now().toISOString()
    }
    says(books, grown, [])
    if (by === 'reading') expect(await reconcile(books)).toBe(1)
    else expect(await tell('orders/paid', grown)).toBe('paid_more')
    expect(await tell('orders/paid', grown)).toBe('ignored')
    expect(await paymentRow(paid)).toMatchObject({ charged: '35.00', accepted: false, ignoredAt: expect.any(Date) })
    const sums = { payAmount: '35.00', lastAmount: '35.00' }
    expect(await world.row(placed.id)).toMatchObject({ state: 'failed', ...sums })
    const [open, ...others] = await openOf(paid)
    const params = { order_id: placed.publicId, platform_order: paid.name, amount: '15.00' }
    expect([open, others]).toMatchObject([{ outcome: 'paid_more', params }, []])

    if (decision === 'refund')
      return expect(await askRefund(books.admin, placed, { amount: '35.00' })).toMatchObject({ code: 2000 })
    if (decision === 'deliver') {
      const asked = await books.admin.post<{ task_id: string }>(`${ORDERS}/${placed.id}/devery_order/`)
      await runTask(world.shop.ctx, deliveryPorts, { orderId: placed.id, taskId: asked.data.task_id })
    } else {
      const form = decision === 'apply' ? { order: placed.publicId } : { note: 'a tip' }
      expect(await act(open, decision, form)).toMatchObject({ code: 2000 })
    }
    const state = decision === 'ignore' ? 'failed' : 'delivering'
    expect(await world.row(placed.id)).toMatchObject({ state, ...sums })
    expect(await openOf(paid)).toEqual([])
  }
)

test.for(['FAILURE', 'SUCCESS', 'PENDING'] as const)(
  'a payment is not settled while its refund is pending, and judged again once that has a result: %s',
  async status => {
    for (const isHeld of [true, false]) {
      const placed = await world.place(buyer)
      const right = { ...paymentFor(placed), updated_at: books.now().toISOString() }
      if (isHeld)
        expect(
          await tell('orders/paid', { ...right, ...paymentFor(placed, { id: right.id, lines: { '11': 8 } }) })
        ).toBe('lines_missing')
      const made: RefundMade = { platformOrderId: String(right.id), amount: '20.00', id: right.id, status: 'PENDING' }
      world.refundsMade.push(made)
      const transactions = [{ kind: 'refund', status: 'pending', amount: '20.00', currency: 'USD' }]
      expect(await tell('refunds/create', { id: made.id, order_id: right.id, transactions })).toBe('ignored')
      await world.advance(11 * MINUTE)
      right.updated_at = books.now().toISOString()
      expect(await tell('orders/paid', right)).toBe('ignored')
      const read = async () => {
        await world.advance(HOUR)
        await queueUnreadOrders(world.shop.ctx)
        await work(world)
      }
      const updatedAt = right.updated_at
      says(books, right, [{ id: made.id, amount: '0.00' }], { updatedAt })
      for (let n = 0; n < 2; n++) await read()
      expect(await paymentRow(right)).toMatchObject({ accepted: false, refundedAt: null })
      made.status = status
      says(books, right, [{ id: made.id, amount: status === 'SUCCESS' ? '20.00' : '0.00' }], { updatedAt })
      if (status === 'PENDING') await world.advance(14 * DAY)
      await read()
      expect(await paymentRow(right)).toMatchObject({
        accepted: status === 'FAILURE',
        refundedAt: status === 'SUCCESS' ? expect.any(Date) : null
      })
      const outcomes = (await openOf(right)).map(({ outcome }) => outcome)
      const told = {
        FAILURE: ['refund_failed'],
        SUCCESS: [],
        PENDING: ['refund_stuck', ...(isHeld ? ['lines_missing'] : [])]
      }
      expect(outcomes).toEqual(told[status])
      await world.endAll()
    }
  }
)
