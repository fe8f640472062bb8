import type { InboxEntry, Page } from '@netlet/contract'
import { eq, sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { eventHandlers } from '../../workers.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { paidEvent } from '../../testing/buying.ts'
import { users } from '../accounts/tables.ts'
import { storeEvent } from '../commerce/index.ts'
import { handleEvent } from '../commerce/handle-event.ts'
import { platformEvents } from '../commerce/tables.ts'
import { announceDelivery } from '../delivery/announce.ts'
import { expireOrders } from '../delivery/index.ts'
import type { OrderRow } from '../orders/index.ts'
import { compareFigures } from './figures.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'
import { payments } from './tables.ts'

let world: OrderShop
let buyer: Buyer
let inviter: Buyer
let admin: Buyer

beforeAll(async () => {
  world = await startOrderShop()
  buyer = await world.customer('buyer')
  inviter = await world.customer('inviter')
  admin = await world.admin('boss')
  await db().update(users).set({ invitedBy: inviter.user.id }).where(eq(users.id, buyer.user.id))
}, 60_000)
afterAll(() => world?.close())
afterEach(async () => {
  // Whatever a test did: what is kept of the money is what the payments say.
  expect(await compareFigures(db())).toEqual([])
  await world.endAll()
})

const db = () => world.shop.ctx.db
const now = () => world.shop.ctx.now()
let serial = 0

/** Has the platform tell something. @returns what came of it */
async function tell(topic: keyof typeof eventHandlers, payload: unknown): Promise<string | null> {
  const eventId = `${topic} books-${++serial}`
  const { ctx } = world.shop
  await command(ctx, SYSTEM, unit => storeEvent(unit, { eventId, topic, payload }))
  await handleEvent(ctx, eventHandlers, eventId)
  const [event] = await ctx.db.select().from(platformEvents).where(eq(platformEvents.eventId, eventId))
  return event?.outcome ?? null
}

type Paid = ReturnType<typeof paidEvent>
const LINES = { '11': 8, '901': 8 }
const paymentFor = (order: OrderRow, more: Partial<Parameters<typeof paidEvent>[0]> = {}) =>
  paidEvent({ publicId: order.publicId, amount: '20.00', lines: LINES, ...more })

const dispute = ({ id }: Pick<Paid, 'id'>, status: string, more: object = {}) =>
  tell(status === 'needs_response' ? 'disputes/create' : 'disputes/update', {
    id: 7000 + (id % 1000),
    order_id: id,
    type: 'chargeback',
    status,
    amount: '20.00',
    currency: 'USD',
    ...more
  })

const refund = ({ id }: Pick<Paid, 'id'>, amount: string) =>
  tell('refunds/create', {
    id: ++serial,
    order_id: id,
    transactions: [{ kind: 'refund', status: 'success', amount, currency: 'USD' }]
  })

async function delivered(): Promise<{ order: OrderRow; paid: Paid }> {
  const placed = await world.place(buyer)
  const paid = paymentFor(placed)
  expect(await tell('orders/paid', paid)).toBe('settled')
  await world.confirm()
  return { order: await world.row(placed.id), paid }
}

const paymentRow = async ({ id }: Pick<Paid, 'id'>) => {
  const [payment] = await db()
    .select()
    .from(payments)
    .where(eq(payments.platformOrderId, String(id)))
  if (!payment) throw new Error('no such payment')
  return payment
}

/** What the buyer and its inviter have, and what the shop has earned. */
async function books() {
  const { rows } = await db().execute<{
    points: number
    coins: number
    owed: number
    rewards: number
    revenue: string
  }>(sql`
    select (select level_points from users where id = ${buyer.user.id}) as points,
      (select coins from users where id = ${inviter.user.id}) as coins,
      (select coins_owed from users where id = ${inviter.user.id}) as owed,
      (select level_points from users where id = ${inviter.user.id}) as rewards,
      (select coalesce(sum(amount - refunded_amount), 0)::text from payments where accepted) as revenue`)
  return rows[0]
}

const entriesOf = async ({ id }: Pick<Paid, 'id'>, query = '') =>
  (await admin.get<Page<InboxEntry>>(`/api/payments/inbox/?search=${id}&${query}`)).data.data
const openOf = (paid: Pick<Paid, 'id'>) => entriesOf(paid, 'needs_hand=1')
const act = (entry: InboxEntry | undefined, action: 'apply' | 'refunded' | 'ignore', body: object) =>
  admin.post(`/api/payments/inbox/${entry?.id}/${action}/`, { version: entry?.version, ...body })
const reopen = ({ id }: OrderRow) => admin.post(`/api/orders/order_list/${id}/reopen/`, {})

const daysLeft = ({ expiredAt }: OrderRow) => Math.round(((expiredAt?.getTime() ?? 0) - now().getTime()) / DAY)

const FATES = {
  opened: (paid: Paid) => dispute(paid, 'needs_response'),
  won: (paid: Paid) => dispute(paid, 'won')
}

test('a dispute that was won leaves the books as if it had never been; its order is reopened for the time that was left', async () => {
  const { order, paid } = await delivered()
  const before = await books()
  await world.advance(10 * DAY)
  expect(await FATES.opened(paid)).toBe('refunded')
  expect(await world.row(order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
  expect((await books())?.points).toBeLessThan(before?.points ?? 0)
  expect((await reopen(order)).status).toBe(409)
  await world.advance(40 * DAY)
  expect(await FATES.won(paid)).toBe('dispute_won')
  expect(await FATES.won(paid)).toBe('duplicate')
  expect(await dispute(paid, 'lost')).toBe('duplicate')
  expect(await books()).toEqual(before)
  expect(await paymentRow(paid)).toMatchObject({ accepted: true, refundedAt: null, refundedAmount: '0.00' })
  expect(await world.row(order.id)).toMatchObject({ state: 'expired', refundedAmount: '0.00' })
  expect(await openOf(paid)).toMatchObject([{ outcome: 'dispute_won', payment: 'accepted' }])

  await world.confirm()
  const clicks = await Promise.all([reopen(order), reopen(order)])
  expect(clicks.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([409, 2000])
  await world.confirm()
  const again = await world.row(order.id)
  expect(again).toMatchObject({ state: 'delivered', deliveryNum: 8 })
  // Of thirty days ten had been served.
  expect(daysLeft(again)).toBe(20)
  expect(await openOf(paid)).toEqual([])
  // Its time is over: it cannot be reopened once more.
  await world.advance(21 * DAY)
  await expireOrders(world.shop.ctx)
  expect((await reopen(order)).status).toBe(409)
})

test('a dispute whose end is told before its opening takes nothing', async () => {
  const { order, paid } = await delivered()
  const before = await books()
  expect(await FATES.won(paid)).toBe('ignored')
  expect(await FATES.opened(paid)).toBe('duplicate')
  expect(await books()).toEqual(before)
  expect(await world.row(order.id)).toMatchObject({ state: 'delivered' })
})

test('disputes of one payment again and again: opened, won, opened by another id, lost', async () => {
  const { order, paid } = await delivered()
  const before = await books()
  await FATES.opened(paid)
  await FATES.won(paid)
  expect(await dispute(paid, 'needs_response', { id: 8001 })).toBe('refunded')
  const lost = await books()
  expect(await world.row(order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
  expect(await openOf(paid)).toEqual([])
  expect(lost?.points).toBe((before?.points ?? 0) - 20)
  expect(await dispute(paid, 'won', { id: 8001 })).toBe('dispute_won')
  expect(await books()).toEqual(before)
})

test('what was refunded beside a dispute stays refunded when that is won', async () => {
  const whole = await delivered()
  await FATES.opened(whole.paid)
  await refund(whole.paid, '20.00')
  expect(await FATES.won(whole.paid)).toBe('ignored')
  expect(await world.row(whole.order.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })

  const part = await delivered()
  expect(await refund(part.paid, '5.00')).toBe('partly_refunded')
  expect(await dispute(part.paid, 'needs_response', { amount: '4.00' })).toBe('partly_refunded')
  expect(await paymentRow(part.paid)).toMatchObject({ refundedAmount: '9.00' })
  expect(await FATES.won(part.paid)).toBe('restored')
  expect(await paymentRow(part.paid)).toMatchObject({ refundedAmount: '5.00' })
  expect(await world.row(part.order.id)).toMatchObject({ state: 'delivered', refundedAmount: '5.00' })
})

test('a payment that came during its dispute is held when that was won, and can be applied', async () => {
  const placed = await world.place(buyer)
  const paid = paymentFor(placed)
  expect(await FATES.opened(paid)).toBe('refund_kept')
  expect(await tell('orders/paid', paid)).toBe('paid_back')
  expect(await FATES.won(paid)).toBe('dispute_won')
  const [open] = await openOf(paid)
  expect(open).toMatchObject({ outcome: 'dispute_won', payment: 'held' })
  expect(await act(open, 'apply', { order: placed.publicId })).toMatchObject({ code: 2000 })
  await world.confirm()
  expect(await world.row(placed.id)).toMatchObject({ state: 'delivered' })
  expect(await openOf(paid)).toEqual([])
})

test('a payment that fell short waits for an administrator again when its dispute was won', async () => {
  const placed = await world.place(buyer)
  const paid = paymentFor(placed, { lines: { '11': 8 } })
  expect(await tell('orders/paid', paid)).toBe('lines_missing')
  const before = await books()
  expect(await FATES.opened(paid)).toBe('refunded')
  expect(await openOf(paid)).toEqual([])
  expect(await FATES.won(paid)).toBe('dispute_won')
  expect(await books()).toEqual(before)
  // Its order waits for a payment: this one, where an administrator says so, or another.
  expect(await world.row(placed.id)).toMatchObject({ state: 'placed', payAmount: null, refundedAmount: '0.00' })
  const open = await openOf(paid)
  expect(new Set(open.map(({ outcome }) => outcome))).toEqual(new Set(['dispute_won', 'lines_missing']))
  expect(await act(open[0], 'apply', { order: placed.publicId })).toMatchObject({ code: 2000 })
  await world.confirm()
  expect(await world.row(placed.id)).toMatchObject({ state: 'delivered' })
  expect(await openOf(paid)).toEqual([])
})

test('the term of a renewal whose dispute was won is added again, also where the order has ended meanwhile', async () => {
  const { order } = await delivered()
  const renewal = paymentFor(order, { renewal: true })
  expect(await tell('orders/paid', renewal)).toBe('settled')
  const before = await books()
  const renewed = await world.row(order.id)
  expect(await FATES.opened(renewal)).toBe('refunded')
  expect((await world.row(order.id)).expiredAt).toEqual(order.expiredAt)
  expect(await FATES.won(renewal)).toBe('restored')
  expect(await world.row(order.id)).toMatchObject({ state: 'delivered', expiredAt: renewed.expiredAt })
  expect(await books()).toEqual(before)

  // 15 days of it are over when it is taken off: they are never served twice.
  await world.advance(45 * DAY)
  await dispute(renewal, 'needs_response', { id: 8101 })
  await expireOrders(world.shop.ctx)
  await world.confirm()
  expect(await world.row(order.id)).toMatchObject({ state: 'expired' })
  expect((await reopen(order)).status).toBe(409)
  expect(await dispute(renewal, 'won', { id: 8101 })).toBe('dispute_won')
  // Disputed once more before it is reopened, there is nothing to reopen.
  expect(await dispute(renewal, 'needs_response', { id: 8102 })).toBe('refunded')
  expect((await reopen(order)).status).toBe(409)
  expect(await dispute(renewal, 'won', { id: 8102 })).toBe('dispute_won')
  expect(await reopen(order)).toMatchObject({ code: 2000 })
  await world.confirm()
  expect(daysLeft(await world.row(order.id))).toBe(15)
  expect(await books()).toEqual(before)
})

test('a held payment is judged again by what the platform tells of it now', async () => {
  const placed = await world.place(buyer)
  const short = paymentFor(placed, { lines: { '11': 8, '901': 3 } })
  expect(await tell('orders/paid', short)).toBe('lines_missing')
  expect(await tell('orders/paid', short)).toBe('duplicate')
  const edited = { ...paymentFor(placed, { id: short.id, lines: { '11': 8, '901': 5 } }), total_price: '22.00' }
  expect(await tell('orders/paid', edited)).toBe('duplicate')
  expect(await world.row(placed.id)).toMatchObject({ state: 'failed', failParams: { missing: 'Rule 1: 5 of 8' } })
  const right = { ...paymentFor(placed, { id: short.id }), total_price: '25.00', updated_at: '2026-01-02T00:00:00Z' }
  expect(await tell('orders/paid', right)).toBe('settled')
  expect(await world.row(placed.id)).toMatchObject({ state: 'delivering', payAmount: '25.00' })
  expect(await paymentRow(short)).toMatchObject({ accepted: true, amount: '25.00', charged: '25.00' })
  expect(await openOf(short)).toEqual([])
  expect(await tell('orders/paid', right)).toBe('duplicate')
})

test('a report that is older than what was judged changes nothing; one that says cancelled gives the money back', async () => {
  const placed = await world.place(buyer)
  const short = { ...paymentFor(placed, { lines: { '11': 8 } }), updated_at: '2026-01-02T00:00:00Z' }
  expect(await tell('orders/paid', short)).toBe('lines_missing')
  const older = { ...paymentFor(placed, { id: short.id }), updated_at: '2026-01-01T00:00:00Z' }
  expect(await tell('orders/paid', older)).toBe('duplicate')
  expect(await world.row(placed.id)).toMatchObject({ state: 'failed' })
  const cancelled = { ...older, updated_at: '2026-01-03T00:00:00Z', cancelled_at: '2026-01-03T00:00:00Z' }
  expect(await tell('orders/paid', cancelled)).toBe('refunded')
  expect(await world.row(placed.id)).toMatchObject({ state: 'placed', paidAt: null })
})

test('a held renewal, and a payment that named no order, are settled when the platform tells of them rightly', async () => {
  const { order } = await delivered()
  const short = paymentFor(order, { renewal: true, lines: { '11': 8 } })
  expect(await tell('orders/paid', short)).toBe('renewal_lines_missing')
  expect(await openOf(short)).toHaveLength(1)
  expect(await tell('orders/paid', paymentFor(order, { renewal: true, id: short.id }))).toBe('settled')
  expect((await world.row(order.id)).expiredAt?.getTime()).toBe((order.expiredAt?.getTime() ?? 0) + 30 * DAY)
  expect(await openOf(short)).toEqual([])

  const placed = await world.place(buyer)
  const unknown = paidEvent({ publicId: 'NL-nobody', amount: '20.00', lines: LINES })
  expect(await tell('orders/paid', unknown)).toBe('unknown_order')
  expect(await tell('orders/paid', paymentFor(placed, { id: unknown.id }))).toBe('settled')
  expect(await openOf(unknown)).toEqual([])
})

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

test('a renewal that was given back while the order was refunded is no time that a reopening serves', async () => {
  const { order, paid } = await delivered()
  const renewal = paymentFor(order, { renewal: true })
  expect(await tell('orders/paid', renewal)).toBe('settled')
  expect(await FATES.opened(paid)).toBe('renewals_unserved')
  expect(await refund(renewal, '20.00')).toBe('refunded')
  expect(await FATES.won(paid)).toBe('dispute_won')
  await world.confirm()
  expect(await reopen(order)).toMatchObject({ code: 2000 })
  await world.confirm()
  expect(daysLeft(await world.row(order.id))).toBe(30)
})

test('an inquiry that was won keeps no chargeback of the same id from taking the money', async () => {
  const { order, paid } = await delivered()
  expect(await dispute(paid, 'needs_response', { type: 'inquiry' })).toBe('inquiry')
  expect(await dispute(paid, 'won', { type: 'inquiry' })).toBe('ignored')
  expect(await FATES.opened(paid)).toBe('refunded')
  expect(await world.row(order.id)).toMatchObject({ state: 'refunded' })
})

test('a part that was given back of a held payment counts on its order from when the payment does', async () => {
  const placed = await world.place(buyer)
  const paid = paymentFor(placed, { lines: { '11': 8 } })
  expect(await tell('orders/paid', paid)).toBe('lines_missing')
  expect(await refund(paid, '5.00')).toBe('refund_kept')
  const [open] = await openOf(paid)
  expect(await act(open, 'apply', { order: placed.publicId })).toMatchObject({ code: 2000 })
  expect(await world.row(placed.id)).toMatchObject({ refundedAmount: '5.00', payAmount: '20.00' })
  expect(await refund(paid, '15.00')).toBe('refunded')
  expect(await world.row(placed.id)).toMatchObject({ state: 'refunded', refundedAmount: '20.00' })
})
