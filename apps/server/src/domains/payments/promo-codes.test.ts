import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { DAY, HOUR } from '../../infra/clock.ts'
import { expireOrders } from '../delivery/index.ts'
import type { OrderRow } from '../orders/index.ts'
import { wantedCode } from '../rewards/index.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'
import { nextId, TOO_LITTLE, paidOrder, tell, tellRefund } from './event-outcome.fixture.ts'

let world: OrderShop
let admin: Buyer
let buyer: Buyer
let order: OrderRow
let count = 0

beforeAll(async () => {
  world = await startOrderShop({ ranges: ['127.97.0.0/28', '127.97.1.0/28'] })
  admin = await world.admin('boss1')
}, 60_000)
afterAll(() => world?.close())
beforeEach(async () => {
  await world.endAll()
  buyer = await world.customer(`buyer${(count += 1)}`)
  order = await world.place(buyer)
  const form = { username: buyer.user.username, code: code(), discount: '5', code_type: 1 }
  expect((await admin.post('/api/rewards/coupon_code/', form)).code).toBe(2000)
})

const code = () => `CODE-${count}`
const isUsed = async () => {
  const { rows } = await world.shop.ctx.db.execute<{ used: boolean }>(
    sql`select is_used as used from coupons where code = ${code()}`
  )
  return rows[0]?.used
}
/** Moves the clock to so long after an order's expiry, and ends what is over. */
async function moveBy(expiredAt: Date | null, milliseconds: number): Promise<void> {
  const at = (expiredAt?.getTime() ?? 0) + milliseconds
  await world.advance(Math.max(0, at - world.shop.ctx.now().getTime()))
  await expireOrders(world.shop.ctx)
}
/** Pays with the code. @returns the platform's id of the payment */
async function pay(lines?: Record<string, number>, by = code().toLowerCase()): Promise<number> {
  const event = paidOrder(order.publicId, '10.00', lines ? { lines } : {})
  const discount_codes = [{ code: by, amount: '10.00', type: 'fixed_amount' }]
  await tell(world.shop.ctx, 'orders/paid', { ...event, discount_codes })
  return event.id
}

test('a code is free again when the payment that used it was given back before the delivery, once', async () => {
  const short = await pay(TOO_LITTLE)
  expect(await isUsed()).toBe(true)
  // An administrator decides about a partial refund.
  await tellRefund(world.shop.ctx, short, '4.00')
  expect(await isUsed()).toBe(true)
  await tellRefund(world.shop.ctx, short, '6.00')
  expect(await isUsed()).toBe(false)
  const right = await pay()
  expect(await isUsed()).toBe(true)
  // The same refund again, also by another event.
  await tellRefund(world.shop.ctx, short, '6.00')
  await tell(world.shop.ctx, 'orders/cancelled', { id: short, name: `#${short}`, financial_status: 'refunded' })
  expect(await isUsed()).toBe(true)
  // Nothing has been delivered yet.
  await tellRefund(world.shop.ctx, right, '10.00')
  expect(await world.row(order.id)).toMatchObject({ state: 'refunded' })
  expect(await isUsed()).toBe(false)
})

test('a code stays used when what it paid for was delivered', async () => {
  const paid = await pay()
  await world.confirm()
  await tellRefund(world.shop.ctx, paid, '10.00')
  expect(await world.row(order.id)).toMatchObject({ state: 'refunded' })
  expect(await isUsed()).toBe(true)
})

const RENEWALS = [
  { refunded: 'while the first term runs', after: 0, revived: false, used: false },
  { refunded: 'in its own days', after: 31 * DAY, revived: false, used: true },
  { refunded: 'after its own days', after: 61 * DAY, revived: false, used: true },
  { refunded: 'before its proxies are back', after: 30 * DAY + HOUR, revived: true, used: false }
]
test.for(RENEWALS)('of a renewal that is refunded $refunded, is the code used?', async ({ after, revived, used }) => {
  const { ctx } = world.shop
  const bought = paidOrder(order.publicId, '10.00')
  await tell(ctx, 'orders/paid', bought)
  await world.confirm()
  const { expiredAt } = await world.row(order.id)
  if (revived) await moveBy(expiredAt, HOUR / 2)
  const renewal = paidOrder(order.publicId, '10.00', { renewal: true })
  const discount_codes = [{ code: code(), amount: '10.00', type: 'fixed_amount' }]
  expect(await tell(ctx, 'orders/paid', { ...renewal, discount_codes })).toBe('settled')
  await moveBy(expiredAt, after - 30 * DAY)
  const dispute = { id: nextId(), order_id: renewal.id, type: 'chargeback', amount: '10.00', currency: 'USD' }
  await tell(ctx, 'disputes/create', { ...dispute, status: 'needs_response' })
  expect(await isUsed()).toBe(true)
  // The bank decides after the order has ended.
  await moveBy(expiredAt, 90 * DAY)
  await tell(ctx, 'disputes/update', { ...dispute, status: 'lost' })
  expect(await isUsed()).toBe(used)
})

test('a code stays used when a part of its order was delivered, even after a won dispute', async () => {
  const { ctx } = world.shop
  order = await world.place(buyer, 24)
  const paid = await pay({ '11': 24, '901': 24 })
  await world.confirm(world.serverIds.slice(0, 1))
  expect(await world.row(order.id)).toMatchObject({ state: 'partly_delivered' })
  const dispute = { id: nextId(), order_id: paid, type: 'chargeback', amount: '10.00', currency: 'USD' }
  for (const status of ['needs_response', 'won']) {
    await tell(ctx, 'disputes/update', { ...dispute, status })
    await world.confirm()
  }
  expect(await world.row(order.id)).toMatchObject({ state: 'expired', deliveryNum: 0, deliveredAt: null })
  await tellRefund(ctx, paid, '10.00')
  expect(await world.row(order.id)).toMatchObject({ state: 'refunded' })
  expect(await isUsed()).toBe(true)
})

test('a full refund makes the code usable again, even if a dispute was open at the time', async () => {
  const { ctx } = world.shop
  const paid = await pay(TOO_LITTLE)
  const dispute = { id: nextId(), order_id: paid, type: 'chargeback', amount: '10.00', currency: 'USD' }
  await tell(ctx, 'disputes/create', { ...dispute, status: 'needs_response' })
  expect(await isUsed()).toBe(true)
  await tellRefund(ctx, paid, '10.00')
  expect(await isUsed()).toBe(false)
  await tell(ctx, 'disputes/update', { ...dispute, status: 'won' })
  expect(await isUsed()).toBe(false)
})

test('a code is free again when a dispute is lost and not while it is open, and used again when it is won', async () => {
  const { ctx } = world.shop
  const chargeback = async (paid: number, id: number, status: string) =>
    tell(ctx, status === 'won' ? 'disputes/update' : 'disputes/create', {
      id,
      order_id: paid,
      type: 'chargeback',
      status,
      amount: '10.00',
      currency: 'USD'
    })
  const [paid, id] = [await pay(TOO_LITTLE), nextId()]
  await chargeback(paid, id, 'needs_response')
  expect(await isUsed()).toBe(true)
  await chargeback(paid, id, 'won')
  expect(await isUsed()).toBe(true)
  const [lost, other] = [await pay(TOO_LITTLE), nextId()]
  await chargeback(lost, other, 'needs_response')
  await tellRefund(ctx, paid, '10.00')
  expect(await isUsed()).toBe(true)
  for (let n = 0; n < 2; n++) await chargeback(lost, other, 'lost')
  expect(await isUsed()).toBe(false)
  await chargeback(lost, other, 'won')
  expect(await isUsed()).toBe(true)
  // At once lost, with no opening.
  const third = nextId()
  await chargeback(lost, third, 'lost')
  expect(await isUsed()).toBe(false)
  await chargeback(lost, third, 'won')
  expect(await isUsed()).toBe(true)
  // It was marked by hand, so no refund changes it.
  const list = await admin.get<{ data: { id: number; version: string }[] }>(
    `/api/rewards/coupon_code/?search=${code()}`
  )
  const [row] = list.data.data
  const form = { ...row, username: buyer.user.username, code: code(), discount: '5', code_type: 1 }
  const edited = await admin.put<{ version: string }>(`/api/rewards/coupon_code/${row?.id}/`, {
    ...form,
    is_used: false
  })
  expect(edited.code).toBe(2000)
  const again = { ...form, is_used: true, version: edited.data.version }
  expect((await admin.put(`/api/rewards/coupon_code/${row?.id}/`, again)).code).toBe(2000)
  await tellRefund(ctx, lost, '10.00')
  expect(await isUsed()).toBe(true)
})

test.for([
  { name: 'a dispute of a part, whose rest was refunded, is open', isFirst: false },
  { name: 'a dispute that was reported before the payment is open', isFirst: true }
])('a code stays used while $name, and is free once that is lost', async ({ isFirst }) => {
  const { ctx } = world.shop
  const discount_codes = [{ code: code(), amount: '10.00', type: 'fixed_amount' }]
  const event = { ...paidOrder(order.publicId, '10.00'), discount_codes }
  const [id, amount] = [nextId(), isFirst ? '10.00' : '6.00']
  const dispute = (status: string) =>
    tell(ctx, 'disputes/update', { id, order_id: event.id, type: 'chargeback', status, amount, currency: 'USD' })
  if (isFirst) await dispute('needs_response')
  await tell(ctx, 'orders/paid', event)
  if (!isFirst) await dispute('needs_response')
  if (!isFirst) await tellRefund(ctx, event.id, '4.00')
  expect(await isUsed()).toBe(true)
  await dispute('lost')
  expect(await isUsed()).toBe(false)
  await dispute('won')
  expect(await isUsed()).toBe(true)
})

test('a code that two payments name stays used until both were given back', async () => {
  const { ctx } = world.shop
  const other = order
  const held = await pay(TOO_LITTLE)
  order = await world.place(buyer)
  await pay()
  await world.confirm()
  expect((await world.row(order.id)).state).toBe('delivered')
  await tellRefund(ctx, held, '10.00')
  expect(await isUsed()).toBe(true)
  expect(await world.row(other.id)).toMatchObject({ state: 'placed' })
  // Neither payment has delivered anything, so refunding the first one frees nothing.
  const more = { username: buyer.user.username, code: `${code()}-B`, discount: '5', code_type: 1 }
  expect((await admin.post('/api/rewards/coupon_code/', more)).code).toBe(2000)
  const both: number[] = []
  for (let n = 0; n < 2; n++) {
    const event = paidOrder((await world.place(buyer)).publicId, '10.00', { lines: TOO_LITTLE })
    const discount_codes = [{ code: `${code()}-B`, amount: '10.00', type: 'fixed_amount' }]
    await tell(ctx, 'orders/paid', { ...event, discount_codes })
    both.push(event.id)
  }
  const isSecondUsed = async () =>
    (await ctx.db.execute<{ used: boolean }>(sql`select is_used as used from coupons where code = ${`${code()}-B`}`))
      .rows
  await tellRefund(ctx, both[0] ?? 0, '10.00')
  expect(await isSecondUsed()).toEqual([{ used: true }])
  await tellRefund(ctx, both[1] ?? 0, '10.00')
  expect(await isSecondUsed()).toEqual([{ used: false }])
})

test('a code of a payment that was given back before the shop heard of it is free again, once more', async () => {
  const { ctx } = world.shop
  const event = { ...paidOrder(order.publicId, '10.00'), financial_status: 'refunded' }
  const discount_codes = [{ code: code(), amount: '10.00', type: 'fixed_amount' }]
  expect(await tell(ctx, 'orders/paid', { ...event, discount_codes })).toBe('refunded')
  const { rows } = await ctx.db.execute(sql`select is_used, used_by, freed_by from coupons where code = ${code()}`)
  expect(rows).toEqual([{ is_used: false, used_by: [], freed_by: [String(event.id)] }])
})

const codeRow = async () => {
  const { db } = world.shop.ctx
  const { rows } = await db.execute<{ id: number; is_used: boolean }>(
    sql`select id, is_used from coupons where code = ${code()}`
  )
  return rows[0] ?? { id: 0, is_used: false }
}
/** How often the code should work on the platform, with the uses that it has counted. */
const uses = async () => (await wantedCode(world.shop.ctx.db, { kind: 'coupon', id: (await codeRow()).id }))?.uses
/** An administrator says whether the code is used. */
async function decide(is_used: boolean) {
  const path = `/api/rewards/coupon_code/${(await codeRow()).id}/`
  const form = { username: buyer.user.username, code: code(), discount: '5', code_type: 1, is_used }
  expect((await admin.put(path, form)).code).toBe(2000)
}

test('a code of a payment that names no order is used, and works once more after all was refunded', async () => {
  const { ctx } = world.shop
  const discount_codes = [{ code: code(), amount: '10.00', type: 'fixed_amount' }]
  const event = { ...paidOrder('NL-NOSUCHORDER0000', '10.00'), discount_codes }
  expect(await tell(ctx, 'orders/paid', event)).toBe('unknown_order')
  expect(await isUsed()).toBe(true)
  for (let times = 0; times < 2; times++) {
    await tellRefund(ctx, event.id, '10.00')
    expect(await isUsed()).toBe(false)
    expect(await uses()).toBe(2)
  }
  for (const used of [true, false]) await decide(used)
  expect(await uses()).toBe(2)
})

test.for(['is edited', 'is applied by hand'])(
  'a use that an administrator has freed counts once if its payment %s, and is refunded undelivered',
  async how => {
    const { ctx } = world.shop
    const discount_codes = [{ code: code(), amount: '10.00', type: 'fixed_amount' }]
    const right = { ...paidOrder(order.publicId, '10.00'), discount_codes, updated_at: '2030-01-01T00:00:00Z' }
    const short = { ...right, line_items: paidOrder('', '10.00', { lines: TOO_LITTLE }).line_items }
    expect(await tell(ctx, 'orders/paid', { ...short, updated_at: '2026-01-01T00:00:00Z' })).toBe('lines_missing')
    await decide(false)
    expect(await uses()).toBe(2)
    if (how === 'is edited') expect(await tell(ctx, 'orders/paid', right)).toBe('settled')
    else {
      const { data } = await admin.get<{ data: { id: number }[] }>('/api/payments/inbox/?unresolved=1')
      const path = `/api/payments/inbox/${data.data[0]?.id}/apply/`
      expect((await admin.post(path, { order: order.publicId })).code).toBe(2000)
    }
    await tellRefund(ctx, right.id, '10.00')
    expect(await world.row(order.id)).toMatchObject({ state: 'refunded' })
    expect(await uses()).toBe(2)
  }
)

test.each(['İNDİRİM', 'ΚΩΔΙΚΟΣ'])('%s is used by who pays by it, and a gift card with it by anybody', async word => {
  const { db } = world.shop.ctx
  const [own, card] = [`${word} ${count}`, `${count} ${word}`]
  const form = { username: buyer.user.username, code: own, discount: '5', code_type: 1 }
  expect((await admin.post('/api/rewards/coupon_code/', form)).code).toBe(2000)
  expect((await admin.post('/api/rewards/gift_card/', { mount: '5', code: card, point: 7 })).code).toBe(2000)
  await pay(undefined, own)
  order = await world.place(buyer)
  await pay(undefined, card)
  const { rows } = await db.execute(sql`select is_used from coupons where code = ${own}`)
  expect(rows).toEqual([{ is_used: true }])
  const { rows: cards } = await db.execute(sql`select platform_differs from gift_cards where code = ${card}`)
  expect(cards).toEqual([{ platform_differs: ['used'] }])
})
