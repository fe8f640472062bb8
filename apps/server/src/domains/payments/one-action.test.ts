import { isNull } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { report } from '../../testing/buying.ts'
import { eventHandlers } from '../../event-handlers.ts'
import { handleEvent } from '../commerce/handle-event.ts'
import { platformEvents } from '../commerce/tables.ts'
import type { OrderRow } from '../orders/index.ts'
import { startBooks, type Books } from './books.fixture.ts'

// All deliveries of one action of the merchant share the platform's event id. Each has a webhook id of its own, which
// stays the same when the platform sends it again.

let b: Books
let serial = 0
beforeAll(async () => {
  b = await startBooks()
}, 120_000)
afterAll(() => b?.world.close())

/** Deliveries of one action, one for each order. */
async function deliver(topic: string, payloads: readonly object[]): Promise<void> {
  const action = `action-${(serial += 1)}`
  for (const [at, payload] of payloads.entries()) {
    const headers = { 'x-shopify-webhook-id': `${action}-delivery-${at}`, 'x-shopify-event-id': action }
    expect(await report(b.world.shop.url, payload, { topic, headers })).toBe(200)
  }
  await handleAll()
}

async function handleAll(): Promise<void> {
  const { ctx } = b.world.shop
  const waiting = await ctx.db.select().from(platformEvents).where(isNull(platformEvents.processedAt))
  for (const { eventId } of waiting) await handleEvent(ctx, eventHandlers, eventId)
}

const refundOf = ({ id }: { id: number }) => ({
  id: (serial += 1) + 5_000_000,
  order_id: id,
  transactions: [{ kind: 'refund', status: 'success', amount: '20.00', currency: 'USD' }]
})

const withPayment = (order: OrderRow) => ({ order, paid: b.paymentFor(order) })

test('two authorised payments that a merchant captures at once both settle', async () => {
  const orders = [await b.world.place(b.buyer), await b.world.place(b.buyer)]
  await deliver(
    'orders/paid',
    orders.map(order => b.paymentFor(order))
  )
  const states = await Promise.all(orders.map(async ({ id }) => (await b.world.row(id)).state))
  expect(states).toEqual(['delivering', 'delivering'])
  await b.world.endAll()
})

test('two orders that a merchant cancels and refunds at once both end', async () => {
  const sold = [await b.delivered(), await b.delivered()]
  const cancelled_at = b.now().toISOString()
  await deliver(
    'orders/cancelled',
    sold.map(({ paid: { id, name } }) => ({ id, name, cancelled_at, financial_status: 'refunded' }))
  )
  const states = await Promise.all(sold.map(async ({ order }) => (await b.world.row(order.id)).state))
  expect(states).toEqual(['refunded', 'refunded'])
})

test('two refunds that a merchant makes at once both count', async () => {
  const sold = [await b.delivered(), await b.delivered()]
  await deliver(
    'refunds/create',
    sold.map(({ paid }) => refundOf(paid))
  )
  const back = await Promise.all(sold.map(async ({ paid }) => (await b.paymentRow(paid)).refundedAmount))
  expect(back).toEqual(['20.00', '20.00'])
})

test('a delivery that comes three times is one event', async () => {
  const paid = b.paymentFor(await b.world.place(b.buyer))
  const before = await b.db().$count(platformEvents)
  for (let times = 0; times < 3; times++) {
    // Its other header does not matter.
    const headers = { 'x-shopify-webhook-id': 'the same delivery', 'x-shopify-event-id': `action ${times}` }
    expect(await report(b.world.shop.url, paid, { headers })).toBe(200)
  }
  expect(await b.db().$count(platformEvents)).toBe(before + 1)
  await handleAll()
  await b.world.endAll()
})

// Such as one that the former version of the shop stored under the event id, and answered too late.
test.each(['orders/paid', 'refunds/create', 'orders/cancelled', 'disputes/create'] as const)(
  'a delivery of %s that is known under another id changes nothing',
  async topic => {
    const { order, paid } =
      topic === 'orders/paid' ? await b.world.place(b.buyer).then(withPayment) : await b.delivered()
    const { id, name } = paid
    const cancelled = { id, name, cancelled_at: b.now().toISOString(), financial_status: 'refunded' }
    const money = { amount: '20.00', currency: 'USD' }
    const dispute = { id: id + 1, order_id: id, type: 'chargeback', status: 'needs_response', ...money }
    const payload = {
      'orders/paid': paid,
      'refunds/create': refundOf(paid),
      'orders/cancelled': cancelled,
      'disputes/create': dispute
    }[topic]
    expect(await b.tell(topic, payload)).toMatch(/^(settled|refunded)$/)
    const known = async () => ({
      ...(await b.books()),
      state: (await b.world.row(order.id)).state,
      back: (await b.paymentRow(paid)).refundedAmount,
      mails: await b.world.mailsOf(order.id),
      open: await b.openOf(paid)
    })
    const before = await known()
    await deliver(topic, [payload])
    expect(await known()).toEqual(before)
    await b.world.endAll()
  }
)
