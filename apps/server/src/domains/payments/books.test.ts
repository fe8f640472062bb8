import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { DAY } from '../../infra/clock.ts'
import { expireOrders } from '../delivery/index.ts'
import { startBooks, type Books } from './books.fixture.ts'
import { compareFigures } from '../statements/books-check.ts'

let world: Books['world']
let db: Books['db']
let buyer: Books['buyer']
let tell: Books['tell']
let paymentFor: Books['paymentFor']
let dispute: Books['dispute']
let refund: Books['refund']
let delivered: Books['delivered']
let paymentRow: Books['paymentRow']
let books: Books['books']
let openOf: Books['openOf']
let act: Books['act']
let reopen: Books['reopen']
let daysLeft: Books['daysLeft']
let chargeback: Books['chargeback']

beforeAll(async () => {
  ;({
    world,
    db,
    buyer,
    tell,
    paymentFor,
    dispute,
    refund,
    delivered,
    paymentRow,
    books,
    openOf,
    act,
    reopen,
    daysLeft,
    chargeback
  } = await startBooks())
}, 60_000)
afterAll(() => world?.close())
afterEach(async () => {
  // The stored figures match the payments after every test.
  expect(await compareFigures(db())).toEqual([])
})

test('a dispute that was won leaves the books as if it had never been; its order is reopened for the time that was left', async () => {
  const { order, paid } = await delivered()
  const before = await books()
  await world.advance(10 * DAY)
  expect(await chargeback.opened(paid)).toBe('refunded')
  expect(await world.row(order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
  expect((await books())?.points).toBeLessThan(before?.points ?? 0)
  expect((await reopen(order)).status).toBe(409)
  await world.advance(40 * DAY)
  expect(await chargeback.won(paid)).toBe('dispute_won')
  expect(await chargeback.won(paid)).toBe('ignored')
  expect(await dispute(paid, 'lost')).toBe('ignored')
  expect(await books()).toEqual(before)
  expect(await paymentRow(paid)).toMatchObject({ accepted: true, refundedAt: null, refundedAmount: '0.00' })
  expect(await world.row(order.id)).toMatchObject({ state: 'expired', refundedAmount: '0.00' })
  expect(await openOf(paid)).toMatchObject([{ outcome: 'dispute_won', payment: 'accepted' }])

  await world.confirm()
  const clicks = await Promise.all([reopen(order), reopen(order)])
  expect(clicks.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([409, 2000])
  await world.confirm()
  const again = await world.row(order.id)
  expect(again).toMatchObject({ state: 'delivered', deliveryNum: 8 })
  // Ten of the thirty days had been served.
  expect(daysLeft(again)).toBe(20)
  expect(await openOf(paid)).toEqual([])
  // Its term is over, so it cannot be reopened again.
  await world.advance(21 * DAY)
  await expireOrders(world.shop.ctx)
  expect((await reopen(order)).status).toBe(409)
})

test('a dispute whose end is told before its opening takes nothing', async () => {
  const { order, paid } = await delivered()
  const before = await books()
  expect(await chargeback.won(paid)).toBe('ignored')
  expect(await chargeback.opened(paid)).toBe('ignored')
  expect(await books()).toEqual(before)
  expect(await world.row(order.id)).toMatchObject({ state: 'delivered' })
})

test('disputes of one payment again and again: opened, won, opened by another id, lost', async () => {
  const { order, paid } = await delivered()
  const before = await books()
  await chargeback.opened(paid)
  await chargeback.won(paid)
  expect(await dispute(paid, 'needs_response', { id: 8001 })).toBe('refunded')
  const lost = await books()
  expect(await world.row(order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
  expect(await openOf(paid)).toEqual([])
  expect(lost?.points).toBe((before?.points ?? 0) - 20)
  expect(await dispute(paid, 'won', { id: 8001 })).toBe('dispute_won')
  expect(await books()).toEqual(before)
})

test('what was refunded beside a dispute stays refunded when that is won', async () => {
  const whole = await delivered()
  await chargeback.opened(whole.paid)
  await refund(whole.paid, '20.00')
  expect(await chargeback.won(whole.paid)).toBe('ignored')
  expect(await world.row(whole.order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })

  const part = await delivered()
  expect(await refund(part.paid, '5.00')).toBe('partly_refunded')
  expect(await dispute(part.paid, 'needs_response', { amount: '4.00' })).toBe('partly_refunded')
  expect(await paymentRow(part.paid)).toMatchObject({ refundedAmount: '9.00' })
  expect(await chargeback.won(part.paid)).toBe('settled')
  expect(await paymentRow(part.paid)).toMatchObject({ refundedAmount: '5.00' })
  expect(await world.row(part.order.id)).toMatchObject({ state: 'delivered', refundedAmount: '5.00' })
})

test('a payment that came during its dispute is held when that was won, and can be applied', async () => {
  const placed = await world.place(buyer)
  const paid = paymentFor(placed)
  expect(await chargeback.opened(paid)).toBe('refunded')
  expect(await tell('orders/paid', paid)).toBe('refunded')
  expect(await chargeback.won(paid)).toBe('dispute_won')
  const [open] = await openOf(paid)
  expect(open).toMatchObject({ outcome: 'dispute_won', payment: 'held' })
  expect(await act(open, 'apply', { order: placed.publicId })).toMatchObject({ code: 2000 })
  await world.confirm()
  expect(await world.row(placed.id)).toMatchObject({ state: 'delivered' })
  expect(await openOf(paid)).toEqual([])
})

test('a payment that fell short waits for an administrator again when its dispute was won', async () => {
  const placed = await world.place(buyer)
  const paid = paymentFor(placed, { lines: { '11': 8 } })
  expect(await tell('orders/paid', paid)).toBe('lines_missing')
  const before = await books()
  expect(await chargeback.opened(paid)).toBe('refunded')
  expect(await openOf(paid)).toEqual([])
  expect(await chargeback.won(paid)).toBe('dispute_won')
  expect(await books()).toEqual(before)
  // The order waits for a payment: this one, if an administrator applies it, or another.
  expect(await world.row(placed.id)).toMatchObject({ state: 'placed', payAmount: null, refundedAmount: '0.00' })
  const open = await openOf(paid)
  expect(new Set(open.map(({ outcome }) => outcome))).toEqual(new Set(['dispute_won', 'lines_missing']))
  expect(await act(open[0], 'apply', { order: placed.publicId })).toMatchObject({ code: 2000 })
  await world.confirm()
  expect(await world.row(placed.id)).toMatchObject({ state: 'delivered' })
  expect(await openOf(paid)).toEqual([])
})

test('the term of a renewal whose dispute was won is added again, even if the order has ended since', async () => {
  const { order } = await delivered()
  const renewal = paymentFor(order, { renewal: true })
  expect(await tell('orders/paid', renewal)).toBe('settled')
  const before = await books()
  const renewed = await world.row(order.id)
  expect(await chargeback.opened(renewal)).toBe('refunded')
  expect((await world.row(order.id)).expiredAt).toEqual(order.expiredAt)
  expect(await chargeback.won(renewal)).toBe('settled')
  expect(await world.row(order.id)).toMatchObject({ state: 'delivered', expiredAt: renewed.expiredAt })
  expect(await books()).toEqual(before)

  // 15 days of the term have passed when the dispute takes it. They are never served twice.
  await world.advance(45 * DAY)
  await dispute(renewal, 'needs_response', { id: 8101 })
  await expireOrders(world.shop.ctx)
  await world.confirm()
  expect(await world.row(order.id)).toMatchObject({ state: 'expired' })
  expect((await reopen(order)).status).toBe(409)
  expect(await dispute(renewal, 'won', { id: 8101 })).toBe('dispute_won')
  // A second dispute before the reopening leaves nothing to reopen.
  expect(await dispute(renewal, 'needs_response', { id: 8102 })).toBe('refunded')
  expect((await reopen(order)).status).toBe(409)
  expect(await dispute(renewal, 'won', { id: 8102 })).toBe('dispute_won')
  expect(await reopen(order)).toMatchObject({ code: 2000 })
  await world.confirm()
  expect(daysLeft(await world.row(order.id))).toBe(15)
  expect(await books()).toEqual(before)
})

test('an inquiry that was won keeps no chargeback of the same id from taking the money', async () => {
  const { order, paid } = await delivered()
  expect(await dispute(paid, 'needs_response', { type: 'inquiry' })).toBe('inquiry')
  expect(await dispute(paid, 'won', { type: 'inquiry' })).toBe('ignored')
  expect(await chargeback.opened(paid)).toBe('refunded')
  expect(await world.row(order.id)).toMatchObject({ state: 'refunded' })
})
