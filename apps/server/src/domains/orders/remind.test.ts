import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { ORDERED } from '../../testing/ordered.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { setExpiry } from './edit-order.ts'
import { lockOrder, remindExpiries, renewOrder } from './index.ts'
import { orders } from './tables.ts'
import { addPlan, addRow } from '../../testing/rows.ts'

const END = Date.parse('2026-06-15T12:00:00Z')
let shop: TestShop
let plan: { userId: number; productId: number; variantId: number; serverGroupId: number }
let now = new Date(END)
let delivered = 0

beforeAll(async () => {
  shop = await startTestShop({ now: () => now })
  const { user } = await shop.customer()
  plan = { ...(await addPlan(shop.ctx)), userId: user.id }
})
afterAll(() => shop?.close())

/** A delivered order that ends at END. */
async function deliver(days: number): Promise<number> {
  const order = await addRow(shop.ctx, orders, {
    ...plan,
    publicId: `NL-${days}-days-${++delivered}`,
    ...ORDERED,
    proxyTime: days,
    rules: [1],
    proxyUsername: `ends-${days}-${delivered}`,
    lines: [],
    reservedUntil: new Date(END),
    state: 'delivered',
    paidAt: new Date(END),
    payAmount: '20.00',
    deliveredAt: new Date(END),
    expiredAt: new Date(END)
  })
  return order.id
}

/** The reminders after the job has run this many hours before the end. */
async function remindedAt(order: number, hours: number): Promise<string[]> {
  now = new Date(END - hours * HOUR)
  await remindExpiries(shop.ctx)
  const { rows } = await shop.ctx.db.execute<{ which: string }>(sql`
    select split_part(data ->> 'key', ':', 3) as which from pgboss.job
    where name = 'send-mail' and data ->> 'key' like ${`reminder:${order}:%`} order by created_on, id`)
  return rows.map(({ which }) => which)
}
const EARLIER = MINUTE / HOUR

test.each([
  [1, 8, null],
  [2, 16, 16 / 3],
  [3, 24, 8],
  [7, 56, 56 / 3],
  [9, 72, 24],
  [30, 72, 24],
  [365, 72, 24]
])('a term of %i days is reminded of %d hours before its end, and again %d hours before', async (days, first, last) => {
  const order = await deliver(days)
  expect(await remindedAt(order, first + EARLIER)).toEqual([])
  expect(await remindedAt(order, first)).toEqual(['first'])
  if (last === null) return expect(await remindedAt(order, EARLIER)).toEqual(['first'])
  expect(await remindedAt(order, last + EARLIER)).toEqual(['first'])
  expect(await remindedAt(order, last)).toEqual(['first', 'last'])
  expect(await remindedAt(order, EARLIER)).toEqual(['first', 'last'])
})

test('an order with both reminders due gets one mail, the last', async () => {
  expect(await remindedAt(await deliver(60), 12)).toEqual(['last'])
})

test('an order whose renewal is being paid is reminded of only if that payment fails', async () => {
  const order = await deliver(30)
  const pending = (until: Date | null) =>
    shop.ctx.db.update(orders).set({ pendingUntil: until }).where(eq(orders.id, order))
  await pending(new Date(END + HOUR))
  expect(await remindedAt(order, 72)).toEqual([])
  await pending(null)
  expect(await remindedAt(order, 71)).toEqual(['first'])
})

const MONTH = 30 * 24
const renew = (id: number) =>
  command(shop.ctx, SYSTEM, async unit => {
    const order = await lockOrder(unit, id)
    if (order) await renewOrder(unit, order, { amount: '20.00', platformOrderNumber: '#1', days: 30 })
  })
test.each([
  ['moved', (id: number) => setExpiry(shop.ctx, SYSTEM, id, { expired_at: END + MONTH * HOUR })],
  ['renewed', renew]
])('an end that was %s is reminded of twice again', async (_, prolong) => {
  const order = await deliver(30)
  expect(await remindedAt(order, 72)).toEqual(['first'])
  expect(await remindedAt(order, 24)).toEqual(['first', 'last'])
  await prolong(order)
  expect(await remindedAt(order, EARLIER)).toEqual(['first', 'last'])
  expect(await remindedAt(order, 72 - MONTH)).toEqual(['first', 'last', 'first'])
  expect(await remindedAt(order, 24 - MONTH)).toEqual(['first', 'last', 'first', 'last'])
})
