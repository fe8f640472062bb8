import { afterAll, beforeEach, expect, test } from 'vitest'
import { SHOP_TOPICS, faultsOf, type ShopTopic } from '../testing/webhook-schemas.ts'
import { control, launchAlone, openCart, startReceiver, until, type Received } from '../testing/harness.ts'
import { demoPlans, demoRules } from './catalogue.ts'
import type { PlatformOrder, PlatformProduct } from './state.ts'

const shop = await startReceiver()
const sandbox = await launchAlone(shop.url)
afterAll(async () => {
  await sandbox.close()
  await shop.close()
})
beforeEach(() => {
  shop.received.length = 0
})

const topicOf = ({ headers }: Received) => String(headers['x-shopify-topic']) as ShopTopic
const bodyOf = ({ body }: Received) => JSON.parse(body.toString()) as Record<string, unknown>

/** All bodies of a topic, once there are `count`. */
const bodies = async (topic: ShopTopic, count = 1) =>
  until(`${count} of ${topic}`, () => {
    const all = shop.received.filter(one => topicOf(one) === topic)
    return all.length >= count ? all.map(bodyOf) : null
  })

async function buy(cart: string, pay: object = {}): Promise<PlatformOrder> {
  const token = new URL(await openCart(sandbox, cart)).pathname.split('/').at(-1)
  return (await control<{ order: PlatformOrder }>(sandbox, 'POST', `/checkouts/${token}/pay`, pay)).order
}

const plan = demoPlans[0]?.variants[1]?.id
const full = `/cart/${plan}:8,${demoRules[0]?.variantId}:8?checkout[email]=a@example.test&note=n&attributes[order_id]=7&discount=GOLD8`

test('every body has the platform’s shape: orders placed, paid in parts, refunded, cancelled, disputed, and products', async () => {
  await control(sandbox, 'POST', '/payment_capture', { later: true })
  await buy(`/cart/${plan}:1`)
  await control(sandbox, 'POST', '/payment_capture', { later: false })
  const paid = await buy(full)
  await buy(`/cart/${plan}:1`)
  await control(sandbox, 'POST', `/orders/${paid.id}/refund`, { amount: '1.50' })
  const pending = await control<{ id: string }>(sandbox, 'POST', `/orders/${paid.id}/refund`, {
    amount: '0.50',
    pending: true
  })
  await control(sandbox, 'POST', `/refunds/${pending.id}`, { status: 'success' })
  const dispute = await control<{ id: string }>(sandbox, 'POST', `/orders/${paid.id}/dispute`)
  await control(sandbox, 'POST', `/orders/${paid.id}/dispute`, { id: dispute.id, status: 'won' })
  await control(sandbox, 'POST', `/orders/${paid.id}/cancel`)
  const made = await control<PlatformProduct>(sandbox, 'POST', '/products', {
    title: 'Large',
    optionNames: ['Location'],
    variants: Array.from({ length: 101 }, (_, at) => ({ options: [`Place ${at}`], price: '1.00' }))
  })
  await control(sandbox, 'PATCH', `/products/${made.id}`, { title: 'Larger' })
  await control(sandbox, 'DELETE', `/products/${made.id}`)

  await bodies('orders/paid', 2)
  await bodies('refunds/create', 3)
  for (const topic of SHOP_TOPICS)
    for (const body of await bodies(topic)) expect(faultsOf(topic, body), topic).toEqual([])
})

test('a partly refunded order shows what is left of it', async () => {
  const paid = await buy(`/cart/${plan}:8`)
  await control(sandbox, 'POST', `/orders/${paid.id}/refund`, { amount: '1.50' })
  await control(sandbox, 'POST', `/orders/${paid.id}/cancel`)
  const [cancelled] = await bodies('orders/cancelled')
  expect(cancelled).toMatchObject({
    total_price: paid.totalPrice,
    current_total_price: '0.00',
    cancel_reason: 'customer'
  })
  expect(cancelled?.['refunds']).toHaveLength(2)
})

test('a body without a required field is found', async () => {
  await buy(`/cart/${plan}:1`)
  const [body] = await bodies('orders/paid')
  expect(faultsOf('orders/paid', { ...body, total_price: 12, line_items: [{}] })).toEqual(
    expect.arrayContaining(['/total_price must be string', "/line_items/0 must have required property 'id'"])
  )
})
