import { sql, type SQL } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { paidEvent } from '../../testing/buying.ts'
import { AT_START } from '../../infra/job.ts'
import { handleEvent, storeEvent, type EventHandlers, type EventResult } from './index.ts'
import { EVENT_OUTCOMES } from '@netlet/contract'
import { commerceJobs } from './jobs.ts'
import { applyProductEventQueue, registerWebhooksQueue, moneyEventQueue } from './queues.ts'
import { platformEvents } from './tables.ts'
import { raisedNotices } from '../../testing/raised-notices.ts'
import { addRow } from '../../testing/rows.ts'
import { serverGroups } from '../servers/tables.ts'
import { later } from '../../testing/later.ts'
import { sweepEvents } from './events.ts'

let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({
    routes: () => undefined,
    queues: [moneyEventQueue, applyProductEventQueue, registerWebhooksQueue]
  })
  await shop.admin({ username: 'boss' })
})
afterAll(() => shop?.close())

let count = 0

/** Stores an event of this topic. @returns its id */
async function stored(topic = 'orders/paid', payload: unknown = paidEvent({ publicId: 'NL-x', amount: '1.00' })) {
  count += 1
  const eventId = `event-${count}`
  expect(await command(shop.ctx, SYSTEM, unit => storeEvent(unit, { eventId, topic, payload }))).toBe(true)
  return eventId
}

const settling = (settle: (unit: Unit) => Promise<EventResult>): EventHandlers => ({
  'orders/create': settle,
  'order_transactions/create': settle,
  'orders/paid': settle,
  'orders/cancelled': settle,
  'refunds/create': settle,
  'disputes/create': settle,
  'disputes/update': settle,
  'reconciled/refund': settle,
  'reconciled/doubt': settle,
  'products/update': async () => ({ outcome: 'applied' }),
  'products/delete': async () => ({ outcome: 'withdrawn' })
})

const eventOf = async (eventId: string) => {
  const rows = await shop.ctx.db.select().from(platformEvents)
  return rows.find(row => row.eventId === eventId)
}

async function rowsOf(query: SQL): Promise<Record<string, unknown>[]> {
  return (await shop.ctx.db.execute(query)).rows
}

const noticeOf = async (eventId: string) =>
  (await raisedNotices(shop.ctx.db)).find(({ key }) => key === `payment:${eventId}`)?.text

const waiting = async (queue: string) => {
  const rows = await rowsOf(sql`select data ->> 'eventId' as id from pgboss.job where name = ${queue} order by 1`)
  return rows.map(row => row['id'])
}

test('an event that is handled ten times at once reaches its handler once', async () => {
  const eventId = await stored()
  let calls = 0
  const handlers = settling(async () => {
    calls += 1
    return { outcome: 'settled' }
  })
  await Promise.all(Array.from({ length: 10 }, () => handleEvent(shop.ctx, handlers, eventId)))
  expect(calls).toBe(1)
  expect(await eventOf(eventId)).toMatchObject({ outcome: 'settled', detail: null })
  expect(await noticeOf(eventId)).toBeUndefined()
})

test('what a handler that fails has written is undone, and the event stays to be handled', async () => {
  const eventId = await stored()
  const failing = settling(async unit => {
    await addRow(unit, serverGroups, { name: 'written by a handler' })
    throw new Error('the handler fails')
  })
  await expect(handleEvent(shop.ctx, failing, eventId)).rejects.toThrow('the handler fails')
  expect(await eventOf(eventId)).toMatchObject({ processedAt: null, outcome: null })
  expect(await rowsOf(sql`select 1 from server_groups`)).toEqual([])
  const working = settling(async () => ({ outcome: 'settled' }))
  await handleEvent(shop.ctx, working, eventId)
  expect((await eventOf(eventId))?.outcome).toBe('settled')
})

test('an outcome is a code with its parameters; its sentence is made for the notice', async () => {
  const about = {
    order_id: 'NL-7',
    platform_order: '#7',
    currency: 'VND',
    expected: 'USD',
    missing: 'New York: 0/8',
    amount: '5.00',
    status: 'PAID'
  }
  const sentences: Partial<Record<EventResult['outcome'], string>> = {
    unknown_order: 'the payment names no order in this shop (order_id NL-7)',
    too_late:
      'order NL-7 was paid too late: its addresses are gone, or it was refunded or can no longer be renewed. Refund #7, or deliver or renew the order if addresses are free',
    paid_twice: 'order NL-7 was already paid; refund #7',
    paid_more: 'order NL-7: the customer paid 5.00 more for #7, which was ignored before; deliver, apply or refund it',
    unreadable: 'unreadable: the event has an unexpected format',
    lines_missing: 'the payment for order NL-7 is too small; missing: New York: 0/8',
    part_paid:
      'the platform received only 5.00 of #7, and order NL-7 no longer waits for the rest; give it back on the platform',
    wrong_currency: 'order NL-7 was paid in VND instead of USD',
    cancelled:
      'payment #7 for order NL-7 was cancelled on the platform but not fully refunded; refund the rest, or deliver the order',
    cancelled_delivered:
      'payment #7 for order NL-7 was cancelled on the platform but not fully refunded; refund the rest, or let the lease continue',
    test_payment: 'order NL-7 has a test payment; no money was charged',
    renewals_unserved:
      'order NL-7 was refunded and its lease has ended; its renewals (5.00) were paid but not refunded',
    purchase_not_sold:
      'order NL-7 was paid for something no longer sold: {what}; deliver or renew it anyway, or refund #7',
    lines_more:
      'order NL-7 has {count} addresses, but #7 paid for more, or for something else: {lines}; refund the difference, or agree with the customer',
    refunded_twice:
      'order NL-7: 5.00 too much may have been refunded for #7 ({charged} paid); check it on the platform',
    partly_refunded: 'order NL-7: 5.00 of #7 was refunded; decide whether its lease continues',
    inquiry:
      'order NL-7: the buyer’s bank has a question about #7, or closed a dispute about it; check it on the platform',
    refund_failed:
      'order NL-7: a refund of #7 failed on the platform, so 5.00 did not go back; refund it again, or reopen the order',
    refund_doubtful:
      'order NL-7: 5.00 of #7 is recorded as refunded, but its status on the platform is PAID; check it there',
    refund_stuck: 'order NL-7: the platform has had no result for its refund of #7 (5.00) for 2 weeks; check it there',
    dispute_won:
      'you won the dispute about #7; the money is back, but it buys nothing now. Reopen order NL-7 if it has time left, apply the payment, or ignore this'
  }
  for (const outcome of EVENT_OUTCOMES) {
    const eventId = await stored()
    const handlers = settling(async () => ({ outcome, detail: about }))
    await handleEvent(shop.ctx, handlers, eventId)
    expect(await eventOf(eventId)).toMatchObject({ outcome, detail: about })
    const notice = await noticeOf(eventId)
    if (sentences[outcome]) expect(notice).toContain(`needs a decision: ${sentences[outcome]}.\n`)
    else expect(notice, outcome).toBeUndefined()
  }
  const wrong = sql`update platform_events set outcome = 'settled, more or less'`
  await expect(shop.ctx.db.execute(wrong)).rejects.toMatchObject({ cause: { code: '23514' } })
})

test('a topic without a handler is ignored; a malformed event is unreadable, and operators are notified about payments only', async () => {
  const handlers = settling(async () => ({ outcome: 'settled' }))
  const created = await stored('products/create', {})
  const strange = await stored('products/update', { id: [] })
  const payment = await stored('orders/paid', { no: 'order' })
  for (const eventId of [created, strange, payment]) await handleEvent(shop.ctx, handlers, eventId)
  const outcomes = await Promise.all([created, strange, payment].map(async id => (await eventOf(id))?.outcome))
  expect(outcomes).toEqual(['ignored', 'unreadable', 'unreadable'])
  expect(await noticeOf(strange)).toBeUndefined()
  expect(await noticeOf(payment)).toContain(`Event: ${payment}.`)
})

test('events whose jobs are gone are asked for again, each in its own queue, and only once they are late', async () => {
  const { db } = shop.ctx
  await db.execute(sql`update platform_events set processed_at = now() where processed_at is null`)
  const payment = await stored('orders/paid')
  const product = await stored('products/update', {})
  await db.execute(sql`delete from pgboss.job where name in (${moneyEventQueue.name}, ${applyProductEventQueue.name})`)
  await sweepEvents(shop.ctx)
  expect(await waiting(moneyEventQueue.name)).toEqual([])
  await sweepEvents(later(shop.ctx, 6_000))
  await sweepEvents(later(shop.ctx, 6_000))
  expect(await waiting(moneyEventQueue.name)).toEqual([payment])
  expect(await waiting(applyProductEventQueue.name)).toEqual([product])
})

test('the same event stored twice is one event', async () => {
  const eventId = await stored()
  const again = { eventId, topic: 'orders/paid', payload: {} }
  expect(await command(shop.ctx, SYSTEM, unit => storeEvent(unit, again))).toBe(false)
  expect((await eventOf(eventId))?.payload).not.toEqual({})
})

test('workers that start ask once for the webhooks to be registered', async () => {
  const webhooks = commerceJobs(settling(async () => ({ outcome: 'settled' }))).find(
    ({ queue }) => queue === registerWebhooksQueue
  )
  expect(webhooks?.atStart).toBe(true)
  await webhooks?.run(shop.ctx, {} as never, AT_START)
  await webhooks?.run(shop.ctx, {} as never, AT_START)
  expect(await waiting(registerWebhooksQueue.name)).toHaveLength(1)
})
