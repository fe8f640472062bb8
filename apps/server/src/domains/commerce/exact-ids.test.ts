import { createHmac } from 'node:crypto'
import { eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { writeSettings } from '../settings/index.ts'
import { applyProductEventQueue, moneyEventQueue } from './queues.ts'
import { commerceRoutes } from './routes.ts'
import { platformEvents } from './tables.ts'
import { TOPICS, type Topic } from './topics.ts'

const SECRET = 'secret of the tests'
let shop: TestShop

beforeAll(async () => {
  shop = await startTestShop({
    routes: (mount, ctx) => commerceRoutes(mount, ctx),
    queues: [moneyEventQueue, applyProductEventQueue]
  })
  await writeSettings(shop.ctx, { shopify_api_secret: SECRET })
})
afterAll(() => shop?.close())

// As JavaScript numbers all of these would change their last digit.
const [a, b, c, d] = ['9007199254740993', '820982911946154509', '9223372036854775807', '9007199254740995']
const order = `"id": ${a}, "name": "#1"`
const PLACED = `{${order}, "order_number": 1, "currency": "USD", "total_price": "1.00", "subtotal_price": "1.00",
  "total_discounts": "0.00"}`

/** The platform's bodies, and all the ids that we read from each. */
const bodies: Record<Exclude<Topic, `reconciled/${string}`>, { body: string; read: object }> = {
  'orders/create': { body: PLACED, read: { id: a } },
  'order_transactions/create': {
    body: `{"id": ${a}, "order_id": ${b}, "kind": "refund", "status": "success"}`,
    read: { id: a, order_id: b }
  },
  'orders/paid': {
    body: `{${order}, "order_number": 1, "currency": "USD", "total_price": "1.00", "subtotal_price": "1.00",
      "total_discounts": "0.00", "customer": {"id": ${b}},
      "line_items": [{"id": ${c}, "product_id": ${d}, "variant_id": ${b}, "title": "Plan", "quantity": 1, "price": "1.00"}]}`,
    read: { id: a, customer: { id: b }, line_items: [{ id: c, product_id: d, variant_id: b }] }
  },
  'orders/cancelled': { body: `{${order}}`, read: { id: a } },
  'refunds/create': { body: `{"id": ${a}, "order_id": ${b}, "transactions": []}`, read: { id: a, order_id: b } },
  'disputes/create': {
    body: `{"id": ${a}, "order_id": ${b}, "type": "inquiry", "status": "open"}`,
    read: { id: a, order_id: b }
  },
  'disputes/update': {
    body: `{"id": ${a}, "order_id": ${b}, "type": "inquiry", "status": "won"}`,
    read: { id: a, order_id: b }
  },
  'products/update': {
    body: `{"id": ${a}, "title": "Plan", "status": "active", "tags": "",
      "variants": [{"id": ${b}, "title": "One", "price": "1.00", "position": 1}],
      "variant_gids": [{"admin_graphql_api_id": "gid://shopify/ProductVariant/${b}"},
        {"admin_graphql_api_id": "gid://shopify/ProductVariant/${c}"}]}`,
    read: { id: a, variants: [{ id: b }], otherVariants: [c] }
  },
  'products/delete': { body: `{"id": ${a}}`, read: { id: a } }
}

test.each(Object.entries(bodies))('%s: ids of 64 bits are stored and read as they were sent', async (topic, event) => {
  const path = topic.startsWith('products/') ? '/api/orders/product_webhook' : '/api/orders/pay_webhook'
  const reply = await fetch(shop.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-shopify-topic': topic,
      'x-shopify-webhook-id': '1',
      'x-shopify-hmac-sha256': createHmac('sha256', SECRET).update(event.body).digest('base64')
    },
    body: event.body
  })
  expect(reply.status).toBe(200)
  const [stored] = await shop.ctx.db
    .select()
    .from(platformEvents)
    .where(eq(platformEvents.eventId, `${topic} 1`))
  expect(TOPICS[topic as keyof typeof bodies].parse(stored?.payload)).toMatchObject(event.read)
})

test('a number that was rounded before it was read is no id', () => {
  expect(TOPICS['products/delete'].safeParse({ id: Number(a) }).success).toBe(false)
})
