import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HOUR } from '../../infra/clock.ts'
import { report } from '../../testing/buying.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'
import { nextId, TOO_LITTLE, paidOrder, tell } from './event-outcome.fixture.ts'
import { raisedNotices } from '../../testing/raised-notices.ts'

let world: OrderShop
let buyer: Buyer
/** Starts at a full hour, because mails group payments by clock hour. */
let time = Date.parse('2026-05-15T12:00:00Z')

beforeAll(async () => {
  world = await startOrderShop({ ranges: ['127.95.0.0/24'], now: () => new Date(time) })
  buyer = await world.customer('buyer1')
  await world.admin('boss1')
  await world.admin('boss2')
}, 60_000)
afterAll(() => world?.close())

/** The notices to operators, one for each cause. */
async function notices(): Promise<{ key: string; text: string }[]> {
  const raised = (await raisedNotices(world.shop.ctx.db)).toReversed()
  return [...new Map(raised.map(one => [one.key, one])).values()].toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

const payCents = async (who: Buyer) => {
  const order = await world.place(who)
  expect(await tell(world.shop.ctx, 'orders/paid', paidOrder(order.publicId, '0.01', { lines: TOO_LITTLE }))).toBe(
    'lines_missing'
  )
}

test('who pays cents again and again has administrators mailed once an hour', async () => {
  const { ctx } = world.shop
  for (let n = 0; n < 5; n++) await payCents(buyer)
  expect(await notices()).toHaveLength(1)
  // Another customer, another kind of problem or another hour has its own notice.
  await payCents(await world.customer('buyer2'))
  expect(await notices()).toHaveLength(2)
  const order = await world.place(buyer)
  for (let n = 0; n < 2; n++) await tell(ctx, 'orders/paid', paidOrder(order.publicId, '20.00'))
  expect(await notices()).toHaveLength(3)
  time += HOUR
  await payCents(buyer)
  expect(await notices()).toHaveLength(4)
  // Payments that match no customer may come from different strangers.
  for (let n = 0; n < 2; n++) await tell(ctx, 'orders/paid', paidOrder(`NL-nobody-${n}`, '0.01'))
  const raised = await notices()
  expect(raised).toHaveLength(6)
  expect(raised.filter(({ text }) => text.includes('same customer'))).toHaveLength(4)
})

test('a long attribute, name or currency is cut before it stands in a mail, an outcome or a payment', async () => {
  const { ctx } = world.shop
  const long = 'x'.repeat(99) + '😀'.repeat(50_000)
  const event = { ...paidOrder(long, '1.00'), name: long, email: `${long}@example.com` }
  expect(await tell(ctx, 'orders/paid', event)).toBe('unknown_order')
  const order = await world.place(buyer)
  expect(await tell(ctx, 'orders/paid', { ...paidOrder(order.publicId, '1.00'), currency: long })).toBe(
    'wrong_currency'
  )
  const { rows } = await ctx.db.execute<{ longest: number }>(
    sql`select max(length(coalesce(detail::text, '') || coalesce(platform_order_name, ''))) as longest from platform_events`
  )
  expect(rows[0]?.longest).toBeLessThan(500)
  expect(Math.max(...(await notices()).map(({ text }) => text.length))).toBeLessThan(1000)
})

test.each([
  ['orders/paid', () => ({ ...paidOrder('NL-nobody', '1.00'), total_price: '-5.00' })],
  ['orders/paid', () => ({ ...paidOrder('NL-nobody', '1.00'), total_price: '99999999999999999999.00' })],
  ['orders/paid', () => ({ ...paidOrder('NL-nobody', '1.00'), total_discounts: '99999999999999999999.00' })],
  ['disputes/create', () => disputed('99999999999999999999.00')],
  ['disputes/create', () => disputed('-1.00')],
  ['refunds/create', () => refunded(['99999999999999999999.00'])],
  // Each amount fits, but their sum does not.
  ['refunds/create', () => refunded(Array.from({ length: 200 }, () => '9999999999.00'))]
])('an amount that is no sum of money leaves its event unreadable: %s %#', async (topic, payload) => {
  expect(await tell(world.shop.ctx, topic, payload())).toBe('unreadable')
})

const disputed = (amount: string) => ({
  id: nextId(),
  order_id: nextId(),
  type: 'chargeback',
  status: 'lost',
  amount,
  currency: 'USD'
})
const refunded = (amounts: string[]) => ({
  id: nextId(),
  order_id: nextId(),
  transactions: amounts.map(amount => ({ kind: 'refund', status: 'success', amount, currency: 'USD' }))
})

test('a payment whose attributes are as long as a checkout allows is taken, and longer ones are not', async () => {
  const { url } = world.shop
  const order = await world.place(buyer)
  const withAttributes = (count: number) => {
    const paid = paidOrder(order.publicId, '20.00')
    const long = Array.from({ length: count }, (_, n) => ({ name: `a${n}`, value: 'x'.repeat(100_000) }))
    return { ...paid, note_attributes: [...paid.note_attributes, ...long] }
  }
  expect(await report(url, withAttributes(50))).toBe(200)
  expect(await report(url, withAttributes(100))).toBe(413)
})
