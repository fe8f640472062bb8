import type { Product } from '@netlet/contract'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { control } from '../../../../sandbox/src/testing/harness.ts'
import { inState, pay, type Placed } from '../../testing/buying.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestStack, type ShopProcess, type TestStack } from '../../testing/test-stack.ts'

let stack: TestStack
let shop: ShopProcess

beforeAll(async () => {
  stack = await startTestStack({ range: '127.77.0.0/26' })
  shop = await stack.startShop('all')
}, 120_000)
afterAll(() => stack?.close(), 60_000)

/** Changes the price of the one plan in the console. */
async function priceInConsole(price: string): Promise<void> {
  const admin = await stack.admin(shop.url, `boss${price.replace('.', '')}`)
  const list = await admin.get<{ data: Product[] }>(`/api/products/products/?id=${stack.productId}`)
  const [product] = list.data.data
  if (!product) throw new Error('the stack has a plan')
  const saved = await admin.put(`/api/products/products/${product.id}/`, {
    version: product.version,
    shopify_product_id: product.shopify_product_id,
    product_name: product.product_name,
    product_desc: product.product_desc,
    variants: product.variants.map(({ server_group, ...variant }) => ({
      ...variant,
      variant_price: price,
      server_group: server_group?.id ?? null
    }))
  })
  expect(saved).toMatchObject({ code: 2000 })
}

/** Places an order for the plan as the platform's webhook reported it, with the option that the stack omits. */
async function placed(client: TestClient): Promise<Placed> {
  const order = {
    product_id: stack.productId,
    quantity: 8,
    option_selected: { option1: 'New York', option2: 'Single address', acl_selected: [stack.rules[0] ?? 0] }
  }
  return stack.eventually('the webhook of the new price', async () => {
    const reply = await client.post<Placed>('/api/orders/checkout', order)
    return reply.code === 2000 ? reply.data : null
  })
}

test('after a price rise in the console buyers pay the new price, and are delivered', async () => {
  await priceInConsole('3.10')
  const client = await stack.customer(shop.url, 'buyer')
  const { checkout_url, order_id } = await placed(client)
  await pay(checkout_url)
  const order = await inState(stack, client, order_id, 'delivered', 60_000)
  // 8 addresses at 3.10, and the rule's 0.50.
  expect(order).toMatchObject({ amount: '28.80', pay_amount: '28.80' })
}, 120_000)

test('a price that the platform raised between placing and paying delivers as well', async () => {
  const client = await stack.customer(shop.url, 'late')
  const { checkout_url, order_id } = await placed(client)
  await control(stack.platform, 'PATCH', '/products/720000000001', {
    variants: [{ id: '72000000000101', price: '4.00' }],
    silent: true
  })
  await pay(checkout_url)
  expect(await inState(stack, client, order_id, 'delivered', 60_000)).toMatchObject({ pay_amount: '36.00' })
}, 120_000)
