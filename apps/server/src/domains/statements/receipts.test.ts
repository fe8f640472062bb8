import { fromCents, toCents, type Order, type Receipts } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApiKey } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import type { OrderRow } from '../orders/index.ts'
import { migrationStatements } from '../../testing/migrations.ts'
import { userActor } from '../../testing/session.ts'
import { TEST_PASSWORD } from '../../testing/shop.ts'
import { startOrderShop, type Buyer, type OrderShop } from '../payments/order-shop.fixture.ts'
import { payments } from '../payments/tables.ts'
import { TOO_LITTLE, paidOrder, tell, tellRefund } from '../payments/event-outcome.fixture.ts'

let world: OrderShop
let buyer: Buyer
let boss: Buyer
const LINES = { '11': 8, '901': 8 }

beforeAll(async () => {
  world = await startOrderShop({ ruleCount: 1 })
  buyer = await world.customer('payer1')
  boss = await world.admin('boss')
})
afterAll(() => world?.close())

const told = (topic: string, payload: object) => tell(world.shop.ctx, topic, payload)
const path = (id: number) => `/api/orders/order_list/${id}/receipts/`
const receiptsOf = async (id: number, by = buyer) => (await by.get<Receipts>(path(id))).data
async function shown(id: number): Promise<Order> {
  const list = await buyer.get<{ data: Order[] }>(`/api/orders/order_list/?id=${id}`)
  const [order] = list.data.data
  if (!order) throw new Error(`order ${id} is not listed`)
  return order
}
/** Pays with lines in the platform's words. @returns its id there */
async function pay(
  order: OrderRow,
  amount: string,
  more: { renewal?: boolean; discount?: string } = {}
): Promise<number> {
  const event = paidOrder(order.publicId, amount, { lines: LINES, ...more })
  const worded = event.line_items.map((line, at) =>
    at === 0
      ? { ...line, title: 'Plan', variant_title: 'Here', price: '2.00' }
      : { ...line, title: 'Rule 1', price: '0.50' }
  )
  expect(await told('orders/paid', { ...event, line_items: worded })).toBe('settled')
  await world.confirm()
  return event.id
}

test('a receipt says what was paid for, by the lines that the platform reported, with the discount and the total', async () => {
  const order = await world.place(buyer)
  expect(await receiptsOf(order.id)).toMatchObject({ receipts: [] })
  const id = await pay(order, '18.00', { discount: '2.00' })
  expect(await receiptsOf(order.id)).toEqual({
    shop: 'Netlet',
    order_id: order.publicId,
    username: 'payer1',
    email: buyer.user.email,
    product: 'Plan',
    variant: 'Here',
    rules: ['Rule 1'],
    quantity: 8,
    receipts: [
      {
        id: expect.any(Number),
        kind: 'purchase',
        platform_order: `#${id}`,
        paid_at: expect.any(String),
        days: 30,
        lines: [
          { title: 'Plan', variant: 'Here', quantity: 8, unit_price: '2.00', amount: '16.00' },
          { title: 'Rule 1', variant: null, quantity: 8, unit_price: '0.50', amount: '4.00' }
        ],
        currency: 'USD',
        discount: '2.00',
        total: '18.00',
        refunds: [],
        refunded: '0.00'
      }
    ],
    uncounted: []
  })
})

test('each renewal is a receipt of its own, and the order shows what its running term cost, not the sum', async () => {
  const order = await world.place(buyer)
  expect(await shown(order.id)).toMatchObject({ last_amount: order.amount, pay_amount: null })
  await pay(order, '20.00')
  expect(await shown(order.id)).toMatchObject({ last_amount: '20.00', pay_amount: '20.00' })
  const first = await pay(order, '17.50', { renewal: true })
  const second = await pay(order, '15.00', { renewal: true })
  expect(await shown(order.id)).toMatchObject({ last_amount: '15.00', pay_amount: '52.50' })
  const { receipts } = await receiptsOf(order.id)
  expect(receipts.map(({ kind, total }) => [kind, total])).toEqual([
    ['purchase', '20.00'],
    ['renewal', '17.50'],
    ['renewal', '15.00']
  ])
  // A part of the last one, then all of it: the term before runs again, with its own payment.
  await tellRefund(world.shop.ctx, second, '5.00')
  expect(await shown(order.id)).toMatchObject({ last_amount: '15.00' })
  await tellRefund(world.shop.ctx, second, '10.00')
  expect(await shown(order.id)).toMatchObject({ last_amount: '17.50', refunded_amount: '15.00' })
  await tellRefund(world.shop.ctx, first, '17.50')
  expect(await shown(order.id)).toMatchObject({ last_amount: '20.00' })
  const after = (await receiptsOf(order.id)).receipts
  expect(after.map(({ refunds, refunded }) => [refunds.map(({ amount }) => amount), refunded])).toEqual([
    [[], '0.00'],
    [['17.50'], '17.50'],
    [['5.00', '10.00'], '15.00']
  ])
})

test('a cancellation gives back what was left, and never more than was paid', async () => {
  const order = await world.place(buyer)
  const id = await pay(order, '20.00')
  await tellRefund(world.shop.ctx, id, '4.00')
  await told('orders/cancelled', {
    id,
    name: `#${id}`,
    financial_status: 'refunded'
  })
  const [receipt] = (await receiptsOf(order.id)).receipts
  expect(receipt).toMatchObject({ total: '20.00', refunded: '20.00' })
  expect(receipt?.refunds.map(({ amount }) => amount)).toEqual(['4.00', '16.00'])
})

test('a renewal whose dispute was won counts again: its receipt shows no refund, and its term is the running one', async () => {
  const order = await world.place(buyer)
  await pay(order, '20.00')
  const renewal = await pay(order, '16.00', { renewal: true })
  const dispute = { id: 66_001, order_id: renewal, type: 'chargeback', amount: '16.00', currency: 'USD' }
  await told('disputes/create', { ...dispute, status: 'needs_response' })
  expect(await shown(order.id)).toMatchObject({ last_amount: '20.00' })
  expect((await receiptsOf(order.id)).receipts.map(({ refunded }) => refunded)).toEqual(['0.00', '16.00'])
  await world.advance(60_000)
  await told('disputes/update', { ...dispute, status: 'won', finalized_on: world.shop.ctx.now().toISOString() })
  expect(await shown(order.id)).toMatchObject({ last_amount: '16.00' })
  expect((await receiptsOf(order.id)).receipts.map(({ refunded }) => refunded)).toEqual(['0.00', '0.00'])
})

test('a payment that did not count has no receipt, and is shown as what it is', async () => {
  const order = await world.place(buyer)
  expect(await told('orders/paid', paidOrder(order.publicId, '1.00', { lines: TOO_LITTLE }))).toBe('lines_missing')
  expect(await receiptsOf(order.id)).toMatchObject({
    receipts: [],
    uncounted: [{ state: 'held', kind: 'purchase', currency: 'USD', total: '1.00' }]
  })
  const paid = await world.place(buyer)
  await pay(paid, '20.00')
  // A second payment and a test payment are held.
  expect(await told('orders/paid', paidOrder(paid.publicId, '20.00', { lines: LINES }))).toBe('paid_twice')
  expect(
    await told('orders/paid', paidOrder(paid.publicId, '20.00', { lines: LINES, renewal: true, test: true }))
  ).toBe('test_payment')
  const { receipts, uncounted } = await receiptsOf(paid.id)
  expect(receipts).toHaveLength(1)
  expect(uncounted.map(({ kind, state }) => [kind, state])).toEqual([
    ['purchase', 'held'],
    ['renewal', 'held']
  ])
  const { db } = world.shop.ctx
  const [twice, test] = uncounted
  await db
    .update(payments)
    .set({ refundedAt: world.shop.ctx.now() })
    .where(eq(payments.id, twice?.id ?? 0))
  await db
    .update(payments)
    .set({ ignoredAt: world.shop.ctx.now() })
    .where(eq(payments.id, test?.id ?? 0))
  expect((await receiptsOf(paid.id)).uncounted.map(({ state }) => state)).toEqual(['refunded', 'ignored'])
})

test('what the lines say outlives the events that told it', async () => {
  const order = await world.place(buyer)
  await pay(order, '20.00')
  await world.shop.ctx.db.execute(sql`update platform_events set payload = '{}'`)
  const [receipt] = (await receiptsOf(order.id)).receipts
  expect(receipt?.lines).toHaveLength(2)
  const sum = receipt?.lines.reduce((cents, { amount }) => cents + toCents(amount), 0n) ?? 0n
  expect(fromCents(sum)).toBe(receipt?.total)
})

test('only their customer sees them: another customer and an operator get a not found', async () => {
  const order = await world.place(buyer)
  await pay(order, '20.00')
  const stranger = await world.customer('payer2')
  for (const by of [stranger, boss]) expect((await by.get(path(order.id))).status).toBe(404)
  expect((await buyer.get(path(999_999))).status).toBe(404)
  const keyed = async (scope: 'read' | 'renew') => {
    const made = await createApiKey(world.shop.ctx, userActor(buyer.user.id), {
      name: scope,
      scopes: [scope],
      password: TEST_PASSWORD
    })
    if (!made.ok) throw new Error(made.reason)
    const headers = { authorization: `Bearer ${made.data.key}` }
    return (await world.shop.app.inject({ url: path(order.id), headers })).statusCode
  }
  expect([await keyed('read'), await keyed('renew')]).toEqual([200, 403])
  await world.shop.ctx.db.update(users).set({ isActive: false }).where(eq(users.id, buyer.user.id))
  expect((await buyer.get(path(order.id))).status).toBe(401)
  await world.shop.ctx.db.update(users).set({ isActive: true }).where(eq(users.id, buyer.user.id))
})

test('old payments and orders get their lines and the amount of their running term from existing data', async () => {
  const { db } = world.shop.ctx
  const [plain, renewed, unpaid] = [await world.place(buyer), await world.place(buyer), await world.place(buyer)]
  await pay(plain, '20.00')
  await pay(renewed, '20.00')
  await pay(renewed, '16.00', { renewal: true })
  const amounts = async () =>
    Promise.all([plain, renewed, unpaid].map(async ({ id }) => (await world.row(id)).lastAmount))
  const lines = async () => {
    const rows = await db.select({ id: payments.id, lines: payments.lines }).from(payments).orderBy(payments.id)
    // The migration does not know the platform's variants.
    return rows.map(row => ({ ...row, lines: row.lines?.map(({ variant_id: _variant, ...line }) => line) }))
  }
  const [before, linesBefore] = [await amounts(), await lines()]
  expect(before).toEqual(['20.00', '16.00', null])
  await db.execute(sql`update orders set last_amount = null`)
  await db.execute(sql`update payments set lines = null`)
  const statements = migrationStatements('_order_labels_and_quotas.sql')
  const changes = statements.filter(statement => /^\s*(--.*\n)?\s*(UPDATE |ALTER .* TRIGGER )/.test(statement))
  expect(changes).toHaveLength(5)
  // In one transaction, as migrations run.
  await db.transaction(async tx => {
    for (const statement of changes) await tx.execute(sql.raw(statement))
  })
  expect(await amounts()).toEqual(before)
  const kept = (await lines()).slice(-3)
  expect(kept).toEqual(linesBefore.slice(-3))
  expect(kept[0]?.lines).toHaveLength(2)
})
