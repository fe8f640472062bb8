/** One order, or its renewal, that is paid at more than one checkout. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { eq } from '../../infra/db/drizzle.ts'
import { openPlatform } from '../commerce/index.ts'
import { endGraces, expireOrders } from '../delivery/index.ts'
import { timeOutOrders, type OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { startBooks, type Books, type Paid } from '../payments/books.fixture.ts'
import { holdPending } from './pending-payments.ts'
import { readUnpaid, reconcile, says } from './reconciling.fixture.ts'

let b: Books
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
beforeEach(async () => {
  b.world.platformOrders.known.clear()
})
afterAll(() => b?.world.close())

/** A day in which other orders change, so that the next reading finds only what has changed since. */
async function others(): Promise<void> {
  for (let times = 0; times < 2; times++) {
    await b.world.advance(13 * HOUR)
    says(b, b.paymentFor({ publicId: 'NL-another' } as OrderRow, { amount: '1.00' }), [])
    await reconcile(b)
  }
}

async function stateAfter(milliseconds: number, { id }: OrderRow): Promise<string> {
  await b.world.advance(milliseconds)
  await timeOutOrders(b.world.shop.ctx)
  return (await b.world.row(id)).state
}

const tries = (order: OrderRow, renewal: boolean) => [
  b.paymentFor(order, { renewal }),
  b.paymentFor(order, { renewal })
]
/** Each of two tries may end first. */
const ENDS = [
  ['first', 'EXPIRED'],
  ['first', 'VOIDED'],
  ['second', 'EXPIRED'],
  ['second', 'VOIDED']
] as const
const inTurn = (which: 'first' | 'second', [first, second]: Paid[]) =>
  (which === 'first' ? [first, second] : [second, first]) as [Paid, Paid]

test.for(ENDS)(
  'addresses stay held when the %s of two tries is %s, until the other one is too',
  async ([which, status]) => {
    const placed = await b.world.place(b.buyer)
    const both = tries(placed, false)
    for (const paid of both) await readUnpaid(b, paid, 'PENDING')
    const [ended, open] = inTurn(which, both)
    await others()
    await readUnpaid(b, ended, status)
    expect(await stateAfter(HOUR, placed)).toBe('placed')
    expect(await b.world.row(placed.id)).toMatchObject({ pendingUntil: expect.any(Date) })
    await others()
    // It is reported once more.
    await readUnpaid(b, ended, status)
    expect(await stateAfter(HOUR, placed)).toBe('placed')
    await others()
    await readUnpaid(b, open, 'VOIDED')
    expect(await stateAfter(MINUTE, placed)).toBe('timed_out')
  }
)

describe('a renewal', () => {
  test.for(ENDS)('keeps its longer grace when the %s of two tries is %s', async ([which, status]) => {
    const { order } = await b.delivered()
    const both = tries(order, true)
    await b.world.advance((order.expiredAt?.getTime() ?? 0) - b.now().getTime() - HOUR)
    for (const paid of both) await readUnpaid(b, paid, 'PENDING')
    const [ended, open] = inTurn(which, both)
    await b.world.advance(2 * HOUR)
    await expireOrders(b.world.shop.ctx)
    await b.world.confirm()
    await others()
    await readUnpaid(b, ended, status)
    await b.world.advance(HOUR)
    await endGraces(b.world.shop.ctx)
    expect((await b.world.row(order.id)).graceUntil).not.toBeNull()
    expect(await b.tell('orders/paid', open)).toBe('settled')
    expect(await b.world.row(order.id)).toMatchObject({ pendingUntil: null, pendingFor: {} })
  })
})

test("a bank deposit without proof holds a new account's order for a day, whatever another checkout held", async () => {
  const placed = await b.world.place(await b.world.customer('unproven'))
  const [card, deposit] = [b.paymentFor(placed), b.paymentFor(placed)]
  const byHand = { transactions: [{ kind: 'SALE', status: 'PENDING', manualPaymentGateway: true }] }
  await readUnpaid(b, card, 'AUTHORIZED')
  await readUnpaid(b, deposit, 'PENDING', byHand)
  const days = async () => ((await b.world.row(placed.id)).reservedUntil.getTime() - placed.createdAt.getTime()) / DAY
  expect(await days()).toBe(7)
  await b.world.advance(HOUR)
  await readUnpaid(b, card, 'VOIDED')
  expect(await days()).toBe(1)
  await readUnpaid(b, deposit, 'VOIDED')
  expect(await stateAfter(MINUTE, placed)).toBe('timed_out')
})

test('a platform that does not say once how an order is paid does not let go of its addresses', async () => {
  const { ctx } = b.world.shop
  const placed = await b.world.place(await b.world.customer('newcomer'))
  const paid = b.paymentFor(placed)
  await readUnpaid(b, paid, 'PENDING')
  const until = (await b.world.row(placed.id)).reservedUntil
  const platform = await openPlatform(ctx)
  if (!platform.ok) throw new Error(platform.reason)
  const there = await platform.data.order(String(paid.id))
  if (!there.ok) throw new Error(there.reason)
  const throttled = { ok: false, reason: 'throttled', message: 'Throttled', retryable: true } as const
  await holdPending(ctx, { openPayments: () => Promise.resolve(throttled) }, [there.value])
  expect(await b.world.row(placed.id)).toMatchObject({ reservedUntil: until, pendingUntil: until })
})

test('a second checkout holds what the first one does, whether it is for less, or for all and then is gone', async () => {
  const placed = await b.world.place(b.buyer)
  const whole = b.paymentFor(placed)
  await readUnpaid(b, whole, 'PENDING')
  const { reservedUntil: until } = await b.world.row(placed.id)
  const less = b.paymentFor(placed, { lines: { '11': 8 } })
  expect(await b.tell('orders/create', { ...less, financial_status: 'pending' })).toBe('not_paid')
  expect(await b.world.row(placed.id)).toMatchObject({
    reservedUntil: until,
    pendingFor: { [whole.id]: until.toISOString() }
  })
  // Its own order was edited, and is for less now.
  await b.world.advance(HOUR)
  await readUnpaid(b, { ...less, id: whole.id }, 'PENDING')
  expect(await stateAfter(MINUTE, placed)).toBe('timed_out')
})

test('a payment that was pending, was taken for something else and went back, holds nothing', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed)
  await readUnpaid(b, paid, 'PENDING')
  const edited = { ...b.paymentFor(placed, { lines: { '11': 8 } }), id: paid.id }
  expect(await b.tell('orders/paid', edited)).toBe('lines_missing')
  expect(await b.refund(paid, '20.00')).toBe('refunded')
  await b.world.advance(HOUR)
  await readUnpaid(b, edited, 'REFUNDED')
  expect(await stateAfter(MINUTE, placed)).toBe('timed_out')
})

test('an order that was held before its checkouts were recorded is let go of as before', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed)
  await readUnpaid(b, paid, 'PENDING')
  await b.db().update(orders).set({ pendingFor: {} }).where(eq(orders.id, placed.id))
  await b.world.advance(HOUR)
  await readUnpaid(b, paid, 'VOIDED')
  expect(await stateAfter(MINUTE, placed)).toBe('timed_out')
})
