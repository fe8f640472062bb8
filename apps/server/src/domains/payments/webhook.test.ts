import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  adminNotices,
  inState,
  outcomeOf,
  paidEvent,
  pay,
  PLAN_VARIANT,
  report,
  ruleVariant,
  stockOf
} from '../../testing/buying.ts'
import { raisedNotices } from '../../testing/raised-notices.ts'

import type { Published } from '../../infra/change-feed.ts'
import { DAY } from '../../infra/clock.ts'
import { writeSettings } from '../settings/index.ts'
import { timeOutOrders } from '../orders/index.ts'
import { startPaymentStack, type PaymentStack } from './stack.fixture.ts'

let stack: PaymentStack['stack']
let shop: PaymentStack['shop']
let buyer: PaymentStack['buyer']
let admin: PaymentStack['admin']
let rule = 0
let one: PaymentStack['one']
let placed: PaymentStack['placed']
let mine: PaymentStack['mine']
let moved: PaymentStack['moved']

beforeAll(async () => {
  // 16 blocks of 8.
  ;({ stack, shop, buyer, admin, rule, one, placed, mine, moved } = await startPaymentStack('127.23.0.0/25'))
}, 120_000)
afterAll(() => stack?.close())

const sandbox = (path: string, body: unknown) =>
  fetch(`${stack.platform.url}/sandbox/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })

/** Templates of the customer's mails about an order's money. */
const customerMails = async (publicId: string) => {
  const { rows } = await stack.ctx.db.execute<{ template: string }>(sql`select data ->> 'template' as template
    from pgboss.job where name = 'send-mail' and data ->> 'template' like any (array['payment-%', 'renewal-%'])
    and data -> 'data' ->> 'order_id' = ${publicId} order by created_on`)
  return rows.map(row => row.template)
}

const tagsOf = async (platformOrderId: number) => {
  const { rows } = await stack.ctx.db.execute(sql`select data -> 'tags' as tags, data ->> 'note' as note
    from pgboss.job where name = 'tag-platform-order' and data ->> 'platformOrderId' = ${String(platformOrderId)}`)
  return rows
}

const expire = async (publicId: string) => {
  await stack.ctx.db.execute(
    sql`update orders set reserved_until = now() - interval '1 second' where order_id = ${publicId}`
  )
  await timeOutOrders(stack.ctx)
}

test('a forged webhook is refused and nothing is written', async () => {
  const { order_id } = await placed()
  const before = await one(sql`select (select count(*) from platform_events) as events,
    (select count(*) from payments) as payments, (select count(*) from pgboss.job where name = 'settle-payment') as jobs`)
  const event = paidEvent({ publicId: order_id, amount: '20.00' })
  expect(await report(shop.url, event, { secret: 'another secret' })).toBe(401)
  expect(await report(shop.url, event, { secret: '' })).toBe(401)
  expect(await report(shop.url, event, { headers: { 'x-shopify-hmac-sha256': '' } })).toBe(401)
  expect(await report(shop.url, event, { headers: { 'x-shopify-hmac-sha256': 'bm8=' } })).toBe(401)
  const bare = await buyer.post('/api/orders/pay_webhook', event, { 'x-shopify-topic': 'orders/paid' })
  expect(bare).toMatchObject({ status: 401, msg: 'The signature does not match' })
  // Signed by the platform, but not an event that the shop takes.
  expect(await report(shop.url, event, { headers: { 'x-shopify-topic': 'orders/updated' } })).toBe(400)
  expect(await report(shop.url, null)).toBe(400)
  const after = await one(sql`select (select count(*) from platform_events) as events,
    (select count(*) from payments) as payments, (select count(*) from pgboss.job where name = 'settle-payment') as jobs`)
  expect(after).toEqual(before)
  expect(await mine(order_id)).toMatchObject({ state: 'placed', pay_status: 0 })
  await expire(order_id)
})

test('one payment changes its order once: ten times at once, again later, and under other event ids', async () => {
  const { order_id, checkout_url } = await placed()
  await sandbox('webhooks/faults', { action: 'duplicate', next: 1, times: 10 })
  await pay(checkout_url)
  await inState(stack, buyer, order_id, 'delivered')
  const first = await moved(order_id)
  expect(first).toMatchObject({ payments: 1, changes: 1, leases: 1, grants: 1 })

  const { id } = await one(
    sql`select p.platform_order_id as id from payments p join orders o on o.id = p.order_id where o.order_id = ${order_id}`
  )
  const again = paidEvent({ publicId: order_id, amount: '20.00', id: Number(id) })
  const names = Array.from({ length: 6 }, (_, n) => `again-${n}`)
  const statuses = await Promise.all(names.map(eventId => report(shop.url, again, { eventId })))
  expect(statuses.every(status => status === 200)).toBe(true)
  for (const name of names) expect(await outcomeOf(stack, name)).toMatchObject({ outcome: 'ignored' })
  expect(await moved(order_id)).toEqual(first)
  expect(await report(shop.url, again, { eventId: 'again-0' })).toBe(200)
  expect(await moved(order_id)).toEqual(first)
})

test('a payment for nothing of ours changes nothing and is shown to an administrator', async () => {
  const mails = (await adminNotices(stack)).length
  expect(await report(shop.url, paidEvent({ publicId: 'NL-nobody', amount: '1.00' }), { eventId: 'unknown' })).toBe(200)
  expect(await outcomeOf(stack, 'unknown')).toEqual({ outcome: 'unknown_order', detail: { order_id: 'NL-nobody' } })
  expect(await report(shop.url, { no: 'order' }, { eventId: 'unreadable' })).toBe(200)
  expect(await outcomeOf(stack, 'unreadable')).toEqual({ outcome: 'unreadable', detail: null })
  const newMails = (await adminNotices(stack)).slice(mails)
  expect(newMails).toHaveLength(2)
  expect(newMails[0]).toContain('the payment names no order in this shop (order_id NL-nobody)')
  expect(newMails[1]).toContain('unreadable')
  const inChinese = (await raisedNotices(stack.ctx.db, 'zh-CN')).map(({ text }) => text).join('\n')
  expect(inChinese).toContain('：未对应本店的任何订单（order_id NL-nobody）。')
})

test('lines that fall short: not delivered, addresses kept and then given back, until an administrator accepts', async () => {
  const before = await stockOf(stack, [rule])
  const { order_id } = await placed()
  const lines = { [PLAN_VARIANT]: 7, [ruleVariant(1)]: 8 }
  const event = paidEvent({ publicId: order_id, amount: '20.00', lines })
  await report(shop.url, event, { eventId: 'short' })
  const missing = 'New York: 7/8'
  expect(await outcomeOf(stack, 'short')).toMatchObject({ outcome: 'lines_missing', detail: { order_id, missing } })
  const failed = await mine(order_id)
  expect(failed).toMatchObject({ state: 'failed', pay_status: 1, delivery_num: 0, is_expired: false, expired_at: null })
  expect(failed).toMatchObject({
    fail_reason: `Payment does not cover the order: ${missing}`,
    fail: { code: 'lines_missing', params: { missing } }
  })
  expect(await moved(order_id)).toMatchObject({ grants: 0, leases: 1 })
  expect((await adminNotices(stack)).at(-1)).toContain(
    `the payment for order ${order_id} is too small; missing: ${missing}`
  )
  expect(await customerMails(order_id)).toEqual(['payment-not-delivered'])
  expect(await tagsOf(event.id)).toEqual([
    { tags: ['delivery_fail'], note: `Payment does not cover the order: ${missing}` }
  ])
  expect(await stockOf(stack, [rule])).toBe(before - 8)
  await expire(order_id)
  expect(await stockOf(stack, [rule])).toBe(before)
  expect((await mine(order_id)).state).toBe('failed')

  expect((await buyer.post(`/api/orders/order_list/${failed.id}/devery_order/`)).status).toBe(403)
  const asked = await admin.post<{ status: string }>(`/api/orders/order_list/${failed.id}/devery_order/`)
  expect(asked.data).toMatchObject({ status: 'queued' })
  const delivered = await inState(stack, buyer, order_id, 'delivered')
  expect(delivered).toMatchObject({ delivery_num: 8, fail_reason: null, fail: null })
  // The term starts with the delivery, and the points are granted once.
  expect(Date.parse(delivered.expired_at ?? '') - stack.ctx.now().getTime()).toBeGreaterThan(30 * DAY - 60_000)
  expect(await moved(order_id)).toMatchObject({ grants: 1, payments: 1, leases: 1 })
  expect(await one(sql`select accepted from payments where platform_order_id = ${String(event.id)}`)).toEqual({
    accepted: true
  })
  await report(shop.url, event, { eventId: 'short again' })
  expect(await outcomeOf(stack, 'short again')).toMatchObject({ outcome: 'ignored' })
  expect(await moved(order_id)).toMatchObject({ grants: 1, payments: 1 })
  await stack.eventually('the task to end', async () => (await mine(order_id)).task === null)
})

test('a price that differs from ours fails no order: the lines count, and what was charged is the amount', async () => {
  const { order_id } = await placed()
  await stack.ctx.db.execute(sql`update variants set price = price + 5`)
  const event = paidEvent({ publicId: order_id, amount: '9.99', discount: '10.00' })
  await report(shop.url, event, { eventId: 'cheaper' })
  expect(await outcomeOf(stack, 'cheaper')).toEqual({ outcome: 'settled', detail: null })
  expect(await inState(stack, buyer, order_id, 'delivered')).toMatchObject({ amount: '20.00', pay_amount: '9.99' })
  expect(await customerMails(order_id)).toContain('payment-received')
  await stack.ctx.db.execute(sql`update variants set price = price - 5`)
})

test("a later edit of a rule's platform variant fails no purchase: the lines of the placing count, and today's for a renewal", async () => {
  const { order_id } = await placed()
  await stack.ctx.db.execute(sql`update acl_rules set platform_variant_id = '999' where id = ${rule}`)
  const lines = { [PLAN_VARIANT]: 8, [ruleVariant(1)]: 8 }
  await report(shop.url, paidEvent({ publicId: order_id, amount: '20.00', lines }), { eventId: 'old variant' })
  expect(await outcomeOf(stack, 'old variant')).toMatchObject({ outcome: 'settled' })
  await inState(stack, buyer, order_id, 'delivered')
  const today = { [PLAN_VARIANT]: 8, '999': 8 }
  for (const [eventId, bought, outcome] of [
    ['renew old', lines, 'purchase_not_sold'],
    ['renew today', today, 'settled']
  ] as const) {
    const renewal = paidEvent({ publicId: order_id, amount: '20.00', renewal: true, lines: bought })
    await report(shop.url, renewal, { eventId })
    expect(await outcomeOf(stack, eventId)).toMatchObject({ outcome })
  }
  await stack.ctx.db.execute(sql`update acl_rules set platform_variant_id = ${ruleVariant(1)} where id = ${rule}`)
  const half = paidEvent({ publicId: order_id, amount: '20.00', renewal: true, lines: { [PLAN_VARIANT]: 8 } })
  const before = await mine(order_id)
  await report(shop.url, half, { eventId: 'renew half' })
  expect(await outcomeOf(stack, 'renew half')).toMatchObject({ outcome: 'lines_missing' })
  expect(await mine(order_id)).toMatchObject({ state: 'delivered', expired_at: before.expired_at })
  expect(await customerMails(order_id)).toContain('renewal-confirmed')
  expect(await customerMails(order_id)).toContain('payment-not-renewed')
})

test('another currency settles nothing, and neither does a test payment unless the shop accepts them', async () => {
  const foreign = await placed()
  const event = paidEvent({ publicId: foreign.order_id, amount: '20.00', currency: 'VND' })
  await report(shop.url, event, { eventId: 'vnd' })
  expect(await outcomeOf(stack, 'vnd')).toMatchObject({
    outcome: 'wrong_currency',
    detail: { currency: 'VND', expected: 'USD' }
  })
  expect(await mine(foreign.order_id)).toMatchObject({
    state: 'failed',
    pay_amount: '0.00',
    fail: { code: 'wrong_currency' }
  })

  const tested = await placed()
  await writeSettings(stack.ctx, { accept_test_payments: false })
  await report(shop.url, paidEvent({ publicId: tested.order_id, amount: '20.00', test: true }), { eventId: 'test' })
  expect(await outcomeOf(stack, 'test')).toMatchObject({ outcome: 'test_payment' })
  await writeSettings(stack.ctx, { accept_test_payments: true })
  expect(await mine(tested.order_id)).toMatchObject({
    state: 'failed',
    pay_amount: '0.00',
    fail: { code: 'test_payment' }
  })
  const revenue = sql`select coalesce(sum(p.amount) filter (where p.accepted), 0) as revenue from payments p
    join orders o on o.id = p.order_id where o.order_id in (${foreign.order_id}, ${tested.order_id})`
  expect(await one(revenue)).toEqual({ revenue: '0' })

  // The right payment after a wrong one is delivered automatically.
  await report(shop.url, paidEvent({ publicId: tested.order_id, amount: '20.00' }), { eventId: 'real' })
  expect(await outcomeOf(stack, 'real')).toMatchObject({ outcome: 'settled' })
  expect(await inState(stack, buyer, tested.order_id, 'delivered')).toMatchObject({ pay_amount: '20.00' })
  await expire(foreign.order_id)
})

test('a paid event that says refunded or voided is not delivered; one that is not paid changes nothing', async () => {
  const { order_id } = await placed()
  for (const eventId of ['refunded', 'voided']) {
    await report(shop.url, paidEvent({ publicId: order_id, amount: '20.00', financial_status: eventId }), { eventId })
    expect(await outcomeOf(stack, eventId)).toMatchObject({ outcome: 'refunded' })
  }
  await report(shop.url, paidEvent({ publicId: order_id, amount: '20.00', financial_status: 'pending' }), {
    eventId: 'due'
  })
  expect(await outcomeOf(stack, 'due')).toMatchObject({ outcome: 'not_paid' })
  expect(await mine(order_id)).toMatchObject({ state: 'placed', pay_status: 0 })
  await expire(order_id)
})

test("a promo code becomes used if a paid order of its holder names it, and another holder's code does not", async () => {
  const { order_id } = await placed()
  const { uid } = await mine(order_id)
  await stack.ctx.db.execute(sql`insert into coupons (holder_id, code, code_type, discount, created_at) values
    (${uid}, 'Mine-10', 1, 10, now()), (${uid}, 'KEPT', 1, 10, now()),
    ((select id from users where username = 'boss1'), 'OTHERS', 1, 10, now())`)
  const event = paidEvent({ publicId: order_id, amount: '20.00' })
  const discount_codes = [
    { code: 'mine-10', amount: '1.00' },
    { code: 'OTHERS', amount: '1.00' }
  ]
  await report(shop.url, { ...event, discount_codes }, { eventId: 'code' })
  expect(await outcomeOf(stack, 'code')).toMatchObject({ outcome: 'settled' })
  const { rows } = await stack.ctx.db.execute(sql`select code, is_used from coupons order by code`)
  expect(rows).toEqual([
    { code: 'KEPT', is_used: false },
    { code: 'Mine-10', is_used: true },
    { code: 'OTHERS', is_used: false }
  ])
  await inState(stack, buyer, order_id, 'delivered')
})

test('a purchase whose cart kept the attribute of a renewal is delivered; a second one is held', async () => {
  const { order_id } = await placed()
  await report(shop.url, paidEvent({ publicId: order_id, amount: '20.00', renewal: true }), { eventId: 'early' })
  expect(await outcomeOf(stack, 'early')).toMatchObject({ outcome: 'settled' })
  const order = await inState(stack, buyer, order_id, 'delivered')
  // A second payment for the same order is held for a refund, and delivers nothing.
  const before = await moved(order_id)
  const { id, uid } = await mine(order_id)
  let heard: Published[] = []
  const stop = stack.ctx.changes.subscribe(event => void heard.push(...(event?.changes ?? [])))
  // Changes arrive in sequence: after a later change of that process, those of the delivery have come too.
  const key = { name: 'script', scopes: ['read'], password: 'Harbour#2026' }
  expect((await buyer.post('/api/users/api_keys/', key)).code).toBe(2000)
  await stack.eventually('the changes of before', async () => heard.some(one => one.resource === 'api_key'))
  heard = []
  await report(shop.url, paidEvent({ publicId: order_id, amount: '20.00' }), { eventId: 'twice' })
  expect(await outcomeOf(stack, 'twice')).toMatchObject({ outcome: 'paid_twice', detail: { order_id } })
  await stack.eventually('the change', async () => heard.some(one => one.resource === 'order' && one.id === id))
  stop()
  expect(heard.filter(one => one.resource === 'order')).toEqual([{ resource: 'order', id, userId: uid }])
  expect((await adminNotices(stack)).at(-1)).toContain('was already paid; refund #')
  expect(await moved(order_id)).toEqual({ ...before, payments: 2 })
  expect(await mine(order_id)).toMatchObject({ expired_at: order.expired_at, pay_amount: '20.00' })
})
