import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { parseExact } from './shapes.ts'
import {
  PaidOrder,
  ProductDeletedEvent,
  ProductEvent,
  readOrderReference,
  verifyWebhook,
  webhookHeaders
} from './webhooks.ts'

// RFC 4231, test case 2.
const secret = 'Jefe'
const body = Buffer.from('what do ya want for nothing?')
const signature = Buffer.from('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843', 'hex').toString(
  'base64'
)

test('the published test vector verifies', () => {
  expect(verifyWebhook(body, signature, secret)).toBe(true)
})

test.each([
  ['another body', Buffer.from('what do ya want for nothing!'), signature, secret],
  ['another secret', body, signature, 'Jeff'],
  ['no header', body, undefined, secret],
  ['an empty header', body, '', secret],
  ['no base64', body, '!!!', secret],
  ['a shortened signature', body, signature.slice(0, 20), secret],
  [
    'a lengthened one',
    body,
    Buffer.concat([Buffer.from(signature, 'base64'), Buffer.from('x')]).toString('base64'),
    secret
  ],
  ['no secret', body, createHmac('sha256', '').update(body).digest('base64'), '']
])('%s does not verify', (_what, bytes, header, key) => {
  expect(verifyWebhook(bytes, header, key)).toBe(false)
})

// As text, as it arrives: the platform's samples have ids that a JavaScript number cannot hold.
const paid = parseExact(`{
  "id": 820982911946154508,
  "order_number": 1234,
  "name": "#1234",
  "email": null,
  "contact_email": "jon@example.com",
  "currency": "USD",
  "financial_status": "paid",
  "total_price": "388.00",
  "subtotal_price": "378.00",
  "total_discounts": "20.00",
  "discount_codes": [{ "code": "GOLD8", "amount": "20.00", "type": "percentage" }],
  "note_attributes": [{ "name": "order_id", "value": "NL-77" }, { "name": "renewal", "value": 1 }],
  "line_items": [
    { "id": 866550311766439020, "variant_id": 808950810, "product_id": null, "title": "Plan", "quantity": 8, "price": "199.00" }
  ],
  "customer": { "id": 115310627314723954, "email": null, "state": "disabled" },
  "something_new": { "nested": true }
}`) as Record<string, unknown>

test('an order id beyond 2^53 keeps its last digits', () => {
  expect(PaidOrder.parse(paid).id).toBe('820982911946154508')
})

test('attributes are found by name; money stays text; unknown fields are ignored', () => {
  const order = PaidOrder.parse(paid)
  expect(readOrderReference(order)).toEqual({ order: 'NL-77', isRenewal: true, isByNote: false })
  expect(order).toMatchObject({ total_price: '388.00', subtotal_price: '378.00' })
  expect(order.line_items[0]?.variant_id).toBe('808950810')
})

test('an order placed elsewhere, without attributes or customer, is read too', () => {
  const { customer: _customer, note_attributes: _attributes, discount_codes: _codes, ...bare } = paid
  const order = PaidOrder.parse(bare)
  expect(order.note_attributes).toEqual([])
  expect(order.discount_codes).toEqual([])
})

test.each([
  ['money as a number', { ...paid, total_price: 388 }],
  ['money as a word', { ...paid, total_price: 'free' }],
  ['no id', { ...paid, id: undefined }],
  ['no object', 'paid']
])('%s is refused', (_what, payload) => {
  expect(PaidOrder.safeParse(payload).success).toBe(false)
})

test('product events are read, with their tags split', () => {
  const event = ProductEvent.parse({
    id: '788032119674292922',
    title: 'Metro',
    body_html: null,
    status: 'active',
    tags: 'Ads, SEO,',
    options: [{ name: 'Location', values: ['London'] }],
    variants: [{ id: 1, title: 'London', price: '2.20', position: 1, option1: 'London', option2: null }]
  })
  expect(event).toMatchObject({ id: '788032119674292922', tags: ['Ads', 'SEO'] })
  expect(ProductDeletedEvent.parse({ id: 12 })).toEqual({ id: '12' })
})

test('headers: ids are required; a missing event id is the webhook id', () => {
  const headers = { 'x-shopify-topic': 'orders/paid', 'x-shopify-webhook-id': 'w1', 'x-shopify-shop-domain': 'a.b' }
  expect(webhookHeaders(headers)).toEqual({
    topic: 'orders/paid',
    webhookId: 'w1',
    shopDomain: 'a.b',
    triggeredAt: null,
    apiVersion: null
  })
  expect(webhookHeaders({ 'x-shopify-topic': 'orders/paid' })).toBeNull()
})

test('texts of megabytes are cut, and the rest of the webhook is read', () => {
  const huge = 'x'.repeat(2 * 1024 * 1024)
  const variant = { id: 5, title: huge, price: '2.00', position: 1, option1: huge }
  const event = ProductEvent.parse({
    id: 4,
    title: huge,
    body_html: huge,
    status: 'active',
    tags: `${huge}, ISP`,
    options: [{ name: huge, values: [huge] }],
    variants: [variant]
  })
  expect(event).toMatchObject({ id: '4', title: `${'x'.repeat(254)}…`, variants: [{ id: '5', price: '2.00' }] })
  expect(JSON.stringify(event).length).toBeLessThan(700_000)
})
