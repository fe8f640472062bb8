import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { lock } from '../../infra/db/locks.ts'
import { askRefund } from '../payments/ask-refund.fixture.ts'
import { startBooks, type Books } from '../payments/books.fixture.ts'
import { paymentRefunds } from '../payments/tables.ts'
import { pendingIn } from './pending-refunds.fixture.ts'
import { work } from './platform-orders.fixture.ts'
import { reconcile, says } from './reconciling.fixture.ts'

let b: Books
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
beforeEach(async () => {
  b.world.platformOrders.known.clear()
  await b.db().update(paymentRefunds).set({ awaitsRead: false })
  b.world.platformOrders.isAway = false
})
afterAll(() => b?.world.close())

const { begin, list, tell, readFor, statesOf } = pendingIn(() => b)

/** Waits until so many connections wait for a lock. */
const untilBlocked = (count: number) =>
  vi.waitFor(
    async () => {
      const { rows } = await b
        .db()
        .execute(sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`)
      expect(rows.length).toBeGreaterThanOrEqual(count)
    },
    { timeout: 30_000 }
  )

test('a refund that is wholly pending when it is reported is asked about each hour until it is made, and then counts', async () => {
  const { order, paid } = await b.delivered()
  const made = begin(paid)
  list(paid, [{ id: made.id, amount: '0.00' }])
  expect(await tell(paid, made, [['pending', '20.00']])).toBe('ignored')
  expect(await tell(paid, made, [['pending', '20.00']])).toBe('ignored')
  expect(await readFor(5 * HOUR)).toBe(5)
  expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', refundedAmount: '0.00' })
  expect(await statesOf(paid)).toEqual([{ state: 'answered', amount: '20.00', awaitsRead: true }])
  made.status = 'SUCCESS'
  list(paid, [{ id: made.id, amount: '20.00' }])
  await readFor(HOUR)
  expect(await b.world.row(order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
  await readFor(HOUR)
  expect(await statesOf(paid)).toEqual([{ state: 'counted', amount: '20.00', awaitsRead: false }])
})

test('while a refund is pending, its payment is neither marked as refunded nor applied', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed, { lines: { '11': 8 } })
  expect(await b.tell('orders/paid', paid)).toBe('lines_missing')
  await tell(paid, begin(paid), [['pending', '20.00']])
  await b.world.advance(11 * MINUTE)
  const [event] = await b.openOf(paid)
  expect((await b.act(event, 'refunded', { note: 'by bank' })).status).toBe(409)
  expect((await b.act(event, 'apply', { order: placed.publicId })).status).toBe(409)
  // Fourteen days later an administrator has been told, and decides.
  await readFor(DAY)
  await b.db().update(paymentRefunds).set({ awaitsRead: false })
  expect((await b.act(event, 'refunded', { note: 'by bank' })).status).toBe(200)
})

test('a pending refund that is reported while another one is asked for keeps that from being made', async () => {
  const { order, paid } = await b.delivered()
  b.world.refundReplies.as = 'half'
  expect((await askRefund(b.admin, order, { amount: '5.00' })).status).toBe(503)
  b.world.refundReplies.as = 'whole'
  const made = b.world.refundsMade.at(-1)
  if (!made) throw new Error('no refund was made')
  made.status = 'PENDING'
  const count = b.world.refundsMade.length
  await b.world.advance(11 * MINUTE)
  const { promise: held, resolve: free } = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const holder = b.db().transaction(async tx => {
    await lock(tx, 'platformOrder', String(paid.id))
    locked.resolve()
    await held
  })
  await locked.promise
  const telling = tell(paid, made, [['pending', '5.00']])
  await untilBlocked(1)
  const asking = askRefund(b.admin, order, { amount: '5.00' })
  await untilBlocked(2)
  free()
  await Promise.all([holder, telling])
  expect((await asking).status).toBe(409)
  expect(b.world.refundsMade).toHaveLength(count)
})

test('a refund of the console that stays pending and that no webhook reports counts once it is made', async () => {
  const { order, paid } = await b.delivered()
  b.world.refundReplies.before = async made => void (made.status = 'PENDING')
  expect(await askRefund(b.admin, order, {})).toMatchObject({ code: 2000 })
  b.world.refundReplies.before = undefined
  const made = b.world.refundsMade.at(-1)
  if (!made) throw new Error('no refund was made')
  list(paid, [{ id: made.id, amount: '0.00' }])
  await readFor(2 * HOUR)
  expect(await askRefund(b.admin, order, {})).toMatchObject({ data: { reason: 'refund_pending' } })
  made.status = 'SUCCESS'
  list(paid, [{ id: made.id, amount: '20.00' }])
  await readFor(HOUR)
  expect(await b.world.row(order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
})

test('a pending refund that no webhook reported is found with its order, and a return of goods ends by itself', async () => {
  const [begun, goods] = [await b.delivered(), await b.delivered()]
  const made = begin(begun.paid)
  says(b, begun.paid, [{ id: made.id, amount: '0.00' }], { displayFinancialStatus: 'PAID' })
  says(b, goods.paid, [{ id: 980_001, amount: '0.00' }], { displayFinancialStatus: 'PAID' })
  expect(await reconcile(b)).toBe(2)
  expect(await reconcile(b)).toBe(0)
  await readFor(HOUR)
  expect(await statesOf(goods.paid)).toEqual([{ state: 'refused', amount: '0.00', awaitsRead: false }])
  made.status = 'SUCCESS'
  list(begun.paid, [{ id: made.id, amount: '20.00' }])
  await readFor(HOUR)
  expect(await b.world.row(begun.order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
  expect(await b.world.row(goods.order.id)).toMatchObject({ state: 'delivered', refundedAmount: '0.00' })
})

test.for(['FAILURE', 'PENDING'] as const)(
  'a pending refund that is found before its report has the amount of that report when it is %s',
  async status => {
    const { order, paid } = await b.delivered()
    const made = begin(paid)
    says(b, paid, [{ id: made.id, amount: '0.00' }])
    await reconcile(b)
    expect(await statesOf(paid)).toMatchObject([{ state: 'answered', amount: '0.00' }])
    for (let times = 0; times < 2; times++) expect(await tell(paid, made, [['pending', '20.00']])).toBe('ignored')
    expect(await statesOf(paid)).toMatchObject([{ state: 'answered', amount: '20.00' }])
    made.status = status
    await b.world.advance(status === 'PENDING' ? 14 * DAY : 0)
    await readFor(2 * HOUR)
    const [event] = await b.openOf(paid)
    const outcome = status === 'PENDING' ? 'refund_stuck' : 'refund_failed'
    expect(event).toMatchObject({ outcome, params: { amount: '20.00' } })
    expect(await b.act(event, 'refunded', { note: 'by bank' })).toMatchObject({ code: 2000 })
    expect(await b.world.row(order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
  }
)

test.for(['FAILURE', 'PENDING'] as const)(
  'a pending refund that no webhook ever reported has the amount that the platform says when it is %s',
  async status => {
    const { order, paid } = await b.delivered()
    const made = begin(paid)
    says(b, paid, [{ id: made.id, amount: '0.00' }])
    await reconcile(b)
    if (status === 'PENDING') await b.world.advance(14 * DAY)
    made.status = status
    await readFor(2 * HOUR)
    const [event] = await b.openOf(paid)
    const outcome = status === 'PENDING' ? 'refund_stuck' : 'refund_failed'
    expect(event).toMatchObject({ outcome, params: { amount: '20.00' } })
    expect(await b.act(event, 'refunded', { note: 'by bank' })).toMatchObject({ code: 2000 })
    expect(await b.world.row(order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
  }
)

test('a pending refund that fails ends, and another one can be asked for', async () => {
  const { order, paid } = await b.delivered()
  const made = begin(paid)
  list(paid, [{ id: made.id, amount: '0.00' }])
  await tell(paid, made, [['pending', '20.00']])
  await readFor(HOUR)
  expect(await askRefund(b.admin, order, {})).toMatchObject({ data: { reason: 'refund_pending' } })
  made.status = 'FAILURE'
  await readFor(HOUR)
  expect(await statesOf(paid)).toEqual([{ state: 'refused', amount: '20.00', awaitsRead: false }])
  expect(await askRefund(b.admin, order, {})).toMatchObject({ code: 2000 })
})

test('of two pending refunds each keeps another one from being asked for', async () => {
  const { order, paid } = await b.delivered()
  const [one, other] = [begin(paid, '3.00'), begin(paid, '4.00')]
  await tell(paid, one, [['pending', '3.00']])
  await tell(paid, other, [['pending', '4.00']])
  await b.world.advance(11 * MINUTE)
  other.status = 'FAILURE'
  expect(await askRefund(b.admin, order, {})).toMatchObject({ data: { reason: 'refund_pending' } })
})

test('a platform that is away is asked again every five minutes, and a missing answer about a refund counts as pending', async () => {
  const { paid } = await b.delivered()
  const made = begin(paid)
  list(paid, [{ id: made.id, amount: '0.00' }])
  await tell(paid, made, [['pending', '20.00']])
  b.world.platformOrders.isAway = true
  expect(await readFor(HOUR, 5 * MINUTE)).toBe(11)
  b.world.platformOrders.isAway = false
  b.world.refundReplies.outcomesAreAway = true
  expect(await readFor(2 * HOUR)).toBe(2)
  b.world.refundReplies.outcomesAreAway = false
  expect(await statesOf(paid)).toEqual([{ state: 'answered', amount: '20.00', awaitsRead: true }])
})

test('a refund without a result for fourteen days waits for an administrator, once, and is not asked about again', async () => {
  const { order, paid } = await b.delivered()
  const made = begin(paid)
  list(paid, [{ id: made.id, amount: '0.00' }])
  await tell(paid, made, [['pending', '20.00']])
  await b.world.advance(14 * DAY - HOUR)
  await readFor(10 * MINUTE, 5 * MINUTE)
  expect(await b.openOf(paid)).toEqual([])
  await readFor(2 * HOUR)
  expect(await b.openOf(paid)).toMatchObject([
    { outcome: 'refund_stuck', params: { order_id: order.publicId, amount: '20.00' } }
  ])
  expect(await readFor(2 * HOUR)).toBe(0)
  // The platform's report counts all the same.
  expect(await tell(paid, made, [['success', '20.00']])).toBe('refunded')
  expect(await b.openOf(paid)).toEqual([])
})

test('a pending refund that fails, whole or in part, waits for an administrator', async () => {
  const [whole, part] = [await b.delivered(), await b.delivered()]
  const [all, some] = [begin(whole.paid), begin(part.paid)]
  await tell(whole.paid, all, [['pending', '20.00']])
  await tell(part.paid, some, [
    ['success', '4.00'],
    ['pending', '16.00']
  ])
  list(whole.paid, [{ id: all.id, amount: '0.00' }])
  list(part.paid, [{ id: some.id, amount: '4.00' }])
  await readFor(2 * HOUR)
  all.status = 'FAILURE'
  some.status = 'SUCCESS'
  await readFor(2 * HOUR)
  expect(await b.openOf(whole.paid)).toMatchObject([{ outcome: 'refund_failed', params: { amount: '20.00' } }])
  const events = await b.openOf(part.paid)
  const failed = events.find(({ outcome }) => outcome === 'refund_failed')
  expect(failed).toMatchObject({ params: { amount: '16.00' } })
  // It was paid back by bank.
  expect((await b.act(failed, 'refunded', { note: 'by bank' })).status).toBe(200)
  expect(await b.world.row(part.order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
})

test('the result of a pending refund counts as soon as its transaction is reported', async () => {
  const { order, paid } = await b.delivered()
  const made = begin(paid)
  const transaction = (kind: string) =>
    b.tell('order_transactions/create', { id: 1, order_id: paid.id, kind, status: 'failure' })
  await tell(paid, made, [['pending', '20.00']])
  list(paid, [{ id: made.id, amount: '0.00' }])
  await readFor(20 * MINUTE, 5 * MINUTE)
  made.status = 'FAILURE'
  // Nor does a payment of the order, or a refund of an unknown one, cause a read.
  expect(await transaction('capture')).toBe('ignored')
  expect(await b.tell('order_transactions/create', { id: 2, order_id: 4711, kind: 'refund', status: 'failure' })).toBe(
    'ignored'
  )
  await work(b.world)
  expect(await b.openOf(paid)).toEqual([])
  for (let times = 0; times < 2; times++) expect(await transaction('refund')).toBe('ignored')
  await work(b.world)
  expect(await b.openOf(paid)).toMatchObject([{ outcome: 'refund_failed', params: { amount: '20.00' } }])
  expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered' })
})

test('a pending refund of an order that is not ours is read once, and nothing more', async () => {
  const ours = b.paymentFor(await b.world.place(b.buyer))
  const foreign = {
    ...ours,
    note_attributes: [],
    line_items: ours.line_items.map(line => ({ ...line, variant_id: 999 }))
  }
  const made = begin(foreign)
  await tell(foreign, made, [['pending', '20.00']])
  list(foreign, [{ id: made.id, amount: '0.00' }])
  expect(await readFor(3 * HOUR)).toBe(1)
  await b.world.advance(14 * DAY)
  expect(await readFor(HOUR)).toBe(0)
  expect(await b.openOf(foreign)).toEqual([])
})

test('a refund without a result can be marked as refunded by other means', async () => {
  const { order, paid } = await b.delivered()
  const made = begin(paid)
  list(paid, [{ id: made.id, amount: '0.00' }])
  await tell(paid, made, [['pending', '20.00']])
  await b.world.advance(14 * DAY)
  await readFor(2 * HOUR)
  const [stuck] = await b.openOf(paid)
  expect(stuck).toMatchObject({ outcome: 'refund_stuck' })
  expect((await b.act(stuck, 'refunded', { note: 'by bank' })).status).toBe(200)
  expect(await b.world.row(order.id)).toMatchObject({ state: 'refunded' })
})

test.for([
  ['10.00', '10.00', '10.00', []],
  ['12.00', '12.00', '10.00', ['partly_refunded']],
  ['4.00', '10.00', '4.00', []]
] as const)(
  'of a stuck or failed refund of 10.00 that was marked as refunded the platform then makes %s: %s counts, and %s went back twice',
  async ([amount, refundedAmount, twice, others]) => {
    for (const how of ['reported', 'found'] as const) {
      const { order, paid } = await b.delivered()
      const made = begin(paid, '10.00')
      list(paid, [{ id: made.id, amount: '0.00' }])
      await tell(paid, made, [['pending', '10.00']])
      if (how === 'found') made.status = 'FAILURE'
      await b.world.advance(14 * DAY)
      await readFor(2 * HOUR)
      const [event] = await b.openOf(paid)
      expect(event).toMatchObject({ outcome: how === 'found' ? 'refund_failed' : 'refund_stuck' })
      expect((await b.act(event, 'refunded', { note: 'by bank' })).status).toBe(200)
      // The platform still lists nothing, which does not contradict the administrator.
      says(b, paid, [{ id: made.id, amount: '0.00' }])
      await reconcile(b)
      await readFor(2 * HOUR)
      expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', refundedAmount: '10.00' })
      const before = (await b.openOf(paid)).map(({ id }) => id)
      made.status = 'SUCCESS'
      says(b, paid, [{ id: made.id, amount }])
      if (how === 'reported') {
        expect(await tell(paid, made, [['success', amount]])).toBe('ignored')
        expect(await tell(paid, made, [['success', amount]])).toBe('ignored')
        await readFor(5 * MINUTE, 5 * MINUTE)
      }
      await reconcile(b)
      await readFor(2 * HOUR)
      await reconcile(b)
      expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', refundedAmount })
      const later = (await b.openOf(paid)).filter(({ id }) => !before.includes(id))
      const told = later.find(({ outcome }) => outcome === 'refunded_twice')
      expect(told).toMatchObject({ params: { amount: twice, charged: '20.00', order_id: order.publicId } })
      expect(later.filter(one => one !== told).map(({ outcome }) => outcome)).toEqual(others)
      expect(await b.act(told, 'ignore', { note: 'the customer keeps it' })).toMatchObject({ code: 2000 })
    }
  }
)

test('a payment that was not judged because of a refund that is stuck now can be applied', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = { ...b.paymentFor(placed), updated_at: b.now().toISOString() }
  const made = begin(paid, '1.00')
  await tell(paid, made, [['pending', '1.00']])
  await b.world.advance(11 * MINUTE)
  says(b, paid, [{ id: made.id, amount: '0.00' }], { updatedAt: paid.updated_at, displayFinancialStatus: 'PAID' })
  expect(await b.tell('orders/paid', paid)).toBe('ignored')
  await readFor(2 * HOUR)
  await b.world.advance(14 * DAY)
  await readFor(2 * HOUR)
  const [stuck] = await b.openOf(paid)
  expect(stuck).toMatchObject({ outcome: 'refund_stuck', payment: 'held' })
  expect((await b.act(stuck, 'apply', { order: placed.publicId })).status).toBe(200)
  expect(await b.world.row(placed.id)).toMatchObject({ state: 'delivering', payAmount: '20.00' })
  made.status = 'SUCCESS'
  expect(await tell(paid, made, [['success', '1.00']])).toBe('partly_refunded')
  expect(await b.world.row(placed.id)).toMatchObject({ state: 'delivering', refundedAmount: '1.00' })
})

test('an order that cannot be read blocks decisions for fourteen days at most', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed, { lines: { '11': 8 } })
  expect(await b.tell('orders/paid', paid)).toBe('lines_missing')
  await tell(paid, begin(paid), [['pending', '20.00']])
  b.world.platformOrders.isAway = true
  await readFor(HOUR)
  await b.world.advance(14 * DAY)
  const [event] = await b.openOf(paid)
  expect((await b.act(event, 'refunded', { note: 'by bank' })).status).toBe(200)
})

test('a refund of a held payment ends its wait although its order is edited before each read', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = { ...b.paymentFor(placed, { lines: { '11': 8 } }), updated_at: b.now().toISOString() }
  expect(await b.tell('orders/paid', paid)).toBe('lines_missing')
  const made = begin(paid, '5.00')
  made.status = 'SUCCESS'
  await tell(paid, made, [['success', '5.00']])
  await b.world.advance(11 * MINUTE)
  for (let times = 0; times < 2; times++) {
    says(b, paid, [{ id: made.id, amount: '5.00' }])
    await readFor(5 * MINUTE, 5 * MINUTE)
  }
  expect(await statesOf(paid)).toEqual([{ state: 'counted', amount: '5.00', awaitsRead: false }])
})
