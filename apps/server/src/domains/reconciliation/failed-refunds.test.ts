import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { askRefund } from '../payments/ask-refund.fixture.ts'
import { startBooks, type Books, type Paid } from '../payments/books.fixture.ts'
import { WHOLE_REPLIES } from '../payments/refund-platform.fixture.ts'
import { paymentRefunds } from '../payments/tables.ts'
import { pendingIn } from './pending-refunds.fixture.ts'
import { work } from './platform-orders.fixture.ts'

let b: Books
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
beforeEach(async () => {
  b.world.platformOrders.known.clear()
  Object.assign(b.world.refundReplies, WHOLE_REPLIES)
  await b.db().update(paymentRefunds).set({ awaitsRead: false })
})
afterAll(() => b?.world.close())
const { begin, list, tell, readFor, statesOf } = pendingIn(() => b)
const outcomes = async (paid: Paid) => (await b.openOf(paid)).map(({ outcome }) => outcome)
const lastMade = () => {
  const made = b.world.refundsMade.at(-1)
  if (!made) throw new Error('no refund was made')
  return made
}

/** A delivered order with a refund of this amount, asked for in the console, that the platform has as pending. */
async function asked(amount: string) {
  const { order, paid } = await b.delivered()
  expect(await askRefund(b.admin, order, { amount })).toMatchObject({ code: 2000 })
  const made = lastMade()
  made.status = 'PENDING'
  list(paid, [])
  await b.world.advance(11 * MINUTE)
  return { order, paid, made }
}

test.for(['is refused by the platform', 'is out of date'])(
  'a refund that failed waits for an administrator if the next request %s, and only then',
  async why => {
    const { order, paid, made } = await asked('10.00')
    // While the first is pending, the second is no reason to ask about the lease.
    const second = begin(paid, '10.00')
    list(paid, [{ id: second.id, amount: '10.00' }])
    expect(await tell(paid, second, [['success', '10.00']])).toBe('refunded')
    expect(await outcomes(paid)).toEqual([])
    second.status = 'SUCCESS'
    made.status = 'FAILURE'
    const isStale = why === 'is out of date'
    b.world.refundReplies.as = 'refused'
    expect((await askRefund(b.admin, order, isStale ? { version: 'old' } : {})).status).toBe(isStale ? 409 : 503)
    await readFor(2 * HOUR)
    expect(await b.openOf(paid)).toMatchObject([{ outcome: 'refund_failed', params: { amount: '10.00' } }])
  }
)

/** A refund of the whole payment that was made, and whose order was read since. */
async function made() {
  const { order, paid } = await b.delivered()
  const refund = begin(paid)
  refund.status = 'SUCCESS'
  const listed = (amount: string) => list(paid, [{ id: refund.id, amount }])
  listed('20.00')
  expect(await tell(paid, refund, [['success', '20.00']])).toBe('refunded')
  await readFor(20 * MINUTE, 5 * MINUTE)
  expect(await statesOf(paid)).toEqual([{ state: 'counted', amount: '20.00', awaitsRead: false }])
  await b.world.advance(3 * DAY)
  const transaction = (status: string) =>
    b.tell('order_transactions/create', { id: 1, order_id: paid.id, kind: 'refund', status })
  return { order, paid, refund, listed, transaction }
}

const LATE = { outcome: 'refund_failed', params: { amount: '20.00' } }

test('a refund that a bank returns days after it was made waits for an administrator', async () => {
  const { order, paid, refund, listed, transaction } = await made()
  refund.status = 'FAILURE'
  listed('0.00')
  for (let times = 0; times < 2; times++) expect(await transaction('failure')).toBe('ignored')
  await work(b.world)
  expect(await b.openOf(paid)).toMatchObject([LATE])
  expect(await b.world.row(order.id)).toMatchObject({ refundedAmount: '0.00' })
  expect(await readFor(2 * HOUR)).toBe(1)
  expect(await b.openOf(paid)).toMatchObject([LATE])
})

test('a late failure is found although the platform is away when it is reported, or still lists the refund', async () => {
  const { paid, refund, listed, transaction } = await made()
  refund.status = 'FAILURE'
  b.world.platformOrders.isAway = true
  await transaction('error')
  await work(b.world)
  b.world.platformOrders.isAway = false
  await readFor(10 * MINUTE, 5 * MINUTE)
  expect(await outcomes(paid)).toEqual([])
  listed('0.00')
  await readFor(HOUR)
  expect(await b.openOf(paid)).toMatchObject([LATE])
})

test('a refund that was made stays so if another one of its order failed, or its own result is repeated', async () => {
  const { order, paid, transaction } = await made()
  await transaction('success')
  expect(await readFor(HOUR)).toBe(0)
  await transaction('failure')
  expect(await readFor(2 * HOUR)).toBe(1)
  expect(await outcomes(paid)).toEqual([])
  expect(await b.world.row(order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
})

test('a failed refund needs no decision after another one was made in its place', async () => {
  const { order, paid, made } = await asked('20.00')
  made.status = 'FAILURE'
  expect(await askRefund(b.admin, order)).toMatchObject({ code: 2000 })
  expect(await statesOf(paid)).toMatchObject([{ state: 'refused' }, { state: 'answered' }])
  expect(await tell(paid, lastMade(), [['success', '20.00']])).toBe('refunded')
  list(paid, [{ id: lastMade().id, amount: '20.00' }])
  await readFor(2 * HOUR)
  expect((await b.entriesOf(paid)).map(({ outcome }) => outcome)).not.toContain('refund_failed')
})

test('a refund whose answer was lost, and that turns out to have failed when it is repeated, is not lost', async () => {
  const { order, paid } = await b.delivered()
  b.world.refundReplies.as = 'half'
  expect(await askRefund(b.admin, order, { amount: '5.00' })).toMatchObject({ data: { reason: 'refund_unknown' } })
  lastMade().status = 'FAILURE'
  list(paid, [])
  await b.world.advance(11 * MINUTE)
  b.world.refundReplies.as = 'whole'
  b.world.refundReplies.afterReading = () => void (b.world.refundReplies.as = 'refused')
  expect((await askRefund(b.admin, order, { amount: '5.00' })).status).toBe(503)
  await readFor(2 * HOUR)
  expect(await b.openOf(paid)).toMatchObject([{ outcome: 'refund_failed', params: { amount: '5.00' } }])
})

test('a refund of which the platform says nothing is pending, and is not made again', async () => {
  const { order, paid } = await asked('5.00')
  const [made] = b.world.refundsMade.splice(-1)
  if (!made) throw new Error('no refund was made')
  const count = b.world.refundsMade.length
  await readFor(2 * HOUR)
  expect(await askRefund(b.admin, order, { amount: '5.00' })).toMatchObject({ data: { reason: 'refund_pending' } })
  expect(b.world.refundsMade).toHaveLength(count)
  b.world.refundsMade.push({ ...made, status: 'SUCCESS' })
  list(paid, [{ id: made.id, amount: '5.00' }])
  await readFor(2 * HOUR)
  expect(await statesOf(paid)).toMatchObject([{ state: 'counted', amount: '5.00' }])
})
