import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { DAY, HOUR } from '../../infra/clock.ts'
import { saveCheck, READ_DISPUTES } from '../commerce/index.ts'
import { wrongBooks } from '../statements/books-check.ts'
import { startBooks, type Books, type Paid } from '../payments/books.fixture.ts'
import { reconcileDisputes } from './missed-disputes.ts'
import { work } from './platform-orders.fixture.ts'
import { queueUnreadOrders } from './read-order.ts'
import { reconcile, says } from './reconciling.fixture.ts'

let b: Books
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
beforeEach(async () => {
  b.world.platformOrders.known.clear()
  b.world.platformOrders.disputes = []
})
afterEach(async () => {
  expect(await wrongBooks(b.db())).toEqual([])
})
afterAll(() => b?.world.close())

const idOf = (paid: Paid) => 7000 + (paid.id % 1000)
/** Sets the disputes that the platform returns with an order. */
const disputed = (paid: Paid, status: string, { initiatedAs = 'CHARGEBACK', id = idOf(paid) } = {}) =>
  says(b, paid, [], { disputes: [{ id: `gid://shopify/OrderDisputeSummary/${id}`, initiatedAs, status }] })
const openOutcomes = async (paid: Paid) => (await b.openOf(paid)).map(({ outcome }) => outcome)

/** Reads the order once more, although it has not changed. */
async function readAgain(paid: Paid) {
  await b.world.advance(HOUR)
  const { ctx } = b.world.shop
  await queueUnreadOrders(ctx)
  await work(b.world)
  const known = b.world.platformOrders.known.get(String(paid.id))
  if (known) known.updatedAt = b.now().toISOString()
  return reconcile(b)
}

test('a chargeback whose webhook was lost takes the money once, and is won, lost and won again by reading its order', async () => {
  const before = await b.books()
  const { order, paid } = await b.delivered()
  const paidBooks = await b.books()
  disputed(paid, 'NEEDS_RESPONSE')
  expect(await reconcile(b)).toBe(1)
  expect(await b.world.row(order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
  expect(await readAgain(paid)).toBe(0)
  // The webhook was late.
  expect(await b.chargeback.opened(paid)).toBe('ignored')
  await b.world.confirm()
  for (const [status, books] of [
    ['WON', paidBooks],
    ['LOST', before],
    ['WON', paidBooks],
    ['UNDER_REVIEW', paidBooks]
  ] as const) {
    disputed(paid, status)
    expect(await readAgain(paid)).toBe(status === 'UNDER_REVIEW' ? 0 : 1)
    expect(await b.books()).toEqual(books)
    expect(await readAgain(paid)).toBe(0)
  }
})

test('a dispute that had ended before its order was read takes nothing, and its opening comes too late', async () => {
  for (const initiatedAs of ['CHARGEBACK', 'INQUIRY']) {
    const { order, paid } = await b.delivered()
    const before = await b.books()
    disputed(paid, 'WON', { initiatedAs })
    expect(await reconcile(b)).toBe(initiatedAs === 'INQUIRY' ? 0 : 1)
    expect(await readAgain(paid)).toBe(0)
    if (initiatedAs === 'CHARGEBACK') expect(await b.chargeback.opened(paid)).toBe('ignored')
    expect(await b.books()).toEqual(before)
    expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', refundedAmount: '0.00' })
    expect(await openOutcomes(paid)).toEqual([])
  }
})

test('an inquiry and a prevented dispute stand in the inbox once, whether a webhook or the order reported them', async () => {
  for (const [status, initiatedAs] of [
    ['NEEDS_RESPONSE', 'INQUIRY'],
    ['PREVENTED', 'CHARGEBACK'],
    ['OF_TOMORROW', 'CHARGEBACK']
  ] as const) {
    const [told, found] = [await b.delivered(), await b.delivered()]
    await b.dispute(told.paid, status.toLowerCase(), { type: initiatedAs.toLowerCase() })
    for (const { paid } of [told, found]) disputed(paid, status, { initiatedAs })
    expect(await reconcile(b)).toBe(1)
    for (const { order, paid } of [told, found]) {
      expect(await readAgain(paid)).toBe(0)
      expect(await openOutcomes(paid)).toEqual(['inquiry'])
      expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', refundedAmount: '0.00' })
    }
    // The payload of an old event is deleted.
    await b.db().execute(`update platform_events set payload = '{}'`)
    expect(await readAgain(told.paid)).toBe(0)
  }
})

test('a dispute of an order that was never reported is found with its payment', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed)
  disputed(paid, 'LOST')
  expect(await reconcile(b)).toBe(2)
  expect(await b.paymentRow(paid)).toMatchObject({ refundedAt: expect.any(Date) })
  expect(await readAgain(paid)).toBe(0)
})

test('a loss that no webhook reported frees the promo code of an order that was not delivered, once', async () => {
  const form = { username: b.buyer.user.username, code: 'LOST-1', discount: '5', code_type: 1 }
  expect(await b.admin.post('/api/rewards/coupon_code/', form)).toMatchObject({ code: 2000 })
  const isUsed = () => b.db().execute(`select is_used from coupons where code = 'LOST-1'`)
  const placed = await b.world.place(b.buyer)
  const discount_codes = [{ code: 'LOST-1', amount: '5.00', type: 'fixed_amount' }]
  const paid = { ...b.paymentFor(placed), discount_codes }
  expect(await b.tell('orders/paid', paid)).toBe('settled')
  await b.chargeback.opened(paid)
  expect(await isUsed()).toMatchObject({ rows: [{ is_used: true }] })
  disputed(paid, 'LOST')
  expect(await reconcile(b)).toBe(1)
  expect(await isUsed()).toMatchObject({ rows: [{ is_used: false }] })
  expect(await readAgain(paid)).toBe(0)
})

test('a dispute whose status the platform takes back in between ends as the platform says last', async () => {
  const { order, paid } = await b.delivered()
  await b.chargeback.opened(paid)
  await b.world.confirm()
  disputed(paid, 'WON')
  await reconcile(b)
  await b.world.advance(DAY)
  expect(await b.dispute(paid, 'lost', { finalized_on: b.now().toISOString() })).toBe('refunded')
  disputed(paid, 'LOST')
  expect(await readAgain(paid)).toBe(0)
  expect(await b.world.row(order.id)).toMatchObject({ state: 'refunded' })
})

const listed = (paid: Paid, more: object) => ({
  id: `gid://shopify/ShopifyPaymentsDispute/${idOf(paid)}`,
  type: 'CHARGEBACK',
  status: 'NEEDS_RESPONSE',
  finalizedOn: null,
  amount: { amount: '20.0', currencyCode: 'USD' },
  order: { id: `gid://shopify/Order/${paid.id}` },
  ...more
})
const scopes = (...of: string[]) => saveCheck(b.world.shop.ctx, 'shop', { name: 'Shop', currency: 'USD', scopes: of })
async function reconcileList() {
  const found = await reconcileDisputes(b.world.shop.ctx)
  await work(b.world)
  return found
}

test('a dispute that leaves its order unchanged is found in the list of disputes, with its amount and type', async () => {
  const [whole, part, inquiry] = [await b.delivered(), await b.delivered(), await b.delivered()]
  await b.dispute(inquiry.paid, 'needs_response', { type: 'inquiry' })
  b.world.platformOrders.disputes = [
    listed(whole.paid, {}),
    listed(part.paid, { amount: { amount: '5.0', currencyCode: 'USD' } }),
    // It has become a chargeback.
    listed(inquiry.paid, {}),
    listed({ ...whole.paid, id: 4711 }, {}),
    listed({ ...whole.paid, id: 4712 }, { order: null })
  ]
  await scopes('read_orders')
  expect(await reconcileList()).toBe(0)
  await scopes('read_orders', READ_DISPUTES)
  expect(await reconcileList()).toBe(3)
  expect(await reconcileList()).toBe(0)
  const amounts = await Promise.all([whole, part, inquiry].map(({ order }) => b.world.row(order.id)))
  expect(amounts.map(({ refundedAmount }) => refundedAmount)).toEqual(['20.00', '5.00', '20.00'])
  // The same dispute in its order's summary is known.
  disputed(part.paid, 'NEEDS_RESPONSE')
  expect(await readAgain(part.paid)).toBe(0)
  await b.world.advance(DAY)
  const decidedOn = b.now().toISOString()
  b.world.platformOrders.disputes = [listed(part.paid, { status: 'WON', finalizedOn: decidedOn })]
  expect(await reconcileList()).toBe(1)
  expect(await b.world.row(part.order.id)).toMatchObject({ state: 'delivered', refundedAmount: '0.00' })
})

test('a chargeback of a part, whose order is read before its webhook comes, takes that part', async () => {
  const { order, paid } = await b.delivered()
  await scopes('read_orders', READ_DISPUTES)
  // The shop was down when the webhook came.
  disputed(paid, 'NEEDS_RESPONSE')
  b.world.platformOrders.disputes = [listed(paid, { amount: { amount: '5.0', currencyCode: 'USD' } })]
  await reconcile(b)
  await reconcileList()
  await b.dispute(paid, 'needs_response', { id: idOf(paid), amount: '5.00', currency: 'USD' })
  expect(await b.world.row(order.id)).toMatchObject({ state: 'delivered', refundedAmount: '5.00' })
})
