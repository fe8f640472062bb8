import type { DecisionPlan, InboxEntry } from '@netlet/contract'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { DAY } from '../../infra/clock.ts'
import { expireOrders } from '../delivery/index.ts'
import { startBooks, type Books, type Paid } from './books.fixture.ts'
import { compareFigures } from '../statements/books-check.ts'
import { askRefund } from './ask-refund.fixture.ts'
import { announceDelivery } from '../delivery/jobs.ts'
import { failLastRefund } from '../reconciliation/platform-orders.fixture.ts'

let world: Books['world']
let admin: Books['admin']
let db: Books['db']
let tell: Books['tell']
let paymentFor: Books['paymentFor']
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
  const started = await startBooks()
  ;({ world, admin, db, tell, paymentFor, refund, delivered, paymentRow } = started)
  ;({ books, openOf, act, reopen, daysLeft, chargeback } = started)
}, 60_000)
afterAll(() => world?.close())
afterEach(async () => {
  // The stored figures match the payments after every test.
  expect(await compareFigures(db())).toEqual([])
})

const planOf = async (entry: InboxEntry | undefined) =>
  (await admin.get<DecisionPlan>(`/api/payments/inbox/${entry?.id}/plan/?action=refunded`)).data
const moneyIn = ({ money }: DecisionPlan) => money.map(({ amount, currency }) => `${amount} ${currency}`)

test('renewals that a refunded purchase left unserved are closed when they are given back, by the platform or by hand', async () => {
  const both = async () => {
    const { order, paid } = await delivered()
    const renewals = [paymentFor(order, { renewal: true }), paymentFor(order, { renewal: true })]
    for (const renewal of renewals) expect(await tell('orders/paid', renewal)).toBe('settled')
    expect(await refund(paid, '20.00')).toBe('renewals_unserved')
    return { order, paid, renewals: renewals as [Paid, Paid] }
  }
  const start = await books()
  const told = await both()
  for (const renewal of told.renewals) {
    expect(await openOf(told.paid)).toMatchObject([{ outcome: 'renewals_unserved' }])
    expect(await refund(renewal, '20.00')).toBe('refunded')
  }
  expect(await openOf(told.paid)).toEqual([])
  expect(await books()).toEqual(start)

  const byHand = await both()
  const [open] = await openOf(byHand.paid)
  expect(await act(open, 'refunded', { note: 'by bank transfer' })).toMatchObject({ code: 2000 })
  for (const renewal of byHand.renewals)
    expect(await paymentRow(renewal)).toMatchObject({ refundedAmount: '20.00', refundedAt: expect.any(Date) })
  expect(await openOf(byHand.paid)).toEqual([])
  expect(await books()).toEqual(start)
})

test('renewals are not marked refunded while the platform is asked to refund one of them', async () => {
  const { order, paid } = await delivered()
  const renewals = [paymentFor(order, { renewal: true }), paymentFor(order, { renewal: true })]
  for (const renewal of renewals) expect(await tell('orders/paid', renewal)).toBe('settled')
  expect(await refund(paid, '20.00')).toBe('renewals_unserved')
  const [open] = await openOf(paid)
  const other = await world.admin('renewals2')
  const [first] = renewals as [Paid, Paid]
  const asked = await askRefund(other, order, { platform_order: String(first.id) })
  expect(asked).toMatchObject({ code: 2000 })
  expect(await act(open, 'refunded', { note: 'by bank transfer' })).toMatchObject({
    status: 409,
    data: { reason: 'refund_running', params: { by: 'renewals2', platform_order: first.name } }
  })
  for (const renewal of renewals) expect(await paymentRow(renewal)).toMatchObject({ refundedAt: null })
  await failLastRefund(world, first)
  expect(await act(open, 'refunded', { note: 'by bank transfer' })).toMatchObject({ code: 2000 })
  for (const renewal of renewals) expect(await paymentRow(renewal)).toMatchObject({ refundedAt: expect.any(Date) })
})

test('each delivery is announced once, also one after a refunded renewal that ends when an earlier one did', async () => {
  const { order } = await delivered()
  const { ctx } = world.shop
  const announced = async () => {
    for (let times = 0; times < 2; times++) await announceDelivery(ctx, order.id)
    return (await world.mailsOf(order.id)).filter(({ template }) => template === 'proxies-delivered').length
  }
  expect(await announced()).toBe(1)
  await world.advance(30 * DAY)
  for (const times of [2, 3]) {
    await expireOrders(ctx)
    await world.confirm()
    const renewal = paymentFor(order, { renewal: true })
    expect(await tell('orders/paid', renewal)).toBe('settled')
    await world.confirm()
    expect(await world.row(order.id)).toMatchObject({ state: 'delivered' })
    expect(await announced()).toBe(times)
    expect(await refund(renewal, '20.00')).toBe('refunded')
  }
})

test('renewals that are left unserved are told with what each currency still has of them', async () => {
  const { order, paid } = await delivered()
  expect(await tell('orders/paid', paymentFor(order, { renewal: true }))).toBe('settled')
  const renewal = paymentFor(order, { renewal: true, currency: 'EUR' })
  expect(await tell('orders/paid', renewal)).toBe('wrong_currency')
  const [held] = await openOf(renewal)
  expect(await act(held, 'apply', { order: order.publicId })).toMatchObject({ code: 2000 })
  const transactions = [{ kind: 'refund', status: 'success', amount: '5.00', currency: 'EUR' }]
  expect(await tell('refunds/create', { id: 771, order_id: renewal.id, transactions })).toBe('partly_refunded')
  expect(await refund(paid, '20.00')).toBe('renewals_unserved')
  const [open] = await openOf(paid)
  expect(open).toMatchObject({ params: { amount: '15.00 EUR, 20.00 USD' } })
  expect(moneyIn(await planOf(open))).toEqual(['20.00 USD', '15.00 EUR'])
  expect(await act(open, 'refunded', { note: 'by bank transfer' })).toMatchObject({ code: 2000 })
  expect(await paymentRow(renewal)).toMatchObject({ refundedAt: expect.any(Date) })
})

test('a decision to mark as refunded names what it will record', async () => {
  const { order, paid } = await delivered()
  const again = paymentFor(order)
  expect(await tell('orders/paid', again)).toBe('paid_twice')
  const [held] = await openOf(again)
  expect(moneyIn(await planOf(held))).toEqual(['20.00 USD'])
  expect(await refund(again, '15.00')).toBe('refunded')
  expect(moneyIn(await planOf(held))).toEqual(['5.00 USD'])
  for (const amount of ['20.00', '30.00'])
    expect(await tell('orders/paid', paymentFor(order, { renewal: true, amount }))).toBe('settled')
  expect(await refund(paid, '20.00')).toBe('renewals_unserved')
  const [unserved] = await openOf(paid)
  expect(moneyIn(await planOf(unserved))).toEqual(['50.00 USD'])
})

test('a decision is refused if it would record another amount than was shown', async () => {
  const { order } = await delivered()
  const again = paymentFor(order)
  expect(await tell('orders/paid', again)).toBe('paid_twice')
  const [held] = await openOf(again)
  const { version: plan } = await planOf(held)
  expect(await refund(again, '15.00')).toBe('refunded')
  const [now] = await openOf(again)
  expect(await act(now, 'refunded', { note: 'by bank transfer', plan })).toMatchObject({ status: 409 })
})

test('a renewal that was given back while the order was refunded is no time that a reopening serves', async () => {
  const { order, paid } = await delivered()
  const renewal = paymentFor(order, { renewal: true })
  expect(await tell('orders/paid', renewal)).toBe('settled')
  expect(await chargeback.opened(paid)).toBe('renewals_unserved')
  expect(await refund(renewal, '20.00')).toBe('refunded')
  expect(await chargeback.won(paid)).toBe('dispute_won')
  await world.confirm()
  expect(await reopen(order)).toMatchObject({ code: 2000 })
  await world.confirm()
  expect(daysLeft(await world.row(order.id))).toBe(30)
})

test.for(['refund', 'dispute'] as const)(
  'a renewal whose dispute is won after its order ended by a %s is in the inbox',
  async how => {
    const { order, paid } = await delivered()
    const renewal = paymentFor(order, { renewal: true })
    expect(await tell('orders/paid', renewal)).toBe('settled')
    await chargeback.opened(renewal)
    if (how === 'refund') expect(await refund(paid, '20.00')).toBe('refunded')
    else expect(await chargeback.opened(paid)).toBe('refunded')
    expect(await chargeback.won(renewal)).toBe('renewals_unserved')
    const [open] = await openOf(renewal)
    expect(open).toMatchObject({ outcome: 'renewals_unserved', payment: 'accepted', params: { amount: '20.00 USD' } })
    expect(await act(open, 'refunded', { note: 'given back by hand' })).toMatchObject({ code: 2000 })
    expect((await paymentRow(renewal)).refundedAmount).toBe('20.00')
    expect(await openOf(renewal)).toEqual([])
  }
)
