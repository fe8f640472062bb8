import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { unpaidRetention } from '../inbox/index.ts'
import { endGraces, expireOrders } from '../delivery/index.ts'
import { sql } from '../../infra/db/drizzle.ts'
import { type OrderRow, timeOutOrders } from '../orders/index.ts'
import { startBooks, type Books, type Paid } from '../payments/books.fixture.ts'
import { work } from './platform-orders.fixture.ts'
import { queueUnreadOrders } from './read-order.ts'
import { readUnpaid, reconcile, says } from './reconciling.fixture.ts'

let b: Books
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
beforeEach(async () => {
  b.world.platformOrders.known.clear()
})
afterAll(() => b?.world.close())

const TAKEN = { kind: 'SALE', status: 'SUCCESS' }
const FAILED = { kind: 'SALE', status: 'FAILURE' }
const PARTLY: { name: string; more: Record<string, number>; transactions: (typeof TAKEN & { after?: number })[] }[] = [
  { name: 'a gift card paid a part, and the rest failed', more: {}, transactions: [TAKEN, FAILED] },
  { name: 'our lines are paid, and others that were added are not', more: { '555': 1 }, transactions: [TAKEN, FAILED] },
  {
    name: 'a part of the authorised money was captured',
    more: {},
    transactions: [
      { kind: 'AUTHORIZATION', status: 'SUCCESS' },
      { kind: 'CAPTURE', status: 'SUCCESS', after: 0 }
    ]
  }
]

test.for(PARTLY)('an order that ends while the platform has a part of its money is open once: $name', async one => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed, { lines: { '11': 8, '901': 8, ...one.more } })
  expect(await b.tell('orders/create', { ...paid, financial_status: 'partially_paid' })).toBe('not_paid')
  await readUnpaid(b, paid, 'PARTIALLY_PAID', { transactions: one.transactions })
  expect(await b.openOf(paid)).toEqual([])
  for (let hours = 0; hours < 3; hours++) {
    await b.world.advance(HOUR)
    await timeOutOrders(b.world.shop.ctx)
    await reconcile(b)
    await queueUnreadOrders(b.world.shop.ctx)
    await work(b.world)
  }
  expect((await b.world.row(placed.id)).state).toBe('timed_out')
  const [open, ...others] = await b.openOf(paid)
  expect(others).toEqual([])
  expect(open).toMatchObject({ outcome: 'part_paid', order: placed.publicId, platform_order: paid.name })
  expect(open?.params['amount']).toBe('20.00 USD')
  const clean = () => command(b.world.shop.ctx, SYSTEM, unit => unpaidRetention.remove(unit, b.now(), 1000))
  await clean()
  expect(await b.world.row(placed.id)).toMatchObject({ state: 'timed_out' })
  expect(await b.act(open, 'ignore', { note: 'given back' })).toMatchObject({ code: 2000 })
  await clean()
  await expect(b.world.row(placed.id)).rejects.toThrow()
})

test('a part of the money for an order that is cancelled is open until the rest is paid', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed)
  await readUnpaid(b, paid, 'PARTIALLY_PAID', { transactions: [TAKEN, FAILED] })
  expect(await b.buyer.post(`/api/orders/order_list/${placed.id}/cancel/`, {})).toMatchObject({ code: 2000 })
  await reconcile(b)
  expect((await b.openOf(paid)).map(({ outcome }) => outcome)).toEqual(['part_paid'])
  expect(await b.tell('orders/paid', paid)).toBe('settled')
  expect(await b.openOf(paid)).toEqual([])
})

test('a part of the money for an order that ended is closed once it went back', async () => {
  const placed = await b.world.place(b.buyer)
  const paid = b.paymentFor(placed)
  await readUnpaid(b, paid, 'PARTIALLY_PAID', { transactions: [TAKEN, FAILED] })
  expect(await b.buyer.post(`/api/orders/order_list/${placed.id}/cancel/`, {})).toMatchObject({ code: 2000 })
  await reconcile(b)
  expect(await b.openOf(paid)).toMatchObject([{ outcome: 'part_paid' }])
  await b.refund(paid, '8.00')
  expect(await b.openOf(paid)).toEqual([])
})

const REST = { kind: 'SALE', status: 'PENDING' }
const outcomes = async (paid: Paid) => (await b.openOf(paid)).map(({ outcome }) => outcome)

/** A day in a shop where others buy, so that the reconciliation reads an order that did not change no more. */
async function busyDay(): Promise<void> {
  says(b, b.paymentFor({ publicId: 'NL-aaaaaaaaaaaaaaaa' } as never), [], {})
  await b.world.advance(DAY)
  for (let run = 0; run < 3; run++) {
    await timeOutOrders(b.world.shop.ctx)
    await queueUnreadOrders(b.world.shop.ctx)
    await reconcile(b)
    await work(b.world)
    await b.world.advance(5 * MINUTE)
  }
}

const ENDS: { name: string; rest: typeof REST & { manualPaymentGateway?: boolean }; cancels: boolean }[] = [
  { name: 'it times out without the rest', rest: REST, cancels: false },
  { name: 'it times out without the deposit', rest: { ...REST, manualPaymentGateway: true }, cancels: false },
  { name: 'its customer cancels', rest: { ...REST, manualPaymentGateway: true }, cancels: true }
]

test.for(ENDS)('in a busy shop a gift card that paid a part of an order is open once $name', async one => {
  const placed = await b.world.place(await b.world.customer(one.name))
  const paid = b.paymentFor(placed)
  expect(await b.tell('orders/create', { ...paid, financial_status: 'partially_paid' })).toBe('not_paid')
  await readUnpaid(b, paid, 'PARTIALLY_PAID', { transactions: [TAKEN, one.rest] })
  await work(b.world)
  if (!one.cancels) for (let day = 0; day < 8; day++) await busyDay()
  else {
    await busyDay()
    await b.admin.post(`/api/orders/order_list/${placed.id}/cancel/`, {})
    await busyDay()
  }
  expect((await b.world.row(placed.id)).state).toBe(one.cancels ? 'cancelled' : 'timed_out')
  expect(await outcomes(paid)).toEqual(['part_paid'])
  expect(await b.world.row(placed.id)).toMatchObject({ pendingFor: {} })
})

test('a part that a gift card took is open once the buyer has paid at another checkout', async () => {
  const placed = await b.world.place(b.buyer)
  const part = b.paymentFor(placed)
  await readUnpaid(b, part, 'PARTIALLY_PAID', { transactions: [TAKEN, REST] })
  expect(await outcomes(part)).toEqual([])
  expect(await b.tell('orders/paid', b.paymentFor(placed))).toBe('settled')
  await busyDay()
  expect(await outcomes(part)).toEqual(['part_paid'])
})

test('a part of a renewal is open when its rest fails or does not come within a week, until it is paid', async () => {
  const { order } = await b.delivered()
  const failed = b.paymentFor(order, { renewal: true })
  await readUnpaid(b, failed, 'PARTIALLY_PAID', { transactions: [TAKEN, REST] })
  expect(await outcomes(failed)).toEqual([])
  await readUnpaid(b, failed, 'PARTIALLY_PAID', { transactions: [TAKEN, FAILED] })
  expect(await outcomes(failed)).toEqual(['part_paid'])
  expect(await b.tell('orders/paid', failed)).toBe('settled')
  expect(await outcomes(failed)).toEqual([])
  const late = b.paymentFor(order, { renewal: true })
  await readUnpaid(b, late, 'PARTIALLY_PAID', { transactions: [TAKEN, REST] })
  for (let day = 0; day < 8; day++) await busyDay()
  expect(await outcomes(late)).toEqual(['part_paid'])
})

test('a part of a renewal is open after its order and its grace have ended', async () => {
  const { order } = await b.delivered()
  await b.world.advance(29 * DAY)
  const renewal = b.paymentFor(order, { renewal: true })
  await readUnpaid(b, renewal, 'PARTIALLY_PAID', { transactions: [TAKEN, REST] })
  for (let day = 0; day < 10; day++) {
    await expireOrders(b.world.shop.ctx)
    await endGraces(b.world.shop.ctx)
    await busyDay()
  }
  expect((await b.world.row(order.id)).state).toBe('expired')
  expect(await outcomes(renewal)).toEqual(['part_paid'])
})

const UNHELD: {
  name: string
  before?: (order: OrderRow, paid: Paid) => Promise<unknown>
  half?: true
  after?: string
}[] = [
  { name: 'of a refunded order', before: (_, paid) => b.refund(paid, '20.00') },
  { name: 'of too few lines', half: true },
  { name: 'whose plan is withdrawn meanwhile', after: 'update variants set is_active = false' }
]

test.for(UNHELD)('a part of a renewal $name is open', async ({ before, half, after }) => {
  const { order, paid } = await b.delivered()
  await before?.(order, paid)
  const renewal = b.paymentFor(order, { renewal: true, ...(half && { lines: { '11': 4, '901': 4 } }) })
  await readUnpaid(b, renewal, 'PARTIALLY_PAID', { transactions: [TAKEN, REST] })
  if (after) await b.db().execute(sql.raw(after))
  for (let day = 0; day < 9; day++) await busyDay()
  await b.db().execute(sql`update variants set is_active = true`)
  expect(await outcomes(renewal)).toEqual(['part_paid'])
})

test('a part whose rest failed is open although another checkout held the order, and paid it later', async () => {
  const placed = await b.world.place(b.buyer)
  const [part, other] = [b.paymentFor(placed), b.paymentFor(placed)]
  await readUnpaid(b, part, 'PARTIALLY_PAID', { transactions: [TAKEN, REST] })
  await readUnpaid(b, other, 'PENDING', { transactions: [REST] })
  await readUnpaid(b, part, 'PARTIALLY_PAID', { transactions: [TAKEN, FAILED] })
  await busyDay()
  says(b, other, [], {})
  expect(await b.tell('orders/paid', other)).toBe('settled')
  await busyDay()
  expect(await outcomes(part)).toEqual(['part_paid'])
})

test('a part is open although it is read between the end of its hold and the job that times its order out', async () => {
  const placed = await b.world.place(b.buyer)
  const part = b.paymentFor(placed)
  await readUnpaid(b, part, 'PARTIALLY_PAID', { transactions: [TAKEN, REST] })
  for (let day = 0; day < 6; day++) await busyDay()
  const { reservedUntil } = await b.world.row(placed.id)
  await b.world.advance(reservedUntil.getTime() - b.now().getTime() + MINUTE)
  says(b, b.paymentFor({ publicId: 'NL-aaaaaaaaaaaaaaaa' } as never), [], {})
  await queueUnreadOrders(b.world.shop.ctx)
  await work(b.world)
  await busyDay()
  expect(await outcomes(part)).toEqual(['part_paid'])
})
