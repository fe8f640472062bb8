import type { InboxEntry, RefundPlan } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { DAY, MINUTE } from '../../infra/clock.ts'
import { paidEvent } from '../../testing/buying.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'
import { work } from '../reconciliation/platform-orders.fixture.ts'
import { one, tell, type Told } from './event-row.fixture.ts'
import { askRefund } from './ask-refund.fixture.ts'
import { WHOLE_REPLIES } from './refund-platform.fixture.ts'

let world: OrderShop
let buyer: Buyer
let boss: Buyer
let ids = 990_000

beforeAll(async () => {
  world = await startOrderShop({ ruleCount: 1 })
  buyer = await world.customer('buyer1')
  boss = await world.admin('boss1')
}, 120_000)
afterAll(() => world?.close())
afterEach(async () => {
  Object.assign(world.refundReplies, WHOLE_REPLIES)
})

const entryOf = async ({ id }: Pick<Told, 'id'>) =>
  (await boss.get<{ entry: InboxEntry }>(`/api/payments/inbox/${id}/`)).data.entry
const MINE = { unresolved: false, resolution: 'refunded', resolved_by: 'boss1' }
const NOBODYS = { unresolved: true, resolved_by: null }

/** A delivered order, with helpers for the money that paid for it. */
async function bought() {
  const order = await world.place(buyer)
  const paid = paidEvent({ publicId: order.publicId, amount: '20.00', lines: { '11': 8, '901': 8 } })
  await tell(world, 'orders/paid', paid)
  await world.confirm()
  const refunds = { id: 0, order_id: paid.id, transactions: [{ kind: 'refund', status: 'success', amount: '5.00' }] }
  return {
    plan: (amount = '', platform_order = '') =>
      boss.get(`/api/orders/order_list/${order.id}/refund/?amount=${amount}&platform_order=${platform_order}`),
    ask: (amount = '5.00', version?: string) => askRefund(boss, order, { amount, ...(version ? { version } : {}) }),
    told: (id = (ids += 1)) => tell(world, 'refunds/create', { ...refunds, id }),
    toldPending: (amount: string, id = (ids += 1)) =>
      tell(world, 'refunds/create', { ...refunds, id, transactions: [{ kind: 'refund', status: 'pending', amount }] })
  }
}

test('the refund that was asked for is the one that the platform answered, and no other of the same amount', async () => {
  const { ask, told } = await bought()
  expect(await ask()).toMatchObject({ code: 2000 })
  const own = world.refundsMade.at(-1)?.id
  expect(await entryOf(await told())).toMatchObject(NOBODYS)
  expect(await ask()).toMatchObject({ status: 409, data: { reason: 'refund_running' } })
  expect(await entryOf(await told(own))).toMatchObject(MINE)
  expect(await entryOf(await told())).toMatchObject(NOBODYS)
})

test('it is told before a refund how much goes back and what ends, and nothing is changed by asking', async () => {
  const { ask, plan, told } = await bought()
  const before = world.refundsMade.length
  const all = { currency: 'USD', ends: 'lease', proxies: 8, days: 0 }
  expect(await plan()).toMatchObject({ status: 200, data: { ...all, amount: '20.00' } })
  expect(await plan('5')).toMatchObject({ data: { amount: '5.00', ends: 'nothing', proxies: 0 } })
  expect(await plan('20.01')).toMatchObject({
    status: 400,
    data: { errors: { amount: 'You can refund at most $20.00 of this payment' } }
  })
  expect(await plan('', '%23none')).toMatchObject({ status: 409, data: { reason: 'order_without_payment' } })
  expect(world.refundsMade).toHaveLength(before)
  await ask()
  await told(world.refundsMade.at(-1)?.id)
  expect(await plan()).toMatchObject({ data: { ...all, amount: '15.00' } })
})

test('before and after a refund it is told what the platform only records, and the shop sends by hand', async () => {
  const { ask, plan } = await bought()
  expect(await plan('5')).toMatchObject({ data: { by_hand: null } })
  world.refundReplies.areManual = true
  expect(await plan('5')).toMatchObject({ data: { by_hand: '5.00 USD' } })
  expect(await ask()).toMatchObject({ code: 2000, data: { by_hand: '5.00 USD' } })
})

test('the plan of a refund is shown while the platform does not say how the order was paid', async () => {
  const { plan } = await bought()
  world.refundReplies.paymentsAreAway = true
  expect(await plan('5')).toMatchObject({ status: 200, data: { amount: '5.00', by_hand: null } })
})

test('an amount that is none is refused in words', async () => {
  const { ask, plan } = await bought()
  for (const bad of ['-1', 'abc', '1.234'])
    for (const call of [ask, plan])
      expect(await call(bad)).toMatchObject({
        status: 400,
        data: { errors: { amount: 'Must be an amount with at most 2 decimals' } }
      })
  expect(await ask('0')).toMatchObject({ status: 400, data: { errors: { amount: 'Must be more than 0' } } })
})

test('what is reported before the platform’s answer waits for it, and is the one that was asked for by its id alone', async () => {
  for (const isOwn of [true, false]) {
    const { ask, told } = await bought()
    let reported = 0
    world.refundReplies.before = async ({ id }) => {
      reported = isOwn ? id : (ids += 1)
      await expect(told(reported)).rejects.toThrow('has yet to answer')
    }
    expect(await ask()).toMatchObject({ code: 2000 })
    await work(world)
    const event = await one<{ id: number }>(
      world.shop.ctx,
      sql`select id::int from platform_events where payload ->> 'id' = ${String(reported)}`
    )
    expect(await entryOf(event)).toMatchObject(isOwn ? MINE : NOBODYS)
    world.refundReplies.before = undefined
    expect(await ask('1.00')).toMatchObject(isOwn ? { code: 2000 } : { status: 409 })
  }
})

test('if the answer was lost, the refund is recognised by its amount', async () => {
  const { ask, told } = await bought()
  world.refundReplies.as = 'half'
  expect(await ask()).toMatchObject({ status: 503, data: { reason: 'refund_unknown' } })
  world.refundReplies.as = 'whole'
  expect(await entryOf(await told())).toMatchObject(MINE)
  expect(await entryOf(await told())).toMatchObject(NOBODYS)
})

test('if the requesting process died before the answer, the report waits for two minutes and is recognised by its amount', async () => {
  const { ask, told } = await bought()
  expect(await ask()).toMatchObject({ code: 2000 })
  await world.shop.ctx.db.execute(
    sql`update payment_refunds set state = 'asked', key = 'asked:' || key where state = 'answered'`
  )
  const own = world.refundsMade.at(-1)?.id
  await expect(told(own)).rejects.toThrow('has yet to answer')
  await world.advance(2 * MINUTE)
  await work(world)
  const event = await one<{ id: number }>(
    world.shop.ctx,
    sql`select id::int from platform_events where payload ->> 'id' = ${String(own)}`
  )
  expect(await entryOf(event)).toMatchObject(MINE)
})

test('a pending refund blocks another request, and a failed one is made again', async () => {
  const { ask, plan, told } = await bought()
  const { version } = (await plan('5.00')).data as { version: string }
  expect(await ask()).toMatchObject({ code: 2000 })
  const first = world.refundsMade.at(-1)
  Object.assign(first ?? {}, { status: 'PENDING' })
  const made = world.refundsMade.length
  const params = { by: 'boss1', platform_order: expect.any(String) }
  for (const amount of ['5.00', '1.00']) {
    await world.advance(11 * MINUTE)
    expect(await ask(amount)).toMatchObject({ status: 409, data: { reason: 'refund_pending', params } })
  }
  expect(world.refundsMade).toHaveLength(made)
  // The bank rejects it, so the plan that was confirmed before is still valid.
  Object.assign(first ?? {}, { status: 'FAILURE' })
  expect(await ask('5.00', version)).toMatchObject({ code: 2000 })
  expect(world.refundsMade).toHaveLength(made + 1)
  expect(world.refundsMade.at(-1)?.id).not.toBe(first?.id)
  // So is the next one. The refund that is made in the end counts once.
  Object.assign(world.refundsMade.at(-1) ?? {}, { status: 'FAILURE' })
  await world.advance(11 * MINUTE)
  expect(await ask()).toMatchObject({ code: 2000 })
  expect(world.refundsMade).toHaveLength(made + 2)
  expect(await entryOf(await told(world.refundsMade.at(-1)?.id))).toMatchObject(MINE)
  expect(await plan()).toMatchObject({ data: { amount: '15.00' } })
})

test('a refund that the platform has made and that is not counted yet is not made again', async () => {
  const { ask, told } = await bought()
  expect(await ask()).toMatchObject({ code: 2000 })
  const made = world.refundsMade.length
  await world.advance(11 * MINUTE)
  const asked = world.platformOrders.asked
  expect(await ask('1.00')).toMatchObject({ status: 409, data: { reason: 'refund_uncounted' } })
  // The platform is asked at once.
  await work(world)
  expect(world.platformOrders.asked).toBe(asked + 1)
  expect(world.refundsMade).toHaveLength(made)
  expect(await entryOf(await told(world.refundsMade.at(-1)?.id))).toMatchObject(MINE)
  expect(await ask('1.00')).toMatchObject({ code: 2000 })
})

test('a refund whose answer was lost and that failed since is made again on the next request', async () => {
  const { ask } = await bought()
  world.refundReplies.as = 'half'
  expect(await ask()).toMatchObject({ status: 503 })
  world.refundReplies.as = 'whole'
  const made = world.refundsMade.length
  // While its result is unknown, the platform takes a repeat for the same request.
  await world.advance(11 * MINUTE)
  Object.assign(world.refundsMade.at(-1) ?? {}, { status: 'PENDING' })
  expect(await ask()).toMatchObject({ code: 2000 })
  expect(world.refundsMade).toHaveLength(made)
  await world.advance(11 * MINUTE)
  Object.assign(world.refundsMade.at(-1) ?? {}, { status: 'FAILURE' })
  world.refundReplies.as = 'half'
  expect(await ask()).toMatchObject({ status: 503 })
  world.refundReplies.as = 'whole'
  expect(world.refundsMade).toHaveLength(made + 1)
  await world.advance(11 * MINUTE)
  Object.assign(world.refundsMade.at(-1) ?? {}, { status: 'FAILURE' })
  expect(await ask()).toMatchObject({ code: 2000 })
  expect(world.refundsMade).toHaveLength(made + 2)
})

test('a refund that a frozen shop refuses was not made and is asked for again at once', async () => {
  const { ask } = await bought()
  const made = world.refundsMade.length
  world.refundReplies.as = 'inactive'
  expect(await ask()).toMatchObject({ status: 503, data: { platform: 'inactive' } })
  world.refundReplies.as = 'whole'
  expect(await ask()).toMatchObject({ code: 2000 })
  expect(world.refundsMade).toHaveLength(made + 1)
})

test('while the platform does not say what became of a request, no other one is made', async () => {
  const { ask } = await bought()
  expect(await ask()).toMatchObject({ code: 2000 })
  const made = world.refundsMade.length
  await world.advance(11 * MINUTE)
  world.refundReplies.outcomesAreAway = true
  expect((await ask('1.00')).status).toBe(503)
  world.refundReplies.outcomesAreAway = false
  expect(world.refundsMade).toHaveLength(made)
})

test('the payment of an event is given back from the inbox, also one that names no order of ours', async () => {
  const paid = paidEvent({ publicId: 'NL-unknown', amount: '20.00', lines: { '11': 8 } })
  const { id } = await tell(world, 'orders/paid', paid)
  const path = `/api/payments/inbox/${id}/refund/`
  const plan = await boss.get<RefundPlan>(`${path}?amount=5`)
  expect(plan.data).toMatchObject({ amount: '5.00', ends: 'nothing' })
  expect((await boss.post(path, { amount: '5' })).status).toBe(400)
  expect(await boss.post(path, { amount: '6', version: plan.data.version })).toMatchObject({ status: 409 })
  expect(await boss.post(path, { amount: '5', version: plan.data.version })).toMatchObject({ code: 2000 })
  expect(world.refundsMade.at(-1)).toMatchObject({ platformOrderId: String(paid.id), amount: '5.00' })
  expect(await boss.post(path, { version: plan.data.version })).toMatchObject({ data: { reason: 'refund_running' } })
  await world.advance(11 * MINUTE)
  await tell(world, 'refunds/create', {
    id: world.refundsMade.at(-1)?.id,
    order_id: paid.id,
    transactions: [{ kind: 'refund', status: 'success', amount: '20.00' }]
  })
  expect(await entryOf({ id })).toMatchObject({ unresolved: false, payment: 'refunded' })
  expect(await boss.get(path)).toMatchObject({ data: { reason: 'order_without_payment' } })
})

test('a refund that the platform called failed counts if it is reported as made after all', async () => {
  const { ask, told, plan } = await bought()
  expect(await ask()).toMatchObject({ code: 2000 })
  const first = world.refundsMade.at(-1)
  Object.assign(first ?? {}, { status: 'FAILURE' })
  await world.advance(11 * MINUTE)
  expect(await ask()).toMatchObject({ code: 2000 })
  expect(await entryOf(await told(first?.id))).toMatchObject(MINE)
  expect(await plan()).toMatchObject({ data: { reason: 'refund_running' } })
  expect(await entryOf(await told(world.refundsMade.at(-1)?.id))).toMatchObject(MINE)
  expect(await plan()).toMatchObject({ data: { amount: '10.00' } })
})

test('a refund whose answer was lost and that is reported as pending is not made again after a day', async () => {
  const { ask, plan, told, toldPending } = await bought()
  world.refundReplies.as = 'half'
  expect(await ask()).toMatchObject({ status: 503 })
  world.refundReplies.as = 'whole'
  const own = world.refundsMade.at(-1)
  Object.assign(own ?? {}, { status: 'PENDING' })
  const count = world.refundsMade.length
  await toldPending('5.00', own?.id)
  await toldPending('5.00', own?.id)
  await world.advance(DAY + MINUTE)
  expect(await ask()).toMatchObject({ status: 409, data: { reason: 'refund_pending' } })
  expect(world.refundsMade).toHaveLength(count)
  expect(await entryOf(await told(own?.id))).toMatchObject(MINE)
  await toldPending('5.00', own?.id)
  expect(await plan()).toMatchObject({ data: { amount: '15.00' } })
})

test('a pending refund of another amount does not answer the request without an answer', async () => {
  const { ask, toldPending } = await bought()
  world.refundReplies.as = 'half'
  expect(await ask()).toMatchObject({ status: 503 })
  world.refundReplies.as = 'whole'
  const own = world.refundsMade.at(-1)
  if (!own) throw new Error('no refund was made')
  const id = (ids += 1)
  world.refundsMade.push({ ...own, amount: '4.00', id, status: 'FAILURE' })
  await toldPending('4.00', id)
  await world.advance(11 * MINUTE)
  expect(await ask('1.00')).toMatchObject({ status: 409, data: { reason: 'refund_unanswered' } })
})
