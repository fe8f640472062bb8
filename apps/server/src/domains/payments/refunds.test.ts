import type { RefundPlan } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminNotices, buy, inState, outcomeOf, paidEvent, place, report, stockOf } from '../../testing/buying.ts'

import { DAY } from '../../infra/clock.ts'
import { compareFigures } from '../statements/books-check.ts'
import { reconcilePayments } from '../reconciliation/reconcile.ts'
import { startPaymentStack, type PaymentStack } from './stack.fixture.ts'
import { askRefund } from './ask-refund.fixture.ts'

let stack: PaymentStack['stack']
let shop: PaymentStack['shop']
let buyer: PaymentStack['buyer']
let admin: PaymentStack['admin']
let rule = 0
let one: PaymentStack['one']
let mine: PaymentStack['mine']

beforeAll(async () => {
  ;({ stack, shop, buyer, admin, rule, one, mine } = await startPaymentStack('127.29.0.0/25'))
}, 120_000)
afterAll(() => stack?.close())

// An order of 8 costs 21.60 on the platform, and brings 21 points.
const bought = () => buy(stack, buyer, 8, [rule])

/** Has the stand-in act on one of its orders. */
async function onPlatform(platformOrderId: string | null, what: 'refund' | 'cancel' | 'dispute', body: object = {}) {
  const reply = await fetch(`${stack.platform.url}/sandbox/orders/${platformOrderId}/${what}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  if (!reply.ok) throw new Error(await reply.text())
  return (await reply.json()) as { id: string }
}

const fault = (body: object) =>
  fetch(`${stack.platform.url}/sandbox/webhooks/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })

/** What an order holds: leases, served proxies, and users for agents. */
const held = (id: number) =>
  one(sql`select (select count(*)::int from leases where order_id = ${id} and state <> 'released') as leases,
    (select count(*)::int from proxies where order_id = ${id} and state <> 'retired') as proxies,
    (select count(*)::int from agent_users where order_id = ${id}) as users`)
const TOO_LITTLE = { leases: 0, proxies: 0, users: 0 }

const revenueOf = async (id: number) =>
  (
    await one(sql`select coalesce(sum(amount - refunded_amount), 0)::text as sum from payments
    where order_id = ${id} and accepted`)
  )['sum']

const levelPoints = async () => (await one(sql`select level_points as p from users where username = 'buyer1'`))['p']

const mailsOf = async (publicId: string) => {
  const { rows } = await stack.ctx.db.execute<{ template: string }>(sql`select data ->> 'template' as template
    from pgboss.job where name = 'send-mail' and data -> 'data' ->> 'order_id' = ${publicId}`)
  return rows.map(({ template }) => template)
}

const refunded = (platformOrderId: number, { id, amount, eventId }: { id: number; amount: string; eventId: string }) =>
  report(
    shop.url,
    { id, order_id: platformOrderId, transactions: [{ kind: 'refund', status: 'success', amount, currency: 'USD' }] },
    { topic: 'refunds/create', eventId }
  )

test.each([
  ['a full refund', 'refund', {}],
  ['a cancellation', 'cancel', {}],
  ['a chargeback that was opened', 'dispute', {}]
] as const)(
  '%s ends the lease, takes its points and its revenue back, and tells the customer',
  async (_name, what, body) => {
    const [stock, points] = [await stockOf(stack, [rule]), Number(await levelPoints())]
    const order = await bought()
    expect(await revenueOf(order.id)).toBe('21.60')
    expect(Number(await levelPoints())).toBe(points + 21)
    await onPlatform(order.shopify_order_id, what, body)
    await inState(stack, buyer, order.order_id, 'refunded')
    await stack.eventually('the addresses to come back', async () => (await held(order.id))['leases'] === 0)
    expect(await held(order.id)).toEqual(TOO_LITTLE)
    expect(await stockOf(stack, [rule])).toBe(stock)
    expect(await revenueOf(order.id)).toBe('0.00')
    expect(Number(await levelPoints())).toBe(points)
    expect(await mailsOf(order.order_id)).toContain('payment-refunded')
    expect(await compareFigures(stack.ctx.db)).toEqual([])
    const refused = await admin.post(`/api/orders/order_list/${order.id}/devery_order/`)
    expect(refused).toMatchObject({ status: 409, msg: 'This order has been refunded' })
    expect((await buyer.post(`/api/orders/order_list/${order.id}/reset_proxy_password/`)).status).toBe(409)
  }
)

test('a part is noted, and the operator decides; parts that add up to all end the lease, each told as often as it may be', async () => {
  const order = await bought()
  const id = Number(order.shopify_order_id)
  await refunded(id, { id: 901, amount: '5.00', eventId: 'part one' })
  expect(await outcomeOf(stack, 'part one', 'refunds/create')).toMatchObject({
    outcome: 'partly_refunded',
    detail: { order_id: order.order_id, amount: '5.00' }
  })
  await refunded(id, { id: 901, amount: '5.00', eventId: 'part one again' })
  expect(await outcomeOf(stack, 'part one again', 'refunds/create')).toMatchObject({ outcome: 'ignored' })
  expect(await mine(order.order_id)).toMatchObject({ state: 'delivered', delivery_num: 8 })
  expect(await revenueOf(order.id)).toBe('16.60')
  expect((await adminNotices(stack)).at(-1)).toContain('decide whether its lease continues')
  await refunded(id, { id: 902, amount: '16.60', eventId: 'the rest' })
  expect(await outcomeOf(stack, 'the rest', 'refunds/create')).toMatchObject({ outcome: 'refunded' })
  await inState(stack, buyer, order.order_id, 'refunded')
  expect(await revenueOf(order.id)).toBe('0.00')
  expect(await one(sql`select refunded_amount from orders where id = ${order.id}`)).toEqual({
    refunded_amount: '21.60'
  })
  expect(await compareFigures(stack.ctx.db)).toEqual([])
})

test('a refund that arrives before its payment keeps the payment from being delivered', async () => {
  const placed = (await place(stack, buyer, 8, [rule])).data
  const event = paidEvent({ publicId: placed.order_id, amount: '20.00' })
  await refunded(event.id, { id: 911, amount: '20.00', eventId: 'first the refund' })
  expect(await outcomeOf(stack, 'first the refund', 'refunds/create')).toMatchObject({ outcome: 'refunded' })
  await report(shop.url, event, { eventId: 'then the payment' })
  expect(await outcomeOf(stack, 'then the payment')).toMatchObject({ outcome: 'refunded' })
  expect(await mine(placed.order_id)).toMatchObject({ state: 'placed', pay_status: 0 })
})

test('a part that was given back before its payment came is noted, and the operator decides', async () => {
  const placed = (await place(stack, buyer, 8, [rule])).data
  const event = paidEvent({ publicId: placed.order_id, amount: '20.00' })
  await refunded(event.id, { id: 915, amount: '5.00', eventId: 'first a part' })
  expect(await outcomeOf(stack, 'first a part', 'refunds/create')).toMatchObject({ outcome: 'refunded' })
  await report(shop.url, event, { eventId: 'then its payment' })
  expect(await outcomeOf(stack, 'then its payment')).toMatchObject({
    outcome: 'partly_refunded',
    detail: { order_id: placed.order_id, amount: '5.00' }
  })
  const order = await inState(stack, buyer, placed.order_id, 'delivered')
  expect(await one(sql`select refunded_amount from orders where id = ${order.id}`)).toEqual({ refunded_amount: '5.00' })
  expect(await revenueOf(order.id)).toBe('15.00')
  expect(await compareFigures(stack.ctx.db)).toEqual([])
})

test('a refunded renewal takes its term off again; the purchase goes on', async () => {
  const order = await bought()
  const renewal = paidEvent({ publicId: order.order_id, amount: '18.00', renewal: true })
  await report(shop.url, renewal, { eventId: 'renewal' })
  expect(await outcomeOf(stack, 'renewal')).toMatchObject({ outcome: 'settled' })
  const renewed = await mine(order.order_id)
  expect(Date.parse(renewed.expired_at ?? '') - Date.parse(order.expired_at ?? '')).toBe(30 * DAY)
  const points = Number(await levelPoints())
  await refunded(renewal.id, { id: 921, amount: '18.00', eventId: 'renewal back' })
  expect(await outcomeOf(stack, 'renewal back', 'refunds/create')).toMatchObject({ outcome: 'refunded' })
  expect(await mine(order.order_id)).toMatchObject({ state: 'delivered', expired_at: order.expired_at })
  expect(Number(await levelPoints())).toBe(points - 18)
  expect(await revenueOf(order.id)).toBe('21.60')
})

test('a refunded purchase ends an order whose renewals were paid; the operator hears what is left to give back', async () => {
  const order = await bought()
  const renewal = paidEvent({ publicId: order.order_id, amount: '18.00', renewal: true })
  await report(shop.url, renewal, { eventId: 'served renewal' })
  expect(await outcomeOf(stack, 'served renewal')).toMatchObject({ outcome: 'settled' })
  await refunded(Number(order.shopify_order_id), { id: 931, amount: '21.60', eventId: 'purchase back' })
  expect(await outcomeOf(stack, 'purchase back', 'refunds/create')).toMatchObject({
    outcome: 'renewals_unserved',
    detail: { amount: '18.00 USD' }
  })
  await inState(stack, buyer, order.order_id, 'refunded')
  expect(await revenueOf(order.id)).toBe('18.00')
})

test('an inquiry takes nothing; a dispute that was lost counts once, and one that was won is shown', async () => {
  const order = await bought()
  const tell = (topic: 'disputes/create' | 'disputes/update', dispute: object, eventId: string) =>
    report(
      shop.url,
      { order_id: Number(order.shopify_order_id), amount: '21.60', currency: 'USD', ...dispute },
      { topic, eventId }
    )
  await tell('disputes/create', { id: 941, type: 'inquiry', status: 'needs_response' }, 'asked')
  expect(await outcomeOf(stack, 'asked', 'disputes/create')).toMatchObject({ outcome: 'inquiry' })
  expect(await mine(order.order_id)).toMatchObject({ state: 'delivered' })
  await tell('disputes/create', { id: 942, type: 'chargeback', status: 'under_review' }, 'taken')
  expect(await outcomeOf(stack, 'taken', 'disputes/create')).toMatchObject({ outcome: 'refunded' })
  await tell('disputes/update', { id: 942, type: 'chargeback', status: 'lost' }, 'lost')
  expect(await outcomeOf(stack, 'lost', 'disputes/update')).toMatchObject({ outcome: 'ignored' })
  await tell('disputes/update', { id: 942, type: 'chargeback', status: 'won' }, 'won')
  expect(await outcomeOf(stack, 'won', 'disputes/update')).toMatchObject({ outcome: 'dispute_won' })
  // Its lease has ended, and its money counts again.
  expect(await mine(order.order_id)).toMatchObject({ state: 'expired' })
  expect(await revenueOf(order.id)).toBe('21.60')
})

test('refunds, cancellations and payments whose webhook was lost are found by asking the platform, once', async () => {
  const [whole, part] = [await bought(), await bought()]
  await fault({ action: 'drop', next: 3 })
  await onPlatform(whole.shopify_order_id, 'cancel')
  await onPlatform(part.shopify_order_id, 'refund', { amount: '3.00' })
  // The cancellation, its refund, and the other refund.
  expect(await reconcilePayments(stack.ctx)).toBeGreaterThanOrEqual(3)
  await inState(stack, buyer, whole.order_id, 'refunded')
  await stack.eventually('the part to be noted', async () => (await revenueOf(part.id)) === '18.60')
  expect(await mine(part.order_id)).toMatchObject({ state: 'delivered' })
  await stack.eventually('nothing to be found', async () => (await reconcilePayments(stack.ctx)) === 0)
})

test('a lost payment is found with its lines; one of fewer lines falls short', async () => {
  const placed = (await place(stack, buyer, 8, [rule])).data
  const cart = await fetch(placed.checkout_url, { redirect: 'manual' })
  const token = new URL(cart.headers.get('location') ?? '', placed.checkout_url).pathname.split('/').at(-1)
  await fault({ action: 'drop' })
  await fetch(`${stack.platform.url}/sandbox/checkouts/${token}/pay`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ lines: [{ variantId: '72000000000101', quantity: 8 }] })
  })
  await reconcilePayments(stack.ctx)
  const failed = await inState(stack, buyer, placed.order_id, 'failed')
  expect(failed.fail).toMatchObject({ code: 'lines_missing', params: { missing: 'Rule 1: 0/8' } })
})

test('the console has the platform give back, once for many clicks; refused in the words of the platform', async () => {
  const order = await bought()
  const path = `/api/orders/order_list/${order.id}/refund/`
  expect((await buyer.post(path, { version: 'any' })).status).toBe(403)
  // Without the version of a plan, a repeated call would refund twice.
  expect((await admin.post(path, {})).status).toBe(400)
  expect(await askRefund(admin, order, { amount: '21.61' })).toMatchObject({
    status: 400,
    msg: 'You can refund at most $21.60 of this payment'
  })
  const { version } = (await admin.get<RefundPlan>(`${path}?amount=4.00`)).data
  const clicks = await Promise.all([1, 2, 3].map(() => admin.post(path, { amount: '4.00', version })))
  expect(clicks.filter(({ code }) => code === 2000)).toHaveLength(1)
  expect(clicks.filter(({ status }) => status === 409)).toHaveLength(2)
  await stack.eventually('the part to be noted', async () => (await revenueOf(order.id)) === '17.60')
  // The form was open while the part was refunded.
  expect(await admin.post(path, { version })).toMatchObject({
    status: 409,
    msg: 'This has changed since you opened it. Please review it and try again.'
  })
  expect(await askRefund(admin, order)).toMatchObject({ code: 2000, data: { amount: '17.60' } })
  await inState(stack, buyer, order.order_id, 'refunded')
  expect((await askRefund(admin, order)).status).toBe(409)

  // The platform refunded everything, and its webhook is still on its way.
  const other = await bought()
  await fault({ action: 'hold' })
  await onPlatform(other.shopify_order_id, 'refund')
  expect(await askRefund(admin, other)).toMatchObject({
    status: 503,
    msg: expect.stringContaining('Refund amount must be between')
  })
})

test('equal parts of a payment that brought none of the shop’s money are given back one after the other, up to all of it', async () => {
  const order = await bought()
  const platformOrder = order.shopify_order_id
  // Like a payment in another currency, which brings the shop nothing but was charged.
  await stack.ctx.db.execute(sql`update payments set amount = 0 where platform_order_id = ${platformOrder}`)
  for (const times of [1, 2]) {
    expect(await askRefund(admin, order, { amount: '4.00' })).toMatchObject({ code: 2000 })
    await stack.eventually('the part to be noted', async () => {
      const noted = await one(sql`select count(*)::int as parts from payment_refunds
        where platform_order_id = ${platformOrder} and state = 'counted'`)
      return noted['parts'] === times
    })
  }
  expect(await askRefund(admin, order, { amount: '13.61' })).toMatchObject({
    status: 400,
    msg: 'You can refund at most $13.60 of this payment'
  })
  expect(await askRefund(admin, order)).toMatchObject({ code: 2000, data: { amount: '13.60' } })
  await inState(stack, buyer, order.order_id, 'refunded')
})
