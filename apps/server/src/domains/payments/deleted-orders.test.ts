import { eq } from '../../infra/db/drizzle.ts'
import { TEST_PASSWORD } from '../../testing/shop.ts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { HOUR } from '../../infra/clock.ts'
import { paidEvent } from '../../testing/buying.ts'
import { timeOutOrders, type OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { LINES, startBooks, type Books, type Paid } from './books.fixture.ts'
import { compareFigures } from '../statements/books-check.ts'
import { askRefund } from './ask-refund.fixture.ts'

let b: Books

beforeAll(async () => {
  b = await startBooks({ ranges: ['127.90.0.0/25'] })
}, 60_000)
afterAll(() => b?.world.close())
afterEach(async () => {
  // The stored figures match the payments of orders that are not deleted, after every test.
  expect(await compareFigures(b.db())).toEqual([])
  await b.world.endAll()
})

const remove = ({ id }: OrderRow) => b.admin.delete(`/api/orders/order_list/${id}/`)
/** An order that was deleted before its money was reported. */
const hide = async ({ id }: OrderRow) => {
  await b.db().update(orders).set({ deletedAt: b.now() }).where(eq(orders.id, id))
}
const refundInConsole = (order: OrderRow) => askRefund(b.admin, order)
const isListed = async ({ publicId }: OrderRow) =>
  (await b.buyer.get<{ data: { order_id: string }[] }>('/api/orders/order_list/?limit=100')).data.data.some(
    ({ order_id }) => order_id === publicId
  )
const refundOf = ({ id: order_id }: Paid, amount: string, id: number) => {
  const transactions = [{ kind: 'refund', status: 'success', amount, currency: 'USD' }]
  return { id: 770_000 + id, order_id, transactions }
}
const changeOf = ({ id, name }: Paid, refund: number) => ({
  order_id: String(id),
  name,
  key: `refund:${770_000 + refund}`
})
const pastReservation = async () => {
  await b.world.advance(HOUR)
  await timeOutOrders(b.world.shop.ctx)
}

test('a deleted order is restored and delivered once its own payment is applied', async () => {
  // One payment is held because lines are missing. The other counts, but its addresses are gone.
  const short = await b.world.place(b.buyer)
  const held = b.paymentFor(short, { lines: { '11': 8 } })
  expect(await b.tell('orders/paid', held)).toBe('lines_missing')
  const late = await b.world.place(b.buyer)
  await pastReservation()
  const all = await b.world.place(b.buyer, 128)
  expect(await b.tell('orders/paid', b.paymentFor(all, { lines: { '11': 128, '901': 128 } }))).toBe('settled')
  const counts = b.paymentFor(late)
  expect(await b.tell('orders/paid', counts)).toBe('too_late')
  await b.world.endAll()
  for (const [order, paid] of [
    [short, held],
    [late, counts]
  ] as const) {
    await hide(order)
    expect(await isListed(order)).toBe(false)
    const [open] = await b.openOf(paid)
    expect(await b.act(open, 'apply', { order: order.publicId })).toMatchObject({ code: 2000 })
    await b.world.confirm()
    expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', deletedAt: null })
    expect(await isListed(order)).toBe(true)
    expect(await refundInConsole(order)).toMatchObject({ code: 2000 })
  }
})

test('a deleted order stays deleted if applying its payment is refused for want of addresses', async () => {
  const order = await b.world.place(b.buyer)
  const paid = b.paymentFor(order, { lines: { '11': 8 } })
  await b.tell('orders/paid', paid)
  await pastReservation()
  await hide(order)
  await b.world.place(b.buyer, 128)
  const [open] = await b.openOf(paid)
  expect(await b.act(open, 'apply', { order: order.publicId })).toMatchObject({ status: 409 })
  expect(await isListed(order)).toBe(false)
})

const REFUSED = { status: 409, data: { reason: 'order_has_open_payment' } }

test('an order is not deleted while somebody has to decide about its money, alone or in a batch', async () => {
  // One dispute was won, one partial refund failed, and one payment is held.
  const won = await b.delivered()
  await b.chargeback.opened(won.paid)
  await b.world.confirm()
  expect(await b.chargeback.won(won.paid)).toBe('dispute_won')
  const part = await b.delivered()
  await b.tell('refunds/create', refundOf(part.paid, '20.00', 1))
  await b.world.confirm()
  await b.tell('reconciled/refund', { ...changeOf(part.paid, 1), known: '20.00', amount: '15.00' })
  expect(await b.openOf(part.paid)).toMatchObject([{ outcome: 'refund_failed' }])
  const placed = await b.world.place(b.buyer)
  const held = { order: placed, paid: b.paymentFor(placed, { lines: { '11': 8 } }) }
  expect(await b.tell('orders/paid', held.paid)).toBe('lines_missing')
  await pastReservation()
  await b.world.endAll()

  const all = [won, part, held]
  for (const { order } of all) expect(await remove(order)).toMatchObject(REFUSED)
  const ids = all.map(({ order }) => order.id)
  const plan = await b.admin.post('/api/bulk/plan/', { action: 'order.delete', selection: { ids } })
  expect(plan).toMatchObject({
    data: { outcomes: { effects: [], refusals: [{ reason: 'order_has_open_payment', rows: 3 }] } }
  })
  for (const { order, paid } of all) {
    const [open] = await b.openOf(paid)
    expect(await b.act(open, 'ignore', { note: 'seen' })).toMatchObject({ code: 2000 })
    expect(await remove(order)).toMatchObject({ code: 2000 })
  }
})

test('a deleted order of whose money a part went back is on the lists again, until somebody has decided', async () => {
  const { order, paid } = await b.delivered()
  await b.world.endAll()
  expect(await remove(order)).toMatchObject({ code: 2000 })
  expect(await b.tell('refunds/create', refundOf(paid, '5.00', 2))).toBe('partly_refunded')
  expect(await isListed(order)).toBe(true)
  expect(await remove(order)).toMatchObject(REFUSED)
  expect(await refundInConsole(order)).toMatchObject({ code: 2000 })
  // The whole payment went back, so no decision is open.
  expect(await b.refund(paid, '15.00')).toBe('refunded')
  expect(await remove(order)).toMatchObject({ code: 2000 })
})

test('money of a won dispute brings a deleted order back, and it can be reopened or refunded', async () => {
  for (const [afterwards, act] of [
    ['reopened', ({ id }: OrderRow) => b.admin.post(`/api/orders/order_list/${id}/reopen/`, {})],
    ['refunded', refundInConsole]
  ] as const) {
    const { order, paid } = await b.delivered()
    await b.chargeback.opened(paid)
    await b.world.confirm()
    expect(await remove(order), afterwards).toMatchObject({ code: 2000 })
    expect(await b.chargeback.won(paid)).toBe('dispute_won')
    expect(await isListed(order)).toBe(true)
    expect(await act(order)).toMatchObject({ code: 2000 })
    await b.world.endAll()
  }
})

test('a renewal that comes for a deleted order brings it back, though it waits in the inbox', async () => {
  const { order } = await b.delivered()
  await b.world.endAll()
  expect(await remove(order)).toMatchObject({ code: 2000 })
  const renewal = b.paymentFor(order, { renewal: true })
  expect(await b.tell('orders/paid', renewal)).toBe('too_late')
  expect(await isListed(order)).toBe(true)
})

test('nothing is delivered to an account that was deleted: an order whose dispute was won is not reopened, and can be refunded', async () => {
  const leaving = await b.world.customer('leaving')
  const order = await b.world.place(leaving)
  const paid = paidEvent({ publicId: order.publicId, amount: '20.00', lines: LINES })
  await b.tell('orders/paid', paid)
  await b.world.confirm()
  await b.chargeback.opened(paid)
  await b.world.confirm()
  b.world.forget(leaving)
  expect(await b.admin.delete(`/api/users/u/${leaving.user.id}/`)).toMatchObject({ code: 2000 })
  expect(await b.chargeback.won(paid)).toBe('dispute_won')
  expect(await b.reopen(order)).toMatchObject({ status: 409, data: { reason: 'order_of_deleted' } })
  expect(await b.world.row(order.id)).toMatchObject({ state: 'expired' })
  expect(await refundInConsole(order)).toMatchObject({ code: 2000 })
})

test.for([
  ['its operator', 'a test of the checkout', 'test_payment', { test: true }],
  ['its owner', 'a payment that fell short', 'lines_missing', { lines: { '11': 8 } }]
] as const)('an account can be deleted by %s once %s is ignored, not before', async ([by, what, outcome, more]) => {
  const buyer = await b.world.customer(`who made ${what}`.replaceAll(' ', '_'))
  const remove = () =>
    by === 'its operator'
      ? b.admin.delete(`/api/users/u/${buyer.user.id}/`)
      : buyer.post('/api/users/delete_account', { password: TEST_PASSWORD })
  const placed = await b.world.place(buyer)
  const paid = b.paymentFor(placed, more)
  expect(await b.tell('orders/paid', paid)).toBe(outcome)
  await pastReservation()
  expect(await remove()).toMatchObject({ code: 409 })
  const [open] = await b.openOf(paid)
  expect(await b.act(open, 'ignore', { note: 'agreed' })).toMatchObject({ code: 2000 })
  expect(await remove()).toMatchObject({ code: 2000 })
})

test('an account is not deleted while more that was paid for an ignored payment waits for a decision', async () => {
  const buyer = await b.world.customer('who_paid_more')
  const placed = await b.world.place(buyer)
  const paid = { ...b.paymentFor(placed, { lines: { '11': 8 } }), updated_at: '2026-01-01T00:00:00Z' }
  expect(await b.tell('orders/paid', paid)).toBe('lines_missing')
  await pastReservation()
  const [open] = await b.openOf(paid)
  await b.act(open, 'ignore', { note: 'agreed' })
  const grown = { ...b.paymentFor(placed, { id: paid.id, amount: '35.00' }), updated_at: '2026-01-02T00:00:00Z' }
  expect(await b.tell('orders/paid', grown)).toBe('paid_more')
  const remove = () => b.admin.delete(`/api/users/u/${buyer.user.id}/`)
  expect(await remove()).toMatchObject({ code: 409 })
  const [more] = await b.openOf(paid)
  expect(await b.act(more, 'ignore', { note: 'a tip' })).toMatchObject({ code: 2000 })
  expect(await remove()).toMatchObject({ code: 2000 })
})
