import { OPERATOR_EVENTS, type WebhookEndpoint } from '@netlet/contract'
import { asc, eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { buy, inState, paidEvent, report } from '../../testing/buying.ts'
import { DAY } from '../../infra/clock.ts'
import { timeOutOrders } from '../orders/index.ts'
import { webhookDeliveries, webhookEvents } from '../webhooks/tables.ts'
import { startPaymentStack, type PaymentStack } from './stack.fixture.ts'
import { later } from '../../testing/later.ts'

// What an operator's webhook receives when the stand-in platform reports over HTTP.

let world: PaymentStack
let operators: WebhookEndpoint

beforeAll(async () => {
  world = await startPaymentStack('127.67.0.0/26')
  const form = { url: 'https://hooks.example.com/operators', events: [...OPERATOR_EVENTS] }
  operators = (await world.admin.post<WebhookEndpoint>('/api/settings/outgoing_webhooks/endpoints/', form)).data
}, 120_000)
afterAll(() => world?.stack.close())
beforeEach(() => world.stack.ctx.db.delete(webhookDeliveries))

/** Events about an order that the endpoint received, oldest first. */
async function toldOf(order: string): Promise<{ type: string; data: Record<string, unknown> }[]> {
  const rows = await world.stack.ctx.db
    .select({ type: webhookEvents.type, data: webhookEvents.data })
    .from(webhookDeliveries)
    .innerJoin(webhookEvents, eq(webhookEvents.id, webhookDeliveries.eventId))
    .where(eq(webhookDeliveries.endpointId, operators.id))
    .orderBy(asc(webhookDeliveries.id))
  return rows.map(({ type, data }) => ({ type, data })).filter(one => one.data['order'] === order)
}
const typesOf = async (order: string) => (await toldOf(order)).map(({ type }) => type)
const onPlatform = async (platformOrderId: string | null, what: 'refund' | 'dispute') => {
  const reply = await fetch(`${world.stack.platform.url}/sandbox/orders/${platformOrderId}/${what}`, { method: 'POST' })
  expect(reply.ok).toBe(true)
}

test('an order that is cancelled, and one that is never paid', async () => {
  const cancelled = await world.placed()
  expect((await world.buyer.post(`/api/orders/order_list/${cancelled.id}/cancel/`, {})).code).toBe(2000)
  expect(await typesOf(cancelled.order_id)).toEqual(['order.placed', 'order.cancelled'])

  const left = await world.placed()
  await timeOutOrders(later(world.stack.ctx, DAY))
  expect(await toldOf(left.order_id)).toMatchObject([
    { type: 'order.placed', data: { order_id: left.id, state: 'placed' } },
    { type: 'order.timed_out', data: { order_id: left.id, state: 'timed_out' } }
  ])
})

test('an order whose payment cannot be taken says why, and so does its money', async () => {
  const { order_id } = await world.placed()
  await report(world.shop.url, paidEvent({ publicId: order_id, amount: '20.00', currency: 'EUR' }), {
    eventId: 'euros'
  })
  await inState(world.stack, world.buyer, order_id, 'failed')
  const told = await toldOf(order_id)
  expect(told).toContainEqual({
    type: 'order.failed',
    data: expect.objectContaining({ state: 'failed', failure: expect.any(String) })
  })
  expect(told.map(({ type }) => type)).toContain('payment.attention')
})

test.each([
  ['refund', 'payment.refunded'],
  ['dispute', 'payment.disputed']
] as const)('a %s tells of the money and of the order that it ends', async (what, type) => {
  const order = await buy(world.stack, world.buyer, 8, [world.rule])
  await onPlatform(order.shopify_order_id, what)
  await inState(world.stack, world.buyer, order.order_id, 'refunded')
  await expect
    .poll(() => typesOf(order.order_id))
    .toEqual(['order.placed', 'order.paid', 'payment.received', 'order.delivered', 'order.refunded', type])
})
