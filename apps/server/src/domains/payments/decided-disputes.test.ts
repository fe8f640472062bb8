import type { InboxEntry } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { HOUR } from '../../infra/clock.ts'
import { wrongBooks } from './books-check.fixture.ts'
import { startBooks, type Books, type Paid } from './books.fixture.ts'
import { compareFigures } from './figures.ts'
import { platformOrder, work } from './platform-orders.fixture.ts'
import { askForAllRefunds } from './read-foreign-refunds.ts'

let b: Books

beforeAll(async () => {
  b = await startBooks()
}, 60_000)
afterAll(() => b?.world.close())
afterEach(async () => {
  // Whatever a test did: what is kept of the money is what the payments say, and so is what it earned.
  expect(await compareFigures(b.db())).toEqual([])
  expect(await wrongBooks(b.db())).toEqual([])
  await b.world.endAll()
})

const GBP = { amount: '15.40', currency: 'GBP' }
const foreign = (paid: Paid, status: string, more = {}) => b.dispute(paid, status, { ...GBP, ...more })
const outcomesOf = async (paid: Paid) => (await b.openOf(paid)).map(({ outcome }) => outcome)
const disputeOf = async (paid: Paid): Promise<InboxEntry | undefined> =>
  (await b.openOf(paid)).find(({ outcome }) => outcome === 'partly_refunded')
const markRefunded = async (paid: Paid) => b.act(await disputeOf(paid), 'refunded', { note: 'the bank has all of it' })

const refundInConsole = ({ id }: { id: number }) => b.admin.post(`/api/orders/order_list/${id}/refund/`, {})

test('a lost dispute in the buyer’s currency that an administrator counts as all of its payment ends the lease and takes back what was earned; won, it gives both back', async () => {
  const start = await b.books()
  const { order, paid } = await b.delivered()
  const before = await b.books()
  expect(before).not.toEqual(start)
  expect(await foreign(paid, 'needs_response')).toBe('partly_refunded')
  expect(await foreign(paid, 'lost')).toBe('duplicate')
  expect(await b.books()).toEqual(before)
  expect(await markRefunded(paid)).toMatchObject({ code: 2000 })
  expect(await b.world.row(order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
  expect(await b.books()).toEqual(start)
  expect(await outcomesOf(paid)).toEqual([])
  // Nothing is left that the console could send a second time.
  expect(await refundInConsole(order)).toMatchObject({ status: 409 })

  await b.world.advance(HOUR)
  expect(await foreign(paid, 'won')).toBe('dispute_won')
  expect(await b.books()).toEqual(before)
  expect(await outcomesOf(paid)).toEqual(['dispute_won'])
  await b.world.confirm()
  expect(await b.reopen(order)).toMatchObject({ code: 2000 })
})

test('renewals that such a decision leaves unserved are the same event’s next question', async () => {
  const start = await b.books()
  const { order, paid } = await b.delivered()
  const renewal = b.paymentFor(order, { renewal: true })
  expect(await b.tell('orders/paid', renewal)).toBe('settled')
  await foreign(paid, 'needs_response')
  expect(await markRefunded(paid)).toMatchObject({ code: 2000 })
  expect(await b.world.row(order.id)).toMatchObject({ state: 'refunded' })
  const [open, ...others] = await b.openOf(paid)
  expect([open, others]).toMatchObject([{ outcome: 'renewals_unserved', topic: 'disputes/create' }, []])
  expect(await b.act(open, 'refunded', { note: 'by bank transfer' })).toMatchObject({ code: 2000 })
  expect(await b.paymentRow(renewal)).toMatchObject({ refundedAmount: '20.00' })
  expect(await b.openOf(paid)).toEqual([])
  expect(await b.books()).toEqual(start)
})

test('a payment that comes after its dispute was counted as all of it is given back, holds nothing, and is held once the dispute is won', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed)
  expect(await foreign(paid, 'needs_response')).toBe('partly_refunded')
  expect(await markRefunded(paid)).toMatchObject({ code: 2000 })
  expect(await b.tell('orders/paid', paid)).toBe('paid_back')
  expect(await b.openOf(paid)).toEqual([])
  expect(await b.world.row(placed.id)).toMatchObject({ state: 'placed' })
  expect(await foreign(paid, 'won')).toBe('dispute_won')
  const [open] = await b.openOf(paid)
  expect(open).toMatchObject({ outcome: 'dispute_won', payment: 'held' })
  expect(await b.act(open, 'apply', { order: placed.publicId })).toMatchObject({ code: 2000 })
  await b.world.confirm()
  expect(await b.world.row(placed.id)).toMatchObject({ state: 'delivered' })
})

test('a held payment whose dispute was counted as all of it waits for somebody again when the dispute is won', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed)
  await foreign(paid, 'needs_response')
  expect(await b.tell('orders/paid', paid)).toBe('refund_amount_unknown')
  expect(await markRefunded(paid)).toMatchObject({ code: 2000 })
  expect(await b.paymentRow(paid)).toMatchObject({ accepted: false, refundedAmount: '20.00' })
  expect(await b.openOf(paid)).toEqual([])
  expect(await foreign(paid, 'won')).toBe('dispute_won')
  expect(await b.paymentRow(paid)).toMatchObject({ accepted: false, refundedAt: null, refundedAmount: '0.00' })
  const [open] = await b.openOf(paid)
  expect(open).toMatchObject({ payment: 'held' })
  expect(await b.act(open, 'apply', { order: placed.publicId })).toMatchObject({ code: 2000 })
})

test('what a dispute in the buyer’s currency holds stays held when another dispute of the payment is opened and won', async () => {
  // Delivered: the order ends by the other dispute, and is not reopened while this one is undecided.
  const { order, paid } = await b.delivered()
  await foreign(paid, 'needs_response')
  expect(await b.dispute(paid, 'needs_response', { id: 8201 })).toBe('refunded')
  expect(await b.openOf(paid)).toEqual([])
  expect(await b.dispute(paid, 'won', { id: 8201 })).toBe('dispute_won')
  expect(new Set(await outcomesOf(paid))).toEqual(new Set(['partly_refunded', 'dispute_won']))
  await b.world.confirm()
  expect(await b.reopen(order)).toMatchObject({ status: 409, data: { reason: 'refund_amount_unknown' } })
  expect(await b.act(await disputeOf(paid), 'ignore', { note: 'the bank gave it back' })).toMatchObject({ code: 2000 })
  expect(await b.reopen(order)).toMatchObject({ code: 2000 })
  await b.world.endAll()

  // Held: it is not delivered by itself, whatever the platform says of its lines by then.
  const placed = await b.world.place(b.buyer)
  const short = b.paymentFor(placed, { lines: { '11': 8 } })
  expect(await b.tell('orders/paid', short)).toBe('lines_missing')
  await foreign(short, 'needs_response')
  await b.dispute(short, 'needs_response', { id: 8202 })
  await b.dispute(short, 'won', { id: 8202 })
  b.world.platformOrders.known.set(String(short.id), platformOrder(b.paymentFor(placed, { id: short.id }), []))
  await work(b.world)
  await b.world.advance(HOUR)
  await askForAllRefunds(b.world.shop.ctx)
  await work(b.world)
  expect(await b.paymentRow(short)).toMatchObject({ accepted: false })
  // Won as well, nothing holds it any more: it settles by what the platform says.
  expect(await foreign(short, 'won')).toBe('ignored')
  await work(b.world)
  expect(await b.paymentRow(short)).toMatchObject({ accepted: true })
  expect(await b.openOf(short)).toEqual([])
})

test('the amount of a foreign refund is asked for again when the dispute is won that had taken all of the payment', async () => {
  const { order, paid } = await b.delivered()
  const id = 990_001
  b.world.platformOrders.isAway = true
  const transactions = [{ kind: 'refund', status: 'success', ...GBP }]
  expect(await b.tell('refunds/create', { id, order_id: paid.id, transactions })).toBe('foreign_refund')
  await b.FATES.opened(paid)
  await work(b.world)
  b.world.platformOrders.isAway = false
  b.world.platformOrders.known.set(String(paid.id), platformOrder(paid, [{ id, amount: '5.00' }]))
  // Meanwhile it would change nothing.
  await askForAllRefunds(b.world.shop.ctx)
  const { rows: asked } = await b
    .db()
    .execute(
      sql`select 1 from pgboss.job where name = 'read-foreign-refunds' and data ->> 'platformOrderId' = ${String(paid.id)}`
    )
  expect(asked).toEqual([])
  await b.FATES.won(paid)
  await work(b.world)
  expect(await b.paymentRow(paid)).toMatchObject({ accepted: true, refundedAt: null, refundedAmount: '5.00' })
  expect(await b.world.row(order.id)).toMatchObject({ state: 'expired', refundedAmount: '5.00' })
})

test('a foreign refund that an administrator counts as all of its payment stays so, whatever amount the platform tells later', async () => {
  const { order, paid } = await b.delivered()
  const id = 990_002
  const transactions = [{ kind: 'refund', status: 'success', ...GBP }]
  await b.tell('refunds/create', { id, order_id: paid.id, transactions })
  const [open] = await b.openOf(paid)
  expect(await b.act(open, 'refunded', { note: 'all of it' })).toMatchObject({ code: 2000 })
  expect(await b.world.row(order.id)).toMatchObject({ state: 'refunded' })
  b.world.platformOrders.known.set(String(paid.id), platformOrder(paid, [{ id, amount: '15.00' }]))
  await work(b.world)
  await b.FATES.opened(paid)
  expect(await b.FATES.won(paid)).toBe('ignored')
  expect(await b.paymentRow(paid)).toMatchObject({ refundedAmount: '20.00', refundedAt: expect.any(Date) })
})

test('a payment that an administrator ignored stays ignored when its dispute is won, and that waits for somebody', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed, { lines: { '11': 8 } })
  expect(await b.tell('orders/paid', paid)).toBe('lines_missing')
  const [short] = await b.openOf(paid)
  expect(await b.act(short, 'ignore', { note: 'paid back by bank transfer' })).toMatchObject({ code: 2000 })
  expect(await b.FATES.opened(paid)).toBe('refunded')
  expect(await b.FATES.won(paid)).toBe('dispute_won')
  b.world.platformOrders.known.set(String(paid.id), platformOrder(b.paymentFor(placed, { id: paid.id }), []))
  await work(b.world)
  await askForAllRefunds(b.world.shop.ctx)
  await work(b.world)
  expect(await b.paymentRow(paid)).toMatchObject({ accepted: false, refundedAt: null })
  const [open, ...others] = await b.openOf(paid)
  expect([open, others]).toMatchObject([{ outcome: 'dispute_won', payment: 'ignored' }, []])
  expect(await b.act(open, 'apply', { order: placed.publicId })).toMatchObject({ code: 2000 })
  expect(await b.paymentRow(paid)).toMatchObject({ accepted: true, ignoredAt: null })
})
