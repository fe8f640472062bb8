import type { RefundPlan } from '@netlet/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY, HOUR } from '../../infra/clock.ts'
import { expireOrders } from '../delivery/index.ts'
import type { OrderRow } from '../orders/index.ts'
import { startBooks, type Books, type Paid } from './books.fixture.ts'

let books: Books
beforeAll(async () => {
  books = await startBooks()
}, 120_000)
afterAll(() => books?.world.close())

const row = ({ id }: OrderRow) => books.world.row(id)
const planOf = async ({ id }: OrderRow, { id: platformOrder }: Paid) =>
  (await books.admin.get<RefundPlan>(`/api/orders/order_list/${id}/refund/?platform_order=${platformOrder}`)).data

async function renewed() {
  const { order } = await books.delivered()
  const renewal = books.paymentFor(order, { renewal: true })
  expect(await books.tell('orders/paid', renewal)).toBe('settled')
  return { order: await row(order), renewal }
}

/** Refunds the renewal. @returns how many days shorter the order became */
async function refund(order: OrderRow, renewal: Paid): Promise<number> {
  const before = await row(order)
  expect(await books.refund(renewal, '20.00')).toBe('refunded')
  const after = await row(order)
  return Math.ceil(((before.expiredAt?.getTime() ?? 0) - (after.expiredAt?.getTime() ?? 0)) / DAY)
}

test('a plan says that a lease ends at once if the refund of its renewal leaves no time', async () => {
  const { order, renewal } = await renewed()
  await books.world.advance(50 * DAY)
  expect(await planOf(order, renewal)).toMatchObject({ ends: 'term_and_lease', proxies: 8, days: 30, held_until: null })
  expect(await refund(order, renewal)).toBe(30)
  expect(await row(order)).toMatchObject({ state: 'expired', graceUntil: null })
})

test('a plan says until when the addresses of a lease that ends so are held', async () => {
  const { order, renewal } = await renewed()
  await books.world.advance(30 * DAY + HOUR)
  const plan = await planOf(order, renewal)
  expect(plan).toMatchObject({ ends: 'term_and_lease', proxies: 8, days: 30, held_until: expect.any(String) })
  await refund(order, renewal)
  expect((await row(order)).graceUntil?.toISOString()).toBe(plan.held_until)
})

test.for([
  { shorter: 30, taken: 0, plan: { ends: 'nothing', days: 0 } },
  { shorter: 20, taken: 10, plan: { ends: 'term', days: 10 } },
  { shorter: 0, taken: 30, plan: { ends: 'term', days: 30 } }
])('a plan takes no more days than are left of a renewal shortened by $shorter', async ({ shorter, taken, plan }) => {
  const { order, renewal } = await renewed()
  const ends = order.expiredAt ?? new Date(0)
  const form = { expired_at: ends.getTime() - shorter * DAY, ends_at: ends.toISOString() }
  const path = `/api/orders/order_list/${order.id}/update_proxy_expired_at/`
  if (shorter > 0) expect(await books.admin.post(path, form)).toMatchObject({ code: 2000 })
  expect(await planOf(order, renewal)).toMatchObject({ ...plan, proxies: 0, held_until: null })
  expect(await refund(order, renewal)).toBe(taken)
  expect(await row(order)).toMatchObject({ state: 'delivered' })
})

test('a plan says that the addresses of an order in its grace are given back with a renewal', async () => {
  const { order, renewal } = await renewed()
  await books.world.advance(60 * DAY + HOUR)
  await expireOrders(books.world.shop.ctx)
  await books.world.confirm()
  expect(await planOf(order, renewal)).toMatchObject({ ends: 'grace', proxies: 0, days: 0, held_until: null })
  await refund(order, renewal)
  const { graceUntil } = await row(order)
  expect(graceUntil?.getTime()).toBeLessThan(books.now().getTime())
})

const refundBy = ({ id }: OrderRow, { id: platformOrder }: Paid, version: string) =>
  books.admin.post(`/api/orders/order_list/${id}/refund/`, { platform_order: String(platformOrder), version })

test('a refund that would now end more than its plan says must be confirmed again', async () => {
  // A held payment settled after its order was edited on the platform, and its order works.
  const placed = await books.world.place(books.buyer)
  const short = books.paymentFor(placed, { lines: { '11': 8 } })
  expect(await books.tell('orders/paid', short)).toBe('lines_missing')
  const held = await planOf(placed, short)
  expect(held).toMatchObject({ ends: 'failure', amount: '20.00' })
  const edited = { ...books.paymentFor(placed, { id: short.id }), updated_at: books.now().toISOString() }
  expect(await books.tell('orders/paid', edited)).toBe('settled')
  await books.world.confirm()
  // The refund of a renewal takes only days, until the term before it is over.
  const { order, renewal } = await renewed()
  const early = await planOf(order, renewal)
  expect(early).toMatchObject({ ends: 'term', days: 30 })
  const made = books.world.refundsMade.length
  const stale = { status: 409, data: { reason: 'stale' } }
  expect(await refundBy(placed, short, held.version)).toMatchObject(stale)
  await books.world.advance(31 * DAY)
  expect(await refundBy(order, renewal, early.version)).toMatchObject(stale)
  expect(books.world.refundsMade).toHaveLength(made)
  const late = await planOf(order, renewal)
  expect(late).toMatchObject({ ends: 'term_and_lease', proxies: 8 })
  expect(await refundBy(order, renewal, late.version)).toMatchObject({ code: 2000 })
})

test('a plan keeps its version while it says the same', async () => {
  const { order, renewal } = await renewed()
  const { version } = await planOf(order, renewal)
  await books.world.advance(10 * DAY)
  expect((await planOf(order, renewal)).version).toBe(version)
  expect(await refundBy(order, renewal, version)).toMatchObject({ code: 2000 })
})
