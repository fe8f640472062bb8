import type { Order } from '@netlet/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { endGraces, expireOrders } from '../delivery/index.ts'
import { timeOutOrders, type OrderRow } from '../orders/index.ts'
import { writeSettings } from '../settings/index.ts'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { platformEvents } from '../commerce/tables.ts'
import { work } from './platform-orders.fixture.ts'
import { startBooks, type Books, type Paid } from '../payments/books.fixture.ts'
import { readUnpaid, says } from './reconciling.fixture.ts'

let b: Books
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
beforeEach(async () => {
  await b.world.endAll()
  b.world.platformOrders.known.clear()
})
afterAll(() => b?.world.close())

const read = (paid: Paid, status: string, more: Parameters<typeof says>[3] = {}) => readUnpaid(b, paid, status, more)
/** What the buyer sees of the order some time later. */
async function after(milliseconds: number, { id, publicId }: OrderRow) {
  await b.world.advance(milliseconds)
  await timeOutOrders(b.world.shop.ctx)
  const { data } = await b.buyer.get<{ data: Order[] }>(`/api/orders/order_list/?id=${id}`)
  const order = data.data[0]
  const polled = await b.buyer.get<Pick<Order, 'payment_pending'>>(`/api/orders/checkout?order_id=${publicId}`)
  expect(polled.data.payment_pending).toBe(order?.payment_pending)
  return { state: order?.state, pending: order?.payment_pending, link: order?.checkout_url !== null }
}
const UNPAID = { state: 'placed', pending: false, link: true }
const HELD = { state: 'placed', pending: true, link: false }
const GONE = { state: 'timed_out', pending: false, link: false }

test.for(['PENDING', 'AUTHORIZED'])(
  'a payment that the platform has as %s holds its addresses until it is paid',
  async status => {
    const placed = await b.world.place(b.buyer)
    const paid = b.paymentFor(placed)
    const free = await b.world.stock()
    expect(await after(20 * MINUTE, placed)).toEqual(UNPAID)
    for (let times = 0; times < 2; times++) await read(paid, status)
    expect(await after(HOUR, placed)).toEqual(HELD)
    expect(await after(6 * DAY, placed)).toEqual(HELD)
    expect(await b.world.stock()).toBe(free)
    expect(await b.tell('orders/paid', { ...paid, financial_status: 'paid' })).toBe('settled')
    await b.world.confirm()
    expect(await after(HOUR, placed)).toEqual({ state: 'delivered', pending: false, link: false })
    // The platform's search may return the order once more.
    await read(paid, status)
    expect(await after(8 * DAY, placed)).toMatchObject({ state: 'delivered' })
  }
)

test('a payment that stays pending holds its addresses for a week', async () => {
  const placed = await b.world.place(b.buyer)
  await read(b.paymentFor(placed), 'PENDING')
  expect(await after(7 * DAY, placed)).toEqual(GONE)
})

test.for([
  { name: 'is voided', status: 'VOIDED', more: {} },
  { name: 'is cancelled with its order', status: 'PENDING', more: { cancelledAt: '2026-01-02T00:00:00Z' } }
])('a pending payment that $name lets go of its addresses', async ({ status, more }) => {
  const placed = await b.world.place(b.buyer)
  const free = await b.world.stock()
  const paid = b.paymentFor(placed)
  await read(paid, 'PENDING')
  expect(await after(HOUR, placed)).toEqual(HELD)
  await read(paid, status, more)
  expect(await after(MINUTE, placed)).toEqual(GONE)
  expect(await b.world.stock()).toBe(free + 8)
})

test('a payment that failed within the reservation shortens nothing, and a second one that is pending counts', async () => {
  const placed = await b.world.place(b.buyer)
  const second = b.paymentFor(placed)
  await read(b.paymentFor(placed), 'EXPIRED')
  expect(await after(20 * MINUTE, placed)).toEqual(UNPAID)
  // The first one is read again with it.
  await read(second, 'PENDING')
  expect(await after(HOUR, placed)).toEqual(HELD)
  await read(second, 'VOIDED')
  expect(await after(MINUTE, placed)).toEqual(GONE)
})

test('a pending payment that expired, which the buyer is asked to repeat, leaves half an hour for it', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed)
  await read(paid, 'PENDING')
  await b.world.advance(DAY)
  for (let times = 0; times < 2; times++) {
    await read(paid, 'EXPIRED')
    expect(await after(14 * MINUTE, placed)).toEqual(UNPAID)
  }
  expect(await after(2 * MINUTE, placed)).toEqual(GONE)
})

/** An order for which the buyer paid a cent for something else. */
async function failedWithCent(placed: OrderRow): Promise<Paid> {
  const cent = b.paymentFor(placed, { lines: { '11': 1 }, amount: '0.01' })
  expect(await b.tell('orders/paid', cent)).toBe('lines_missing')
  return cent
}
const endOf = async ({ id }: OrderRow) => (await b.world.row(id)).reservedUntil

test.for(['EXPIRED', 'VOIDED'])(
  'a pending payment that is %s lets go of its addresses although a cent was paid meanwhile',
  async status => {
    const free = await b.world.stock()
    const placed = await b.world.place(b.buyer)
    const paid = b.paymentFor(placed)
    await read(paid, 'PENDING')
    await failedWithCent(placed)
    await after(HOUR, placed)
    expect(await b.world.stock()).toBe(free - 8)
    for (let times = 0; times < 2; times++) await read(paid, status)
    await after(status === 'EXPIRED' ? 31 * MINUTE : MINUTE, placed)
    expect(await b.world.row(placed.id)).toMatchObject({ state: 'failed' })
    expect(await b.world.stock()).toBe(free)
    // Nothing is left to be held for a payment that becomes pending later.
    const until = await endOf(placed)
    await read(b.paymentFor(placed), 'PENDING')
    expect(await endOf(placed)).toEqual(until)
  }
)

test('an order whose cent is given back waits for no payment that has expired', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed)
  await read(paid, 'PENDING')
  const cent = await failedWithCent(placed)
  await b.world.advance(HOUR)
  await read(paid, 'EXPIRED')
  expect(await b.refund(cent, '0.01')).toBe('refunded')
  expect(await after(29 * MINUTE, placed)).toEqual(UNPAID)
  expect(await after(2 * MINUTE, placed)).toEqual(GONE)
})

test('an order that failed with a cent keeps its addresses for the right payment that is pending', async () => {
  const placed = await b.world.place(b.buyer)
  await failedWithCent(placed)
  const paid = b.paymentFor(placed)
  const free = await b.world.stock()
  await read(paid, 'PENDING')
  await after(6 * DAY, placed)
  expect(await b.world.stock()).toBe(free)
  expect(await b.tell('orders/paid', { ...paid, financial_status: 'paid' })).toBe('settled')
  expect(await b.world.row(placed.id)).toMatchObject({ state: 'delivering', pendingUntil: null })
})

const PAID_PART = { kind: 'SALE', status: 'SUCCESS' }
const OPEN_PART = { kind: 'SALE', status: 'PENDING' }

test('a gift card whose rest was pending and then failed holds nothing', async () => {
  const placed = await b.world.place(await b.world.customer('gifted in vain'))
  const paid = b.paymentFor(placed)
  await read(paid, 'PARTIALLY_PAID', { transactions: [PAID_PART, OPEN_PART] })
  expect((await b.world.row(placed.id)).reservedUntil).toEqual(new Date(placed.createdAt.getTime() + 7 * DAY))
  await b.world.advance(HOUR)
  const failed = { kind: 'SALE', status: 'FAILURE', after: 1 }
  await read(paid, 'PARTIALLY_PAID', { transactions: [PAID_PART, OPEN_PART, failed] })
  await b.world.advance(HOUR)
  await timeOutOrders(b.world.shop.ctx)
  expect((await b.world.row(placed.id)).state).toBe('timed_out')
})

test('a renewal that was paid after it had been pending, and whose order grew since, waits for nothing', async () => {
  const { order } = await b.delivered()
  const renewal = b.paymentFor(order, { renewal: true })
  expect(await b.tell('orders/paid', renewal)).toBe('settled')
  const by = { manualPaymentGateway: true }
  const transactions = [
    { ...OPEN_PART, ...by },
    { ...PAID_PART, ...by, after: 0 }
  ]
  await read(renewal, 'PARTIALLY_PAID', { transactions })
  expect((await b.world.row(order.id)).pendingUntil).toBeNull()
})

test.for(['PENDING', 'AWAITING_RESPONSE'])(
  'a gift card and a rest that is %s hold the addresses for a week',
  async status => {
    const placed = await b.world.place(await b.world.customer(`gifted ${status}`))
    const transactions = [PAID_PART, { kind: 'SALE', status, manualPaymentGateway: true }]
    await read(b.paymentFor(placed), 'PARTIALLY_PAID', { transactions })
    expect((await b.world.row(placed.id)).reservedUntil).toEqual(new Date(placed.createdAt.getTime() + 7 * DAY))
  }
)

test('a gift card without the rest holds nothing', async () => {
  const placed = await b.world.place(b.buyer)
  const transactions = [PAID_PART, { kind: 'SALE', status: 'FAILURE' }]
  await read(b.paymentFor(placed), 'PARTIALLY_PAID', { transactions })
  expect(await after(HOUR, placed)).toEqual(GONE)
})

const created = (paid: Paid, more: object = {}) =>
  b.tell('orders/create', { ...paid, financial_status: 'pending', ...more })

test('a payment that becomes pending in the last minutes holds the addresses at once, until it is known how it is paid', async () => {
  const placed = await b.world.place(await b.world.customer('late'))
  const paid = b.paymentFor(placed)
  await b.world.advance(28 * MINUTE)
  says(b, paid, [], { displayFinancialStatus: 'PENDING', fullyPaid: false })
  expect(await created(paid)).toBe('not_paid')
  const until = async () => ((await b.world.row(placed.id)).reservedUntil.getTime() - placed.createdAt.getTime()) / DAY
  expect(await until()).toBe(1)
  await work(b.world)
  expect(await until()).toBe(7)
  // It came late and once more.
  expect(await created(paid)).toBe('not_paid')
  await work(b.world)
  expect(await until()).toBe(7)
  const [event] = await b.db().select().from(platformEvents).where(eq(platformEvents.topic, 'orders/create'))
  expect(event).toMatchObject({ payload: {}, needsResolution: false })
  expect(await b.entriesOf(paid)).toEqual([])
})

test('a created order holds nothing if it is paid, cancelled, too small, or not ours', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed)
  expect(await created(paid, { financial_status: 'paid' })).toBe('ignored')
  expect(await created(paid, { cancelled_at: b.now().toISOString() })).toBe('ignored')
  expect(await created(b.paymentFor({ ...placed, publicId: 'NL-none' }))).toBe('not_paid')
  expect(await created({ ...paid, note_attributes: [] })).toBe('ignored')
  expect(await created({ ...paid, line_items: paid.line_items.slice(1) })).toBe('not_paid')
  expect(await b.tell('orders/create', { id: 'none' })).toBe('unreadable')
  expect(await after(HOUR, placed)).toEqual(GONE)
})

test('a created order that was paid or cancelled before it was reported changes nothing', async () => {
  const { order, paid } = await b.delivered()
  expect(await created(paid)).toBe('ignored')
  expect((await b.world.row(order.id)).pendingUntil).toBeNull()
  const placed = await b.world.place(b.buyer)
  const gone = b.paymentFor(placed)
  await b.tell('orders/cancelled', { id: gone.id, name: gone.name, financial_status: 'voided' })
  expect(await created(gone)).toBe('ignored')
  expect(await after(HOUR, placed)).toEqual(GONE)
})

const BY_HAND = { transactions: [{ kind: 'SALE', status: 'PENDING', manualPaymentGateway: true }] }

test('a bank deposit that is only announced holds the addresses of a new account for a day, all of which counts', async () => {
  const buyer = await b.world.customer('newcomer')
  await writeSettings(b.world.shop.ctx, { max_unpaid_addresses: 64 })
  const placed = await b.world.place(buyer, 16)
  await read(b.paymentFor(placed, { lines: { '11': 16, '901': 16 } }), 'PENDING', BY_HAND)
  expect((await b.world.row(placed.id)).pendingUntil).toEqual(new Date(placed.createdAt.getTime() + DAY))
  await after(23 * HOUR, placed)
  expect((await b.world.row(placed.id)).state).toBe('placed')
  await after(HOUR, placed)
  expect((await b.world.row(placed.id)).state).toBe('timed_out')
  expect(await buyer.post('/api/orders/checkout', b.world.wanted())).toMatchObject({
    data: { reason: 'unpaid_too_often' }
  })
  await b.world.advance(DAY)
  expect(await buyer.post('/api/orders/checkout', b.world.wanted())).toMatchObject({ code: 2000 })
})

test('a bank deposit of a customer who has paid before holds the addresses for a week', async () => {
  await b.delivered()
  const placed = await b.world.place(b.buyer)
  await read(b.paymentFor(placed), 'PENDING', BY_HAND)
  expect(await after(6 * DAY, placed)).toEqual(HELD)
})

test('a pending payment for less than was ordered holds nothing', async () => {
  const placed = await b.world.place(b.buyer)
  await read(b.paymentFor(placed, { lines: { '11': 8, '901': 7 } }), 'PENDING')
  expect(await after(HOUR, placed)).toEqual(GONE)
})

test('an order whose payment is pending does not keep its buyer from ordering more', async () => {
  const buyer = await b.world.customer('second')
  const first = await b.world.place(buyer, 40)
  await read(b.paymentFor(first, { lines: { '11': 40, '901': 40 } }), 'PENDING')
  await b.world.advance(HOUR)
  const next = await buyer.post('/api/orders/checkout', b.world.wanted())
  expect(next).toMatchObject({ code: 2000 })
})

describe('a renewal whose payment is pending', () => {
  const hoursUntil = async ({ id }: OrderRow, when: number) =>
    Math.round((when - ((await b.world.row(id)).expiredAt?.getTime() ?? 0)) / HOUR)
  const graceOf = async (order: OrderRow) =>
    hoursUntil(order, (await b.world.row(order.id)).graceUntil?.getTime() ?? Number.NaN)

  /** An order whose renewal, by `status`, was begun an hour before its expiry; it has expired since. */
  async function renewedLate(status: string, lines?: Record<string, number>) {
    const { order } = await b.delivered()
    const renewal = b.paymentFor(order, { renewal: true, ...(lines && { lines }) })
    await b.world.advance((order.expiredAt?.getTime() ?? 0) - b.now().getTime() - HOUR)
    await read(renewal, status)
    await b.world.advance(2 * HOUR)
    await expireOrders(b.world.shop.ctx)
    await b.world.confirm()
    return { order, renewal }
  }
  async function pass(milliseconds: number): Promise<void> {
    await b.world.advance(milliseconds)
    await endGraces(b.world.shop.ctx)
    await b.world.confirm()
  }

  test.for(['PENDING', 'AUTHORIZED'])('(%s) keeps its addresses beyond the grace, until it is paid', async status => {
    const { order, renewal } = await renewedLate(status)
    // The mail asks for no second payment.
    const { rows } = await b.db().execute(sql`
      select data -> 'data' -> 'pending' as pending from pgboss.job where data ->> 'key' like ${`expired:${order.id}:%`}`)
    expect(rows).toEqual([{ pending: true }])
    const free = await b.world.stock()
    await pass(3 * DAY)
    await read(renewal, status)
    expect(await b.world.stock()).toBe(free)
    expect(await after(0, order)).toMatchObject({ state: 'expired', pending: true })
    expect(await b.tell('orders/paid', { ...renewal, financial_status: 'paid' })).toBe('settled')
    await b.world.confirm()
    expect(await after(0, order)).toMatchObject({ state: 'delivered', pending: false })
  })

  test('keeps them for a week after the expiry at most, whatever else is ordered', async () => {
    const { order } = await renewedLate('PENDING')
    await pass(6 * DAY)
    await read(b.paymentFor(order, { renewal: true }), 'PENDING')
    expect(await graceOf(order)).toBe(7 * 24)
    await pass(DAY)
    expect(await after(0, order)).toMatchObject({ state: 'expired', pending: false })
    expect((await b.world.row(order.id)).graceUntil).toBeNull()
  })

  test('and was begun in the grace prolongs it, and is voided: then it ends', async () => {
    const { order } = await renewedLate('PAID_ELSEWHERE')
    expect(await graceOf(order)).toBe(25)
    const renewal = b.paymentFor(order, { renewal: true })
    await read(renewal, 'PENDING')
    expect(await graceOf(order)).toBeGreaterThan(6 * 24)
    await read(renewal, 'VOIDED')
    expect(await graceOf(order)).toBe(25)
    await pass(DAY)
    expect((await b.world.row(order.id)).graceUntil).toBeNull()
  })

  test('for fewer addresses prolongs nothing', async () => {
    const { order } = await renewedLate('PENDING', { '11': 8, '901': 7 })
    expect(await graceOf(order)).toBe(25)
  })

  test('of an order that was paid does not count for the purchase that is read again', async () => {
    const { order, paid } = await b.delivered()
    await read(paid, 'PENDING')
    expect(await after(0, order)).toMatchObject({ pending: false })
  })
})
