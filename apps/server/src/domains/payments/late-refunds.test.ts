import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { timeOutOrders, type OrderRow } from '../orders/index.ts'
import { compareFigures, wrongBooks } from '../statements/books-check.ts'
import { startBooks, type Books, type Paid } from './books.fixture.ts'
import { work } from '../reconciliation/platform-orders.fixture.ts'
import { queueUnreadOrders } from '../reconciliation/read-order.ts'
import { reconcile, says } from '../reconciliation/reconciling.fixture.ts'

let books: Books
let ids = 690_000
beforeAll(async () => {
  books = await startBooks()
}, 120_000)
afterAll(async () => {
  expect(await compareFigures(books.db())).toEqual([])
  expect(await wrongBooks(books.db())).toEqual([])
  await books.world.close()
})
afterEach(async () => {
  const { platformOrders } = books.world
  platformOrders.known.clear()
  platformOrders.isAway = false
})

const row = ({ id }: OrderRow) => books.world.row(id)
const outcomesOf = async (paid: Paid) => (await books.openOf(paid)).map(({ outcome }) => outcome)
const STILL = 11 * MINUTE

/** Reconciles until nothing more is found. */
async function settle(): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    await reconcile(books)
    await books.world.advance(STILL)
  }
}

async function heldPayment(): Promise<Paid> {
  const order = await books.world.place(books.buyer)
  const paid = books.paymentFor(order, { lines: { '11': 8 } })
  expect(await books.tell('orders/paid', paid)).toBe('lines_missing')
  await books.world.advance(HOUR)
  await timeOutOrders(books.world.shop.ctx)
  return paid
}

test.for([
  { name: 'its list of refunds and its status', listed: true },
  { name: 'its status alone', listed: false }
])('a held payment is refunded as often as the platform says so by $name', async ({ listed }) => {
  const paid = await heldPayment()
  const id = (ids += 1)
  for (const round of [1, 2, 3]) {
    if (listed) says(books, paid, [{ id, amount: '20.00' }])
    else says(books, paid, [], { displayFinancialStatus: 'REFUNDED' })
    await settle()
    expect(await books.paymentRow(paid), `refund ${round}`).toMatchObject({
      refundedAt: expect.any(Date),
      refundedAmount: '20.00'
    })
    expect(await outcomesOf(paid)).toEqual([])
    await books.world.advance(HOUR)
    says(books, paid, listed ? [{ id, amount: '0.00' }] : [])
    await settle()
    expect(await books.paymentRow(paid)).toMatchObject({ refundedAt: null, refundedAmount: '0.00' })
    expect(await outcomesOf(paid)).toContain('refund_failed')
    await books.world.advance(HOUR)
  }
})

test('a webhook of a paid order that comes again while its refund failed since takes nothing back', async () => {
  const paid = await heldPayment()
  const told = { ...paid, financial_status: 'refunded', updated_at: books.now().toISOString() }
  expect(await books.tell('orders/paid', told)).toBe('refunded')
  await books.world.advance(HOUR)
  says(books, paid, [])
  await settle()
  expect(await books.paymentRow(paid)).toMatchObject({ refundedAt: null })
  expect(await books.tell('orders/paid', told)).toBe('ignored')
  expect(await books.paymentRow(paid)).toMatchObject({ refundedAt: null })
})

test('an event that cannot be read keeps no refund of the same order from being compared', async () => {
  const { order, paid } = await books.delivered()
  const [odd, id] = [(ids += 1), (ids += 1)]
  await books.tell('refunds/create', {
    id,
    order_id: paid.id,
    transactions: [{ kind: 'refund', status: 'success', amount: '20.00' }]
  })
  await books.world.confirm()
  await books.world.advance(HOUR)
  // The amount is more than the books can hold, so its event ends as unreadable.
  const refunds = [
    { id, amount: '0.00' },
    { id: odd, amount: '99999999999.00' }
  ]
  says(books, paid, refunds, { displayFinancialStatus: 'PAID' })
  await settle()
  expect(await row(order)).toMatchObject({ state: 'expired', refundedAmount: '0.00' })
})

test.for([
  { back: '20.00', reply: { data: { reason: 'payment_given_back' } }, state: 'placed', refundedAmount: '0.00' },
  { back: '5.00', reply: { code: 2000 }, state: 'delivering', refundedAmount: '5.00' }
])(
  'a payment whose report was given up counts without $back that went back since',
  async ({ back, reply, ...left }) => {
    const placed = await books.world.place(books.buyer)
    const paid = books.paymentFor(placed)
    const at = books.now().toISOString()
    await books.db().execute(sql`
    insert into platform_events (event_id, topic, payload, received_at, processed_at, outcome, needs_hand,
      platform_order_id, platform_order_name)
    values (${`given up ${paid.id}`}, 'orders/paid', ${JSON.stringify(paid)}::jsonb, ${at}, ${at}, 'unreadable', true,
      ${String(paid.id)}, ${paid.name})`)
    const transactions = [{ kind: 'refund', status: 'success', amount: back }]
    const refund = { id: (ids += 1), order_id: paid.id, transactions }
    expect(await books.tell('refunds/create', refund)).toBe('refunded')
    const [open] = await books.openOf(paid)
    expect(await books.act(open, 'apply', { order: placed.publicId })).toMatchObject(reply)
    expect(await row(placed)).toMatchObject(left)
  }
)

/** Runs the reconciliation's job and everything that follows from it. */
async function look(): Promise<void> {
  await queueUnreadOrders(books.world.shop.ctx)
  await work(books.world)
  await reconcile(books)
}

const tellRefund = ({ id: order_id }: Pick<Paid, 'id'>, id: number, amount = '20.00') =>
  books.tell('refunds/create', { id, order_id, transactions: [{ kind: 'refund', status: 'success', amount }] })

test('a refund that failed before its webhook came is undone, even if the platform is down when it is due to be asked', async () => {
  const { order, paid } = await books.delivered()
  const { platformOrders } = books.world
  says(books, paid, [])
  await look()
  const failed = books.now().toISOString()
  const id = (ids += 1)
  await books.world.advance(4 * HOUR)
  // The change is older than the reconciliation looks back after it has seen a later one.
  says(books, paid, [{ id, amount: '0.00' }], { updatedAt: failed })
  const other = await books.world.place(books.buyer)
  says(books, books.paymentFor(other), [])
  await look()
  await look()
  expect(await tellRefund(paid, id)).toBe('refunded')
  await books.world.confirm()
  const asked = platformOrders.asked
  await books.world.advance(5 * MINUTE)
  await look()
  // The refund may be too new for the platform's list.
  expect(platformOrders.asked).toBe(asked)
  platformOrders.isAway = true
  await books.world.advance(6 * MINUTE)
  await look()
  expect(await row(order)).toMatchObject({ state: 'refunded' })
  platformOrders.isAway = false
  await look()
  expect(await row(order)).toMatchObject({ state: 'expired', refundedAmount: '0.00' })
  expect(await outcomesOf(paid)).toEqual(['refund_failed'])
  await look()
  const last = platformOrders.asked
  for (let round = 0; round < 3; round += 1) await look()
  expect(platformOrders.asked).toBe(last)
})

test('of a refund that came before its payment the platform is asked until the payment is known', async () => {
  const order = await books.world.place(books.buyer)
  const paid = books.paymentFor(order)
  const id = (ids += 1)
  expect(await tellRefund(paid, id)).toBe('refunded')
  const failed = books.now().toISOString()
  await books.world.advance(4 * HOUR)
  const other = await books.world.place(books.buyer)
  says(books, books.paymentFor(other), [])
  await reconcile(books)
  // No webhook reports the payment.
  says(books, paid, [{ id, amount: '0.00' }], { updatedAt: failed })
  for (let round = 0; round < 3; round += 1) await look()
  expect(await books.paymentRow(paid)).toMatchObject({ accepted: true, refundedAmount: '0.00' })
  expect(await row(order)).toMatchObject({ state: 'delivering' })
})

test('a refund of an order that is unknown to the platform, or not ours, is asked about once', async () => {
  const gone = books.paymentFor(await books.world.place(books.buyer))
  const foreign = { ...books.paymentFor(await books.world.place(books.buyer)), note_attributes: [] }
  const sale = { ...foreign, line_items: foreign.line_items.map(line => ({ ...line, variant_id: 999 })) }
  says(books, sale, [])
  await tellRefund(gone, (ids += 1))
  await tellRefund(sale, (ids += 1))
  await books.world.advance(STILL)
  const { asked } = books.world.platformOrders
  for (let round = 0; round < 3; round += 1) await look()
  expect(books.world.platformOrders.asked).toBe(asked + 2)
})

test('a refund of more than was charged, since the order was edited on the platform, counts once and comes back whole', async () => {
  const { order, paid } = await books.delivered()
  const edited = { ...paid, total_price: '30.00' }
  const id = (ids += 1)
  expect(await tellRefund(paid, id, '30.00')).toBe('refunded')
  await books.world.confirm()
  // After each change of the platform's order, the reconciliation reads it again.
  for (let change = 0; change < 2; change += 1) {
    says(books, edited, [{ id, amount: '30.00' }])
    expect(await reconcile(books)).toBe(0)
    await books.world.advance(STILL)
  }
  // A part of it fails, but all of the charged amount is still refunded.
  says(books, edited, [{ id, amount: '25.00' }])
  expect(await reconcile(books)).toBe(1)
  expect(await row(order)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
  await books.world.advance(STILL)
  says(books, edited, [{ id, amount: '0.00' }])
  await settle()
  expect(await row(order)).toMatchObject({ state: 'expired', refundedAmount: '0.00' })
  // Between the two failures 5.00 of the 30.00 were the shop's.
  expect(new Set(await outcomesOf(paid))).toEqual(new Set(['refund_failed', 'partly_refunded']))
  expect(await books.paymentRow(paid)).toMatchObject({ charged: '30.00', refundedAmount: '0.00' })
})
