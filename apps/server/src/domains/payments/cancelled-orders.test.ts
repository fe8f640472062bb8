import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { timeOutOrders } from '../orders/index.ts'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { startBooks, type Books, type Paid } from './books.fixture.ts'
import { refundRowsOf } from './refund-rows.ts'
import { compareFigures } from '../statements/books-check.ts'
import { pendingIn } from '../reconciliation/pending-refunds.fixture.ts'
import { reconcile, says } from '../reconciliation/reconciling.fixture.ts'

let b: Books

beforeAll(async () => {
  b = await startBooks()
}, 60_000)
afterAll(() => b?.world.close())
afterEach(async () => {
  expect(await compareFigures(b.db())).toEqual([])
  b.world.platformOrders.known.clear()
})

const { begin, list, tell, readFor } = pendingIn(() => b)
const cancel = ({ id, name }: Paid, financial_status = 'paid') =>
  b.tell('orders/cancelled', { id, name, cancelled_at: b.now().toISOString(), financial_status })
const outcomesOf = async (paid: Paid) => (await b.openOf(paid)).map(({ outcome }) => outcome)
const mailsAbout = async ({ id }: Paid) =>
  (await b.db().execute(sql`select template from mails where key like ${`%:${id}%`}`)).rows

test('an order that is cancelled on the platform without a refund goes on, and an operator decides', async () => {
  const { order, paid } = await b.delivered()
  const [before, mails] = [await b.books(), await mailsAbout(paid)]
  // The same if an edit of the order left something to pay.
  expect(await cancel(paid, 'partially_paid')).toBe('cancelled_delivered')
  expect(await cancel(paid)).toBe('ignored')
  expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', refundedAmount: '0.00' })
  expect([await b.books(), await mailsAbout(paid)]).toEqual([before, mails])
  const [open, ...others] = await b.openOf(paid)
  expect([open, others]).toMatchObject([{ outcome: 'cancelled_delivered', payment: 'accepted' }, []])
  expect(await b.act(open, 'ignore', { note: 'it was cancelled by mistake' })).toMatchObject({ code: 2000 })
  expect(await outcomesOf(paid)).toEqual([])
  expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered' })
})

test('its refund ends the lease, whether the platform tells of it or an operator says so', async () => {
  const told = await b.delivered()
  await cancel(told.paid)
  expect(await b.refund(told.paid, '20.00')).toBe('refunded')
  const said = await b.delivered()
  await cancel(said.paid)
  const [open] = await b.openOf(said.paid)
  expect(await b.act(open, 'refunded', { note: 'by bank transfer' })).toMatchObject({ code: 2000 })
  for (const { order, paid } of [told, said]) {
    expect(await b.world.row(order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
    expect(await outcomesOf(paid)).toEqual([])
  }
})

test.for([
  { first: 'told before its payment', isFirst: true },
  { first: 'said by its payment', isFirst: false }
])('a cancellation that is $first keeps the payment from being delivered until an operator says so', async one => {
  const order = await b.world.place(b.buyer)
  const paid = b.paymentFor(order)
  if (one.isFirst) expect(await cancel(paid)).toBe('ignored')
  const cancelled_at = one.isFirst ? null : b.now().toISOString()
  expect(await b.tell('orders/paid', { ...paid, cancelled_at })).toBe('cancelled')
  expect(await cancel(paid)).toBe('ignored')
  expect(await b.world.row(order.id)).toMatchObject({ state: 'failed', failCode: 'cancelled' })
  const [open] = await b.openOf(paid)
  expect(await b.act(open, 'apply', { order: order.publicId })).toMatchObject({ code: 2000 })
  await b.world.confirm()
  expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered' })
})

test('an unpaid order that is cancelled there gives nothing back, and its payment waits for an operator if it comes', async () => {
  const order = await b.world.place(b.buyer)
  const paid = b.paymentFor(order)
  expect(await cancel(paid, 'voided')).toBe('ignored')
  expect(await refundRowsOf(b.db(), String(paid.id))).toEqual([])
  // Its bank transfer arrives after all.
  expect(await b.tell('orders/paid', { ...paid, cancelled_at: b.now().toISOString() })).toBe('cancelled')
  expect(await outcomesOf(paid)).toEqual(['cancelled'])
  expect(await b.paymentRow(paid)).toMatchObject({ accepted: false, refundedAmount: '0.00' })
})

test('a renewal that is cancelled there before it counts adds no time', async () => {
  const { order } = await b.delivered()
  const renewal = b.paymentFor(order, { renewal: true })
  await cancel(renewal)
  expect(await b.tell('orders/paid', renewal)).toBe('cancelled')
  expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', expiredAt: order.expiredAt })
})

test('a cancellation that no webhook reported is found, and one that refunded all of the money ends the lease', async () => {
  const { paid } = await b.delivered()
  says(b, paid, [], { cancelledAt: b.now().toISOString() })
  expect(await reconcile(b)).toBe(1)
  expect(await outcomesOf(paid)).toEqual(['cancelled_delivered'])
  expect(await reconcile(b)).toBe(0)
  const other = await b.delivered()
  expect(await cancel(other.paid, 'refunded')).toBe('refunded')
  expect(await b.world.row(other.order.id)).toMatchObject({ state: 'refunded' })
})

test('money for an order without stock that was ignored, then cancelled there, can be marked as refunded', async () => {
  const order = await b.world.place(b.buyer)
  await b.world.advance(31 * MINUTE)
  await timeOutOrders(b.world.shop.ctx)
  const paid = b.paymentFor(order)
  await b.db().execute(sql`update servers set status = 'paused'`)
  try {
    expect(await b.tell('orders/paid', paid)).toBe('too_late')
  } finally {
    await b.db().execute(sql`update servers set status = 'active'`)
  }
  const [late] = await b.openOf(paid)
  expect(await b.act(late, 'ignore', { note: 'later' })).toMatchObject({ code: 2000 })
  expect(await cancel(paid)).toBe('cancelled')
  const [open] = await b.openOf(paid)
  expect(await b.act(open, 'refunded', { note: 'by bank transfer' })).toMatchObject({ code: 2000 })
  expect(await b.world.row(order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
  expect(await outcomesOf(paid)).toEqual([])
})

test.for([
  { status: 'SUCCESS', state: 'refunded', open: [] },
  { status: 'FAILURE', state: 'delivered', open: ['cancelled_delivered'] }
] as const)('a cancellation waits for the result of a pending refund: $status', async ({ status, state, open }) => {
  const { order, paid } = await b.delivered()
  const made = begin(paid)
  list(paid, [{ id: made.id, amount: '0.00' }])
  expect(await tell(paid, made, [['pending', '20.00']])).toBe('ignored')
  for (let times = 0; times < 2; times++) expect(await cancel(paid)).toBe('ignored')
  expect(await outcomesOf(paid)).toEqual([])
  made.status = status
  if (status === 'SUCCESS') list(paid, [{ id: made.id, amount: '20.00' }])
  await readFor(HOUR)
  expect(await b.world.row(order.id)).toMatchObject({ state })
  expect(await outcomesOf(paid)).toEqual(open)
})

test('a refund that fails after its order was cancelled is open beside the cancellation', async () => {
  const { paid } = await b.delivered()
  expect(await cancel(paid)).toBe('cancelled_delivered')
  const made = begin(paid)
  list(paid, [{ id: made.id, amount: '0.00' }])
  await tell(paid, made, [['pending', '20.00']])
  made.status = 'FAILURE'
  await readFor(HOUR)
  expect(await outcomesOf(paid)).toEqual(['refund_failed', 'cancelled_delivered'])
})
