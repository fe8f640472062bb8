import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Sandbox } from '../sandbox.ts'
import {
  control,
  launch,
  newDataDir,
  openCart,
  removeDataDir,
  secrets,
  startReceiver,
  until
} from '../testing/harness.ts'
import { demoPlans } from './catalogue.ts'
import { platformBackoff } from './deliveries.ts'
import type { Delivery } from './state.ts'

const plan = demoPlans[0]?.variants[0]?.id

let dir: string
let shop: Awaited<ReturnType<typeof startReceiver>>
let sandbox: Sandbox

beforeEach(async () => {
  dir = await newDataDir()
  shop = await startReceiver()
  sandbox = await launch(dir, shop.url)
})
afterEach(async () => {
  await sandbox.close()
  await shop.close()
  await removeDataDir(dir)
})

async function buy(orderId: string): Promise<void> {
  const checkout = await openCart(sandbox, `/cart/${plan}:1?attributes[order_id]=${orderId}`)
  const paid = await fetch(`${checkout}/pay`, { method: 'POST', redirect: 'manual' })
  expect(paid.status).toBe(303)
}
const deliveries = async () => (await control<{ deliveries: Delivery[] }>(sandbox, 'GET', '/webhooks')).deliveries
const orderIds = () => shop.received.map(one => JSON.parse(one.body.toString()).note_attributes[0].value as string)

test('the headers are the platform’s, and the signature covers the exact bytes', async () => {
  await buy('1')
  const { headers, body } = await until('the webhook', () => shop.received[0])
  expect(headers['x-shopify-topic']).toBe('orders/paid')
  expect(headers['x-shopify-api-version']).toBe('2026-07')
  for (const name of ['webhook-id', 'event-id', 'shop-domain', 'triggered-at'])
    expect(headers[`x-shopify-${name}`]).toBeTruthy()
  expect(headers['x-shopify-hmac-sha256']).toBe(createHmac('sha256', secrets.appSecret).update(body).digest('base64'))
})

test('a refused event is sent again with the same ids, until it is accepted', async () => {
  shop.answer = () => (shop.received.length < 3 ? 500 : 200)
  await buy('1')
  await until('the third try', () => shop.received.length >= 3)
  const [delivery] = await until('the end', async () => {
    const all = await deliveries()
    return all[0]?.state === 'delivered' ? all : null
  })
  expect(delivery?.attempts.map(one => one.status)).toEqual([500, 500, 200])
  expect(new Set(shop.received.map(one => one.headers['x-shopify-webhook-id'])).size).toBe(1)
})

test('after a rotation the former secret signs until it is revoked, also after a restart', async () => {
  const signerOf = (one: (typeof shop.received)[number]) => (secret: string) =>
    one.headers['x-shopify-hmac-sha256'] === createHmac('sha256', secret).update(one.body).digest('base64')
  const change = (action: string) => control<{ secrets: string[] }>(sandbox, 'POST', '/app_secret', { action })
  const [former = '', next = ''] = (await change('rotate')).secrets
  expect(former).toBe(secrets.appSecret)
  // A second rotation before the revocation adds no third secret.
  expect((await change('rotate')).secrets).toEqual([former, next])
  await buy('1')
  expect([former, next].filter(signerOf(await until('the first', () => shop.received[0])))).toEqual([former])
  await sandbox.close()
  sandbox = await launch(dir, shop.url)
  expect((await change('revoke')).secrets).toEqual([next])
  expect((await change('revoke')).secrets).toEqual([next])
  await buy('2')
  expect([former, next].filter(signerOf(await until('the second', () => shop.received[1])))).toEqual([next])
})

test.each([
  ['too_large', (body: Buffer) => body.length > 8 * 1024 * 1024, {}],
  ['unreadable', (body: Buffer) => body.toString().at(-1) !== '}', {}],
  ['other_shop', () => true, { 'x-shopify-shop-domain': 'another-shop.myshopify.com' }],
  ['other_version', () => true, { 'x-shopify-api-version': '2026-10' }]
])('the page sets a webhook fault, %s, whose signature is still right', async (action, isSo, headers) => {
  const form = new URLSearchParams({ action, next: '1' })
  await fetch(`${sandbox.url}/faults/webhooks`, { method: 'POST', body: form })
  const page = await (await fetch(`${sandbox.url}/faults`)).text()
  expect(page).toContain('1 more')
  await buy('1')
  const one = await until('the webhook', () => shop.received[0])
  expect(isSo(one.body)).toBe(true)
  expect(one.headers).toMatchObject(headers)
  expect(one.headers['x-shopify-hmac-sha256']).toBe(
    createHmac('sha256', secrets.appSecret).update(one.body).digest('base64')
  )
})

test('the page sets the API’s faults, including hidden customer addresses', async () => {
  const form = new URLSearchParams({ kind: 'no_emails', next: '3' })
  await fetch(`${sandbox.url}/faults/api`, { method: 'POST', body: form })
  expect(await control(sandbox, 'GET', '/graphql/faults')).toMatchObject({ fault: { kind: 'no_emails', next: 3 } })
  await fetch(`${sandbox.url}/faults/api`, { method: 'POST', body: new URLSearchParams({ kind: 'none' }) })
  expect(await control(sandbox, 'GET', '/graphql/faults')).toEqual({ fault: null })
})

test('silence counts as a refusal after the timeout', async () => {
  await sandbox.close()
  sandbox = await launch(dir, shop.url, { webhookTimeoutMs: 100 })
  shop.answer = () => (shop.received.length === 1 ? null : 200)
  await buy('1')
  const [delivery] = await until('delivery', async () => {
    const all = await deliveries()
    return all[0]?.state === 'delivered' ? all : null
  })
  expect(delivery?.attempts.map(one => one.error)).toEqual(['timeout', null])
})

test('pending events are sent after a restart', async () => {
  shop.answer = () => 503
  await sandbox.close()
  sandbox = await launch(dir, shop.url, { webhookBackoff: () => 3_600_000 })
  await buy('1')
  await until('the first try', async () => (await deliveries())[0]?.attempts.length === 1)
  await sandbox.close()
  shop.answer = () => 200
  // Two hours later the retry is due.
  sandbox = await launch(dir, shop.url, { now: () => Date.now() + 7_200_000 })
  await until('the second try', async () => (await deliveries())[0]?.state === 'delivered')
  expect(orderIds()).toEqual(['1', '1'])
})

test('duplicates: the same event ten times', async () => {
  await control(sandbox, 'POST', '/webhooks/faults', { action: 'duplicate', times: 10 })
  await buy('1')
  await buy('2')
  await until('all copies', () => shop.received.length === 11)
  const first = shop.received.filter(one => JSON.parse(one.body.toString()).order_number === 1001)
  expect(first).toHaveLength(10)
  expect(new Set(first.map(one => one.headers['x-shopify-event-id'])).size).toBe(1)
})

test('the events of one action share an event id, and each delivery has a webhook id of its own', async () => {
  const { events } = await control<{ events: number }>(sandbox, 'POST', '/products/import', { times: 2 })
  await until('all of them', () => shop.received.length === events)
  await buy('1')
  await until('the order', () => shop.received.length === events + 1)
  const ids = (name: string) => shop.received.map(({ headers }) => headers[`x-shopify-${name}`])
  expect(new Set(ids('webhook-id')).size).toBe(events + 1)
  expect(new Set(ids('event-id')).size).toBe(2)
})

test('out of order: held events are sent newest first', async () => {
  await control(sandbox, 'POST', '/webhooks/faults', { action: 'hold', next: 3 })
  for (const id of ['1', '2', '3']) await buy(id)
  expect(shop.received).toHaveLength(0)
  await control(sandbox, 'POST', '/webhooks/release', { order: 'newest_first' })
  expect(orderIds()).toEqual(['3', '2', '1'])
})

test('late: an event is sent after its delay, not before', async () => {
  await control(sandbox, 'POST', '/webhooks/faults', { action: 'late', delay_ms: 150 })
  const paidAt = Date.now()
  await buy('1')
  const { at } = await until('the late webhook', () => shop.received[0])
  expect(at - paidAt).toBeGreaterThanOrEqual(150)
})

test('drop: never sent by itself, only on request', async () => {
  await control(sandbox, 'POST', '/webhooks/faults', { action: 'drop' })
  await buy('1')
  await buy('2')
  await until('the second order’s webhook', () => shop.received.length === 1)
  expect(orderIds()).toEqual(['2'])
  const dropped = (await deliveries()).find(one => one.state === 'dropped')
  const answer = await control(sandbox, 'POST', `/webhooks/${dropped?.id}/redeliver`, { times: 3 })
  expect(answer).toEqual({ statuses: [200, 200, 200] })
  expect(orderIds()).toEqual(['2', '1', '1', '1'])
})

test('wrong signature: sent once, with a wrong signature', async () => {
  shop.answer = () => 401
  await control(sandbox, 'POST', '/webhooks/faults', { action: 'wrong_signature' })
  await buy('1')
  const [delivery] = await until('the refusal', async () => {
    const all = await deliveries()
    return all[0]?.state === 'failed' ? all : null
  })
  expect(delivery?.attempts).toHaveLength(1)
  const [one] = shop.received
  const right = createHmac('sha256', secrets.appSecret)
    .update(one?.body ?? '')
    .digest('base64')
  expect(one?.headers['x-shopify-hmac-sha256']).not.toBe(right)
})

test('products: creations, changes and deletions are sent to the product address', async () => {
  const made = await control<{ id: string; variants: { id: string }[] }>(sandbox, 'POST', '/products', {
    title: 'Trial',
    tags: ['SEO'],
    optionNames: ['Location'],
    variants: [{ options: ['London'], price: '1.00' }]
  })
  await control(sandbox, 'PATCH', `/products/${made.id}`, {
    title: 'Trial 2',
    variants: [{ id: made.variants[0]?.id, price: '1.50' }]
  })
  await control(sandbox, 'DELETE', `/products/${made.id}`)
  await until('three events', () => shop.received.length === 3)
  const byTopic = Object.fromEntries(
    shop.received.map(one => [one.headers['x-shopify-topic'], JSON.parse(one.body.toString())])
  )
  expect(byTopic['products/create']).toMatchObject({ title: 'Trial', status: 'active', tags: 'SEO' })
  expect(byTopic['products/update']).toMatchObject({
    title: 'Trial 2',
    variants: [{ price: '1.50', option1: 'London' }]
  })
  expect(byTopic['products/delete']).toEqual({ id: Number(made.id) })
  expect(new Set(shop.received.map(one => one.path))).toEqual(new Set(['/api/orders/product_webhook']))
})

test('the platform’s retries: quick at first, about an hour in all', () => {
  const waits = Array.from({ length: 18 }, (_, index) => platformBackoff(index + 1))
  expect(waits.slice(0, 4)).toEqual([1000, 2000, 4000, 8000])
  const total = waits.reduce((sum, one) => sum + one, 0)
  expect(total).toBeGreaterThan(3000_000)
  expect(total).toBeLessThan(7200_000)
})
