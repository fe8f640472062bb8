import type { DecisionPlan, InboxDetail, InboxEntry, Page, PaymentDecision } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buy, inState, outcomeOf, paidEvent, PLAN_VARIANT, report, ruleVariant, stockOf } from '../../testing/buying.ts'
import type { TestClient } from '../../testing/client.ts'

import { DAY } from '../../infra/clock.ts'
import { isAboutMoney, platformEvents } from '../commerce/tables.ts'
import { timeOutOrders } from '../orders/index.ts'
import { compareFigures } from '../statements/books-check.ts'
import { countUnresolvedEvents } from './inbox.ts'
import { startPaymentStack, type PaymentStack } from '../payments/stack.fixture.ts'
import { addRow } from '../../testing/rows.ts'

let stack: PaymentStack['stack']
let shop: PaymentStack['shop']
let buyer: PaymentStack['buyer']
let admin: PaymentStack['admin']
let rule = 0
let one: PaymentStack['one']
let placed: PaymentStack['placed']
let mine: PaymentStack['mine']

beforeAll(async () => {
  ;({ stack, shop, buyer, admin, rule, one, placed, mine } = await startPaymentStack('127.30.0.0/25'))
}, 120_000)
afterAll(() => stack?.close())

const INBOX = '/api/payments/inbox/'

const entries = async (query: string) => (await admin.get<Page<InboxEntry>>(`${INBOX}?limit=100&${query}`)).data.data

const cookiesOf = ({ cookies }: TestClient) => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')

const planned = (entry: InboxEntry, action: PaymentDecision, order?: string) =>
  admin.get<DecisionPlan>(`${INBOX}${entry.id}/plan/?action=${action}${order ? `&order=${order}` : ''}`)

let count = 0
/** Reports a payment, waits until it is handled, and returns its inbox entry. */
async function reported(event: ReturnType<typeof paidEvent>): Promise<InboxEntry> {
  count += 1
  const eventId = `inbox-${count}`
  await report(shop.url, event, { eventId })
  await outcomeOf(stack, eventId)
  const [entry] = await entries(`search=${event.id}`)
  if (!entry) throw new Error('the event is not listed')
  return entry
}

const act = (entry: InboxEntry, action: 'apply' | 'refunded' | 'ignore', body: object) =>
  admin.post(`${INBOX}${entry.id}/${action}/`, { version: entry.version, ...body })

const kindsOf = async (publicId: string) => {
  const { rows } = await stack.ctx.db.execute<{ kind: string }>(sql`select e.kind from order_events e
    join orders o on o.id = e.order_id where o.order_id = ${publicId} order by e.id`)
  return rows.map(({ kind }) => kind)
}

test('every event about money is listed with its outcome, found by either number, and as CSV', async () => {
  const order = await buy(stack, buyer, 8, [rule])
  const [settled] = await entries(`search=${order.order_id}`)
  expect(settled).toMatchObject({
    outcome: 'settled',
    unresolved: false,
    order_id: order.id,
    username: 'buyer1',
    payment: 'accepted',
    charged: order.pay_amount,
    currency: 'USD'
  })
  const number = order.shopify_order_number ?? ''
  for (const typed of [number, number.replace('#', '')])
    expect(await entries(`search=${encodeURIComponent(typed)}`)).toEqual([settled])
  const csv = await fetch(`${shop.url}${INBOX}?format=csv`, { headers: { cookie: cookiesOf(admin) } })
  expect(await csv.text()).toContain(order.order_id)
  expect((await buyer.get(INBOX)).status).toBe(403)
  expect(await act(settled as InboxEntry, 'ignore', { note: 'nothing' })).toMatchObject({ status: 409 })
})

test('a payment that names no order is applied to one that was not paid, once for many clicks', async () => {
  const { order_id } = await placed()
  const entry = await reported(paidEvent({ publicId: 'NL-nobody', amount: '18.50' }))
  expect(entry).toMatchObject({ outcome: 'unknown_order', unresolved: true, payment: 'held', order_id: null })
  expect(await act(entry, 'apply', { order: 'NL-nowhere' })).toMatchObject({
    status: 404,
    data: { errors: { order: 'There is no order NL-nowhere' } }
  })
  expect(await planned(entry, 'apply', 'NL-nowhere')).toMatchObject({ status: 404 })
  expect((await planned(entry, 'apply', order_id)).data).toMatchObject({
    does: 'delivers',
    order: order_id,
    proxies: 8,
    days: 30,
    money: [{ amount: '18.50', currency: 'USD' }]
  })
  // The term includes days that were added before the delivery.
  const addDays = (days: number) =>
    stack.ctx.db.execute(sql`update orders set extra_days = ${days} where order_id = ${order_id}`)
  await addDays(15)
  expect((await planned(entry, 'apply', order_id)).data).toMatchObject({ does: 'delivers', days: 45 })
  await addDays(0)
  // A plan changes nothing.
  expect(await mine(order_id)).toMatchObject({ state: 'placed', pay_status: 0 })
  const clicks = await Promise.all([1, 2, 3, 4].map(() => act(entry, 'apply', { order: order_id })))
  expect(clicks.filter(({ code }) => code === 2000)).toHaveLength(1)
  expect(clicks.filter(({ status }) => status === 409)).toHaveLength(3)
  expect(await inState(stack, buyer, order_id, 'delivered')).toMatchObject({ pay_amount: '18.50' })
  const [after] = await entries(`search=${entry.platform_order_id}`)
  expect(after).toMatchObject({
    unresolved: false,
    resolution: 'applied',
    resolved_by: 'boss1',
    order: order_id,
    payment: 'accepted'
  })
  expect(await kindsOf(order_id)).toContain('payment_applied')
  expect(
    await one(sql`select count(*)::int as entries from audit_log where action = 'platform_event.apply'
      and target_id = ${String(entry.id)}`)
  ).toEqual({ entries: 1 })
  expect(await compareFigures(stack.ctx.db)).toEqual([])
})

test('money that another event reports again is recognised in every state', async () => {
  const event = paidEvent({ publicId: 'NL-nobody', amount: '5.00' })
  const entry = await reported(event)
  await report(shop.url, event, { eventId: 'told again' })
  expect(await outcomeOf(stack, 'told again')).toMatchObject({ outcome: 'ignored' })
  expect((await act(entry, 'ignore', { note: 'a mistake of the buyer' })).code).toBe(2000)
  expect(await entries(`search=${event.id}&unresolved=1`)).toEqual([])
})

test('a second payment becomes a renewal, is marked refunded, or ignored with a reason', async () => {
  const order = await buy(stack, buyer, 8, [rule])
  const twice = () => reported(paidEvent({ publicId: order.order_id, amount: '20.00' }))
  const renewal = await twice()
  expect(renewal).toMatchObject({ outcome: 'paid_twice', unresolved: true, payment: 'held' })
  const plan = (await planned(renewal, 'apply', order.order_id)).data
  expect(plan).toMatchObject({ does: 'renews', days: 30, proxies: 0 })
  expect(await act(renewal, 'apply', { order: order.order_id, plan: 'of another day' })).toMatchObject({ status: 409 })
  expect(await mine(order.order_id)).toMatchObject({ expired_at: order.expired_at })
  expect((await act(renewal, 'apply', { order: order.order_id, plan: plan.version })).code).toBe(2000)
  const renewed = await mine(order.order_id)
  expect(Date.parse(renewed.expired_at ?? '') - Date.parse(order.expired_at ?? '')).toBe(30 * DAY)

  const back = await twice()
  expect((await act(back, 'refunded', { note: '' })).status).toBe(400)
  expect((await planned(back, 'refunded')).data).toMatchObject({ does: 'nothing', order: order.order_id })
  expect((await act(back, 'refunded', { note: 'by hand' })).code).toBe(2000)
  const [given] = await entries(`search=${back.platform_order_id}`)
  expect(given).toMatchObject({ payment: 'refunded', resolution: 'refunded', resolution_note: 'by hand' })
  // The payment never counted, so its refund takes nothing off the order.
  const { rows: mails } = await stack.ctx.db.execute(sql`select data -> 'data' ->> 'ended' as ended
    from pgboss.job where name = 'send-mail' and data ->> 'key' like ${`refunded:${back.platform_order_id}:%`}`)
  expect(mails).toEqual([{ ended: 'uncounted' }])
  expect(await act({ ...back, version: given?.version ?? '' }, 'apply', { order: order.order_id })).toMatchObject({
    status: 409
  })
  // The platform refunds it too, which changes nothing more, but the money may have gone back twice.
  const told = { kind: 'refund', status: 'success', amount: '20.00' }
  const refund = { id: 951, order_id: Number(back.platform_order_id), transactions: [told] }
  await report(shop.url, refund, { topic: 'refunds/create', eventId: 'by hand told' })
  expect(await outcomeOf(stack, 'by hand told', 'refunds/create')).toMatchObject({ outcome: 'refunded_twice' })

  const left = await twice()
  expect((await act(left, 'ignore', { note: 'a tip' })).code).toBe(2000)
  expect(await kindsOf(order.order_id)).toEqual(
    expect.arrayContaining(['paid_again', 'renewed', 'payment_refunded', 'payment_ignored'])
  )
  expect(await mine(order.order_id)).toMatchObject({ state: 'delivered', expired_at: renewed.expired_at })
  expect(await compareFigures(stack.ctx.db)).toEqual([])
})

test('lines that fell short are shown beside those that are needed, and applying delivers the order', async () => {
  const { order_id } = await placed()
  const lines = { [PLAN_VARIANT]: 8, [ruleVariant(1)]: 3 }
  const entry = await reported(paidEvent({ publicId: order_id, amount: '10.00', lines }))
  const detail = await admin.get<InboxDetail>(`${INBOX}${entry.id}/`)
  expect(detail.data.lines.map(({ variant, quantity }) => [variant, quantity])).toEqual([
    [PLAN_VARIANT, 8],
    [ruleVariant(1), 3]
  ])
  expect(detail.data.needed).toEqual([
    { name: 'New York', quantity: 8, paid: 8 },
    { name: 'Rule 1', quantity: 8, paid: 3 }
  ])
  const other = await placed()
  expect(await act(entry, 'apply', { order: other.order_id })).toMatchObject({
    status: 409,
    msg: `This payment belongs to order ${order_id}. Deliver that order, or refund the payment.`
  })
  expect((await act(entry, 'apply', { order: order_id })).code).toBe(2000)
  await inState(stack, buyer, order_id, 'delivered')
  expect(await entries(`search=${entry.platform_order_id}&unresolved=1`)).toEqual([])
})

test("an order that was delivered from the orders' list needs no hand any more", async () => {
  const { order_id } = await placed()
  const before = await countUnresolvedEvents(stack.ctx.db)
  const entry = await reported(paidEvent({ publicId: order_id, amount: '1.00', lines: { [PLAN_VARIANT]: 8 } }))
  expect(await entries(`search=${order_id}&unresolved=1`)).toHaveLength(1)
  expect(await countUnresolvedEvents(stack.ctx.db)).toBe(before + 1)
  await admin.post(`/api/orders/order_list/${entry.order_id}/devery_order/`)
  await inState(stack, buyer, order_id, 'delivered')
  expect(await entries(`search=${order_id}&unresolved=1`)).toEqual([])
  // The health page and retention do not count it either.
  expect(await countUnresolvedEvents(stack.ctx.db)).toBe(before)
  expect(await act(entry, 'refunded', { note: 'too late' })).toMatchObject({ status: 409 })
})

test('applying without free addresses is refused and changes nothing', async () => {
  const { order_id } = await placed()
  await stack.ctx.db.execute(
    sql`update orders set reserved_until = now() - interval '1 second' where order_id = ${order_id}`
  )
  await timeOutOrders(stack.ctx)
  const rest = await placed(await stockOf(stack, [rule]))
  const entry = await reported(paidEvent({ publicId: 'NL-nobody', amount: '20.00' }))
  expect(await act(entry, 'apply', { order: order_id })).toMatchObject({ status: 409, msg: 'Out of stock' })
  expect(await mine(order_id)).toMatchObject({ state: 'timed_out', pay_status: 0 })
  expect((await entries(`search=${entry.platform_order_id}`))[0]).toMatchObject({ unresolved: true, payment: 'held' })
  await stack.ctx.db.execute(
    sql`update orders set reserved_until = now() - interval '1 second' where order_id = ${rest.order_id}`
  )
  await timeOutOrders(stack.ctx)
  expect((await act(entry, 'apply', { order: order_id })).code).toBe(2000)
  await inState(stack, buyer, order_id, 'delivered')
})

test('of two administrators who decide at once, one is told that it was decided', async () => {
  const { order_id } = await placed()
  const entry = await reported(paidEvent({ publicId: 'NL-nobody', amount: '20.00' }))
  const refund = { id: 961, order_id: Number(entry.platform_order_id), transactions: [] }
  const results = await Promise.all([
    act(entry, 'apply', { order: order_id }),
    act(entry, 'ignore', { note: 'no' }),
    act(entry, 'refunded', { note: 'back' }),
    report(shop.url, refund, { topic: 'refunds/create', eventId: 'nothing back' }).then(() => ({ code: 0 }))
  ])
  expect(results.filter(({ code }) => code === 2000)).toHaveLength(1)
  const [after] = await entries(`search=${entry.platform_order_id}&outcome=unknown_order`)
  expect(after).toMatchObject({ unresolved: false, resolution: expect.any(String) })
})

test('a refund of a payment that stands in the inbox closes it, and it can be applied no more', async () => {
  const entry = await reported(paidEvent({ publicId: 'NL-nobody', amount: '20.00' }))
  const transactions = [{ kind: 'refund', status: 'success', amount: '20.00' }]
  const refund = { id: 971, order_id: Number(entry.platform_order_id), transactions }
  await report(shop.url, refund, { topic: 'refunds/create', eventId: 'held back' })
  expect(await outcomeOf(stack, 'held back', 'refunds/create')).toMatchObject({ outcome: 'refunded' })
  const { order_id } = await placed()
  expect((await act(entry, 'apply', { order: order_id })).status).toBe(409)
  expect(await entries(`search=${entry.platform_order_id}&unresolved=1`)).toEqual([])
})

test('events of an outcome are read by its index among many others', async () => {
  const { rows } = await stack.ctx.db.transaction(async tx => {
    await tx.execute(sql`insert into platform_events (event_id, topic, payload, received_at, outcome, processed_at)
      select 'many' || n, 'orders/paid', '{}', now(), case when n % 2000 = 1 then 'dispute_won' else 'settled' end, now()
      from generate_series(1, 20000) n`)
    await tx.execute(sql`analyze platform_events`)
    const plan = await tx.execute<{ 'QUERY PLAN': string }>(sql`explain select id from platform_events
      where ${isAboutMoney(platformEvents.topic)} and outcome = 'dispute_won' order by id desc limit 11`)
    await tx.execute(sql`delete from platform_events where event_id like 'many%'`)
    return plan
  })
  expect(rows.map(row => row['QUERY PLAN']).join('\n')).toContain('platform_events_outcome')
})

test('an event that is not about money is shown while it waits, without a decision', async () => {
  const event = await addRow(stack.ctx, platformEvents, {
    eventId: 'of a product',
    topic: 'products/update',
    payload: {}
  })
  const detail = await admin.get<InboxDetail>(`${INBOX}${event.id}/`)
  expect(detail.data.entry).toMatchObject({ topic: 'products/update', unresolved: false })
  expect(await act(detail.data.entry, 'ignore', { note: 'nothing' })).toMatchObject({ status: 404 })
})
