import type { Envelope, Order } from '@netlet/contract'
import { createShopify } from '../integrations/shopify/index.ts'
import type { TestClient } from './client.ts'
import { eventually, type Market } from './market.ts'

export type Placed = { checkout_url: string; order_id: string; expires_at: string }

/** Points the platform's webhooks at a shop process. */
export async function registerWebhooks(market: Market, shopUrl: string): Promise<void> {
  const platform = createShopify({
    shopUrl: market.platform.url,
    accessToken: 'platform token',
    apiSecret: 'platform secret'
  })
  const done = await platform.registerWebhooks(shopUrl)
  if (!done.ok) throw new Error(done.message)
}

/** Asks for an order of the market's one plan. */
export const place = (
  market: Market,
  client: TestClient,
  quantity: number,
  rules: number[]
): Promise<Envelope<Placed> & { status: number }> =>
  client.post<Placed>('/api/orders/checkout', {
    product_id: market.productId,
    quantity,
    option_selected: { option1: 'New York', acl_selected: rules }
  })

/** Opens the checkout page and presses Pay. */
export async function pay(checkoutUrl: string): Promise<void> {
  const cart = await fetch(checkoutUrl, { redirect: 'manual' })
  const page = new URL(cart.headers.get('location') ?? '', checkoutUrl)
  const paid = await fetch(`${page.href}/pay`, { method: 'POST', redirect: 'manual' })
  if (paid.status !== 303) throw new Error(`Paying answered ${paid.status}`)
}

export async function ordersOf(client: TestClient): Promise<Order[]> {
  const list = await client.get<{ data: Order[] }>('/api/orders/order_list/?limit=1000')
  if (!list.data) throw new Error(list.msg)
  return list.data.data
}

/** Waits until the client's order is in `state`. */
export function inState(
  client: TestClient,
  orderId: string,
  state: Order['state'],
  deadlineMs?: number
): Promise<Order> {
  return eventually(
    `order ${orderId} to be ${state}`,
    async () => (await ordersOf(client)).find(order => order.order_id === orderId && order.state === state),
    deadlineMs
  )
}
