import type { InboxEntry } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventHandlers } from '../../event-handlers.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { paidEvent } from '../../testing/buying.ts'
import { EventWaits, handleEvent, storeEvent } from '../commerce/index.ts'
import { timeOutOrders, type OrderRow } from '../orders/index.ts'
import { compareFigures } from '../statements/books-check.ts'
import { startOrderShop, type Buyer, type OrderShop } from './order-shop.fixture.ts'
import { one, tell } from './event-row.fixture.ts'
import { askRefund } from './ask-refund.fixture.ts'
import { failLastRefund } from '../reconciliation/platform-orders.fixture.ts'

let world: OrderShop
let buyer: Buyer
let boss: Buyer
let other: Buyer
let refundIds = 660_000

beforeAll(async () => {
  world = await startOrderShop({ ruleCount: 1 })
  buyer = await world.customer('buyer1')
  boss = await world.admin('boss1')
  other = await world.admin('boss2')
}, 120_000)
afterAll(() => world?.close())

const ALL = { '11': 8, '901': 8 }
const entryOf = async (id: number) => (await boss.get<{ entry: InboxEntry }>(`/api/payments/inbox/${id}/`)).data.entry
const act = (by: Buyer, { id, version }: InboxEntry, action: string, body: object) =>
  by.post(`/api/payments/inbox/${id}/${action}/`, { version, ...body })
const refund = (by: Buyer, order: OrderRow, platform_order: string | null) =>
  askRefund(by, order, platform_order ? { platform_order } : {})

/** An order that was paid twice. The second payment is held. */
async function paidTwice() {
  const order = await world.place(buyer)
  await world.pay(order)
  await world.confirm()
  const paid = paidEvent({ publicId: order.publicId, amount: '20.00', lines: ALL })
  const told = await tell(world, 'orders/paid', paid)
  return { order, paid, entry: await entryOf(told.id) }
}

test('a payment whose refund was just started cannot be applied, ignored or marked: the refusal says who and what', async () => {
  const { order, paid, entry } = await paidTwice()
  const unpaid = await world.place(buyer)
  expect(await refund(other, order, entry.platform_order)).toMatchObject({ code: 2000 })
  const words = `A refund of payment ${entry.platform_order}, requested by boss2, is in progress. Please wait until the platform reports it.`
  for (const [action, body] of [
    ['apply', { order: unpaid.publicId }],
    ['ignore', { note: 'a tip' }],
    ['refunded', { note: 'by hand' }]
  ] as const)
    expect(await act(boss, entry, action, body)).toMatchObject({ status: 409, msg: words })
  expect(await world.row(unpaid.id)).toMatchObject({ state: 'placed' })
  await failLastRefund(world, paid)
  expect(await act(boss, entry, 'apply', { order: unpaid.publicId })).toMatchObject({ code: 2000 })
})

test('a payment whose report was given up is not applied while its refund is pending', async () => {
  const { ctx } = world.shop
  const order = await world.place(buyer)
  const paid = paidEvent({ publicId: order.publicId, amount: '20.00', lines: ALL })
  const eventId = 'given up'
  await command(ctx, SYSTEM, unit => storeEvent(unit, { eventId, topic: 'orders/paid', payload: paid }))
  const failing = { ...eventHandlers, 'orders/paid': () => Promise.reject(new Error('a fault of ours')) }
  for (let n = 0; n < 4; n++) await expect(handleEvent(ctx, failing, eventId)).rejects.toThrow('a fault of ours')
  await handleEvent(ctx, failing, eventId)
  const transactions = [{ kind: 'refund', status: 'pending', amount: '20.00', currency: 'USD' }]
  await tell(world, 'refunds/create', { id: ++refundIds, order_id: paid.id, transactions })
  await world.advance(11 * MINUTE)
  const { id } = await one<{ id: number }>(ctx, sql`select id::int from platform_events where event_id = ${eventId}`)
  const entry = await entryOf(id)
  expect(entry).toMatchObject({ outcome: 'unreadable', unresolved: true })
  expect(await act(boss, entry, 'apply', { order: order.publicId })).toMatchObject({
    status: 409,
    data: { reason: 'refund_running', params: { platform_order: paid.name } }
  })
  expect(await world.row(order.id)).toMatchObject({ state: 'placed' })
})

test('a failed order is not delivered while its money is on its way back, nor refunded while its delivery is asked for', async () => {
  const [order, asked] = [await world.place(buyer), await world.place(buyer)]
  await world.pay(order, { lines: { '11': 8 } })
  await world.pay(asked, { lines: { '11': 8 } })
  expect(await refund(other, order, null)).toMatchObject({ code: 2000 })
  const deliver = ({ id }: OrderRow) => boss.post(`/api/orders/order_list/${id}/devery_order/`)
  const { platformOrderNumber } = await world.row(order.id)
  expect(await deliver(order)).toMatchObject({
    status: 409,
    data: { reason: 'refund_running', params: { by: 'boss2', platform_order: platformOrderNumber } }
  })
  expect(await deliver(asked)).toMatchObject({ code: 2000 })
  expect(await refund(other, asked, null)).toMatchObject({ status: 409, data: { reason: 'order_busy' } })
})

test('of a refund and an application at once, the first one wins', async () => {
  for (let round = 0; round < 6; round++) {
    const { order, entry } = await paidTwice()
    const unpaid = await world.place(buyer)
    const made = world.refundsMade.length
    const both = [
      () => refund(other, order, entry.platform_order),
      () => act(boss, entry, 'apply', { order: unpaid.publicId })
    ]
    const replies = await Promise.all((round % 2 ? both : both.toReversed()).map(ask => ask()))
    expect(replies.filter(({ code }) => code === 2000)).toHaveLength(1)
    const applied = (await world.row(unpaid.id)).state === 'delivering'
    expect(world.refundsMade.length - made).toBe(applied ? 0 : 1)
  }
  expect(await compareFigures(world.shop.ctx.db)).toEqual([])
})

test('a payment that somebody has just applied is not refunded by another, whose list still shows it as held', async () => {
  for (const isDelivered of [false, true]) {
    const order = await world.place(buyer)
    const told = await tell(
      world,
      'orders/paid',
      paidEvent({ publicId: order.publicId, amount: '20.00', lines: { '11': 8 } })
    )
    expect(await act(boss, await entryOf(told.id), 'apply', { order: order.publicId })).toMatchObject({ code: 2000 })
    if (isDelivered) await world.confirm()
    const made = world.refundsMade.length
    expect(await refund(other, order, null)).toMatchObject({
      status: 409,
      data: { reason: 'payment_just_applied', params: { by: 'boss1' } }
    })
    expect(world.refundsMade).toHaveLength(made)
    // The administrator who applied it may refund it at once, the others after all have seen it.
    if (isDelivered) await world.advance(11 * MINUTE)
    expect(await refund(isDelivered ? other : boss, order, null)).toMatchObject({ code: 2000 })
  }
})

test.for([
  { name: 'that was made', isMade: true, outcome: 'ignored', state: 'placed' },
  { name: 'that has no result yet, and settles nothing', isMade: false, outcome: 'ignored', state: 'failed' }
])('an edit of a held payment waits ten minutes for a refund $name', async ({ isMade, outcome, state }) => {
  const { ctx } = world.shop
  const order = await world.place(buyer)
  const short = paidEvent({ publicId: order.publicId, amount: '20.00', lines: { '11': 8 } })
  await tell(world, 'orders/paid', short)
  expect(await refund(other, order, null)).toMatchObject({ code: 2000 })
  const edited = paidEvent({ publicId: order.publicId, amount: '20.00', lines: ALL, id: short.id })
  await expect(tell(world, 'orders/paid', edited)).rejects.toThrow(EventWaits)
  expect(await world.row(order.id)).toMatchObject({ state: 'failed' })
  const transactions = [{ kind: 'refund', status: 'success', amount: '20.00', currency: 'USD' }]
  const id = world.refundsMade.at(-1)?.id
  if (isMade) await tell(world, 'refunds/create', { id, order_id: short.id, transactions })
  else await world.advance(11 * MINUTE)
  const waiting = sql`select event_id from platform_events where processed_at is null`
  const { event_id } = await one<{ event_id: string }>(ctx, waiting)
  await handleEvent(ctx, eventHandlers, event_id)
  expect(await one(ctx, sql`select outcome from platform_events where event_id = ${event_id}`)).toEqual({ outcome })
  expect(await world.row(order.id)).toMatchObject({ state })
})

test('the same if the payment counts and its order failed for want of addresses: the first one wins', async () => {
  const deliver = ({ id }: OrderRow) => boss.post(`/api/orders/order_list/${id}/devery_order/`)
  const { db } = world.shop.ctx
  for (let round = 0; round < 4; round++) {
    const order = await world.place(buyer)
    await world.advance(31 * MINUTE)
    await timeOutOrders(world.shop.ctx)
    await db.execute(sql`update servers set status = 'paused'`)
    expect(await world.pay(order)).toMatchObject({ outcome: 'too_late' })
    await db.execute(sql`update servers set status = 'active'`)
    const both = [() => deliver(order), () => refund(other, order, null)]
    const asked = round < 2 ? both : both.toReversed()
    const replies = round % 2 ? await Promise.all(asked.map(ask => ask())) : [await asked[0]?.(), await asked[1]?.()]
    expect(replies.filter(reply => reply?.code === 2000)).toHaveLength(1)
    expect(replies.filter(reply => reply?.status === 409)).toHaveLength(1)
  }
})

test('another refund of the same payment does not end one that was asked for, nor is it decided by who asked', async () => {
  const refunded = (order_id: number, amount: string, id = ++refundIds) =>
    tell(world, 'refunds/create', {
      id,
      order_id,
      transactions: [{ kind: 'refund', status: 'success', amount, currency: 'USD' }]
    })
  const held = await world.place(buyer)
  const short = paidEvent({ publicId: held.publicId, amount: '20.00', lines: { '11': 8 } })
  await tell(world, 'orders/paid', short)
  const ask = (of: OrderRow, amount: string) => askRefund(other, of, { amount })
  expect(await ask(held, '15.00')).toMatchObject({ code: 2000 })
  await refunded(short.id, '4.00')
  const deliver = () => boss.post(`/api/orders/order_list/${held.id}/devery_order/`)
  expect(await deliver()).toMatchObject({ status: 409, data: { reason: 'refund_running' } })
  await refunded(short.id, '15.00', world.refundsMade.at(-1)?.id)
  expect(await deliver()).toMatchObject({ code: 2000 })

  const order = await world.place(buyer)
  const paid = paidEvent({ publicId: order.publicId, amount: '20.00', lines: ALL })
  await tell(world, 'orders/paid', paid)
  await world.confirm()
  expect(await ask(order, '1.00')).toMatchObject({ code: 2000 })
  const unasked = await refunded(paid.id, '18.00')
  expect(await entryOf(unasked.id)).toMatchObject({ unresolved: true, resolved_by: null })
  // A cent less, because the platform converted to the buyer's currency and back.
  const asked = await refunded(paid.id, '0.99', world.refundsMade.at(-1)?.id)
  expect(await entryOf(asked.id)).toMatchObject({ unresolved: false, resolution: 'refunded', resolved_by: 'boss2' })
})

test('an order is not reopened while its money is on its way back', async () => {
  const order = await world.place(buyer)
  const paid = paidEvent({ publicId: order.publicId, amount: '20.00', lines: ALL })
  await tell(world, 'orders/paid', paid)
  await world.confirm()
  const dispute = (status: string) =>
    tell(world, 'disputes/update', { id: 4711, order_id: paid.id, type: 'chargeback', status, amount: '20.00' })
  await dispute('needs_response')
  await world.confirm()
  await dispute('won')
  expect(await refund(other, order, null)).toMatchObject({ code: 2000 })
  const reopen = () => boss.post(`/api/orders/order_list/${order.id}/reopen/`, {})
  expect(await reopen()).toMatchObject({ status: 409, data: { reason: 'refund_running' } })
  expect(await world.row(order.id)).toMatchObject({ state: 'expired' })
  await failLastRefund(world, paid)
  expect(await reopen()).toMatchObject({ code: 2000 })
})

test('a refund whose result is unknown stays under way, says so, and is made once', async () => {
  for (const as of ['half', 'error'] as const) {
    const order = await world.place(buyer)
    await world.pay(order)
    await world.confirm()
    const made = world.refundsMade.length
    world.refundReplies.as = as
    const unknown = await refund(other, order, null)
    world.refundReplies.as = 'whole'
    expect(unknown).toMatchObject({ status: 503, data: { reason: 'refund_unknown' } })
    expect(unknown.msg).toContain('The platform may have made this refund')
    expect(await refund(boss, order, null)).toMatchObject({ status: 409, data: { reason: 'refund_running' } })
    // The platform takes a later request for the same one.
    await world.advance(11 * MINUTE)
    expect(await refund(boss, order, null)).toMatchObject({ code: 2000 })
    expect(world.refundsMade).toHaveLength(made + 1)
  }
})
