import type { Envelope, Order, Product, RuleStock } from '@netlet/contract'
import { request as requests, type APIRequestContext, type Page } from '@playwright/test'
import { expect, type RunningShop } from './shop.ts'

export async function call<T>(
  request: APIRequestContext,
  method: 'get' | 'post',
  path: string,
  data?: object
): Promise<T> {
  const reply = await request[method](path, data ? { data } : {})
  const envelope = (await reply.json()) as Envelope<T>
  expect(envelope, `${method} ${path}`).toMatchObject({ code: 2000 })
  return envelope.data
}

/** Makes calls as one of the shop's accounts. Dispose of it afterwards. */
export async function signedIn(shop: RunningShop, who: 'customer' | 'admin'): Promise<APIRequestContext> {
  const request = await requests.newContext({ baseURL: shop.url })
  await call(request, 'post', '/api/auth/login', shop[who])
  return request
}

/** Signs in the page's browser context. */
export async function signIn(page: Page, shop: RunningShop, who: 'customer' | 'admin'): Promise<void> {
  const reply = await page.request.post(`${shop.url}/api/auth/login`, { data: shop[who] })
  expect(reply.ok()).toBe(true)
}

type Buying = {
  pay?: boolean
  /** Number of blocks of eight. */
  blocks?: number
  /** With every access rule of the plan instead of one. */
  allRules?: boolean
}

/** Buys a plan for the demo customer; paid and delivered unless `pay` is false. */
export async function buy(
  shop: RunningShop,
  { pay = true, blocks = 1, allRules = false }: Buying = {}
): Promise<Order> {
  const request = await signedIn(shop, 'customer')
  try {
    const { data: products } = await call<{ data: Product[] }>(request, 'get', '/api/products/products/?limit=50')
    const variants = products.flatMap(product => product.variants.map(variant => ({ product, variant })))
    const found = variants.find(({ variant }) => variant.cart_step === 8 && variant.variant_stock >= 64)
    if (!found) throw new Error('no plan in blocks of 8 is on sale')
    const { product, variant } = found
    const options = {
      option1: variant.variant_option1,
      option2: variant.variant_option2,
      option3: variant.variant_option3
    }
    const rules = await call<RuleStock[]>(request, 'post', '/api/products/products/stock/', {
      product_id: product.id,
      option_selected: options
    })
    const placed = await call<{ checkout_url: string; order_id: string }>(request, 'post', '/api/orders/checkout', {
      product_id: product.id,
      quantity: 8 * blocks,
      option_selected: { ...options, acl_selected: rules.map(rule => rule.acl_id).slice(0, allRules ? undefined : 1) }
    })
    if (pay) {
      const checkout = await request.get(placed.checkout_url)
      await request.post(`${checkout.url()}/pay`)
    }
    const read = async () => {
      const list = await call<{ data: Order[] }>(request, 'get', '/api/orders/order_list/?limit=100')
      return list.data.find(one => one.order_id === placed.order_id)
    }
    await expect.poll(read).toMatchObject({ state: pay ? 'delivered' : 'placed', task: null })
    const order = await read()
    if (!order) throw new Error('the order is gone')
    return order
  } finally {
    await request.dispose()
  }
}

const orders = new Map<string, Promise<Order>>()

/** A delivered block of eight, shared by tests that do not change it. */
export function anOrder(shop: RunningShop): Promise<Order> {
  const order = orders.get(shop.url) ?? buy(shop)
  orders.set(shop.url, order)
  return order
}

/** Cancels the demo customer's unpaid orders, because their number is limited. */
export async function cancelOpen(shop: RunningShop): Promise<void> {
  const request = await signedIn(shop, 'customer')
  const { data } = await call<{ data: Order[] }>(request, 'get', '/api/orders/order_list/?limit=100')
  for (const { id, state } of data)
    if (state === 'placed') await call(request, 'post', `/api/orders/order_list/${id}/cancel/`, {})
  await request.dispose()
}
