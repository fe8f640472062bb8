import { createHmac } from 'node:crypto'
import { request } from 'node:http'
import type { Envelope, Order, Proxy } from '@netlet/contract'
import { sql } from '../infra/db/drizzle.ts'
import type { EventResult } from '../domains/commerce/index.ts'
import type { TestClient } from './client.ts'
import { raisedNotices } from './raised-notices.ts'
import type { TestStack } from './test-stack.ts'

export type Placed = { checkout_url: string; id: number; order_id: string; expires_at: string }

export const place = (
  stack: TestStack,
  client: TestClient,
  quantity: number,
  rules: number[]
): Promise<Envelope<Placed> & { status: number }> =>
  client.post<Placed>('/api/orders/checkout', {
    product_id: stack.productId,
    quantity,
    option_selected: { option1: 'New York', acl_selected: rules }
  })

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

export function inState(
  stack: TestStack,
  client: TestClient,
  publicId: string,
  state: Order['state'],
  deadlineMs?: number
): Promise<Order> {
  return stack.eventually(
    `order ${publicId} to be ${state}`,
    async () => (await ordersOf(client)).find(order => order.order_id === publicId && order.state === state),
    deadlineMs
  )
}

export async function buy(stack: TestStack, client: TestClient, quantity: number, rules: number[]): Promise<Order> {
  const placed = await place(stack, client, quantity, rules)
  if (placed.code !== 2000) throw new Error(placed.msg)
  await pay(placed.data.checkout_url)
  return inState(stack, client, placed.data.order_id, 'delivered')
}

export async function proxiesOf(client: TestClient, orderId: number): Promise<Proxy[]> {
  const path = `/api/orders/order_list/${orderId}/get_proxy_detail/?limit=1000`
  return (await client.get<{ proxy_list: Proxy[] }>(path)).data.proxy_list
}

/** Requests a page through a proxy. @returns the status; 0 if the proxy does not answer */
export function through(proxy: Pick<Proxy, 'ip' | 'port' | 'username' | 'password'>, url: string): Promise<number> {
  return new Promise(resolve => {
    const credentials = Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64')
    const asked = request({
      host: proxy.ip,
      port: proxy.port,
      path: url,
      headers: { host: new URL(url).host, 'proxy-authorization': `Basic ${credentials}` },
      agent: false,
      timeout: 5000
    })
    asked.on('response', response => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    asked.on('timeout', () => asked.destroy(new Error('timeout')))
    asked.on('error', () => resolve(0))
    asked.end()
  })
}

/** The stand-in's variants of the stack's plan and rules. */
export const PLAN_VARIANT = '72000000000101'
export const ruleVariant = (n: number): string => String(720000000010_00 + n)
const ALL_LINES = { [PLAN_VARIANT]: 8, [ruleVariant(1)]: 8 }

let platformOrders = 0

/** The platform's event of a paid order. */
export function paidEvent({
  publicId,
  amount,
  discount,
  renewal = false,
  lines = ALL_LINES,
  id,
  ...more
}: {
  publicId: string
  amount: string
  discount?: string
  renewal?: boolean
  /** Platform variants with quantities; by default those of an order of the stack for 8 addresses under its first rule. */
  lines?: Record<string, number>
  currency?: string
  test?: boolean
  financial_status?: string
  cancelled_at?: string
  /** The platform's own id; by default a new one. */
  id?: number
}) {
  platformOrders += 1
  const number = id ?? 880000000000 + platformOrders
  return {
    id: number,
    order_number: number,
    name: `#${number}`,
    currency: 'USD',
    financial_status: 'paid',
    total_price: amount,
    subtotal_price: amount,
    total_discounts: discount ?? '0.00',
    discount_codes: discount ? [{ code: 'LESS', amount: discount, type: 'fixed_amount' }] : [],
    note_attributes: [{ name: 'order_id', value: publicId }, ...(renewal ? [{ name: 'renewal', value: '1' }] : [])],
    line_items: Object.entries(lines).map(([variant, quantity], at) => ({
      id: number * 100 + at,
      title: `line ${at + 1}`,
      variant_id: Number(variant),
      quantity,
      price: '1.00'
    })),
    ...more
  }
}

let events = 0

/** Sends a webhook as the platform does. @returns the reply's status */
export async function report(
  shopUrl: string,
  payload: unknown,
  {
    eventId,
    secret = 'platform secret',
    topic = 'orders/paid',
    headers
  }: { eventId?: string; secret?: string; topic?: string; headers?: Record<string, string> } = {}
): Promise<number> {
  events += 1
  const body = JSON.stringify(payload)
  const id = eventId ?? `test-event-${events}`
  const reply = await fetch(`${shopUrl}/api/orders/pay_webhook`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-shopify-topic': topic,
      'x-shopify-webhook-id': id,
      'x-shopify-event-id': id,
      'x-shopify-shop-domain': 'sandbox.myshopify.com',
      'x-shopify-hmac-sha256': createHmac('sha256', secret).update(body).digest('base64'),
      ...headers
    },
    body
  })
  await reply.body?.cancel()
  return reply.status
}

/** Waits for the outcome of a reported payment. */
export function outcomeOf(stack: TestStack, eventId: string, topic = 'orders/paid'): Promise<EventResult> {
  return stack.eventually(`event ${eventId} to be handled`, async () => {
    const { rows } = await stack.ctx.db.execute<EventResult>(
      sql`select outcome, detail from platform_events where event_id = ${`${topic} ${eventId}`} and processed_at is not null`
    )
    return rows[0]
  })
}

/** Notices that commands have raised so far. */
export const adminNotices = async (stack: TestStack): Promise<string[]> =>
  (await raisedNotices(stack.ctx.db)).map(({ text }) => text)

export async function stockOf(stack: TestStack, rules: number[]): Promise<number> {
  const { rows } = await stack.ctx.db.execute<{ stock: number }>(
    sql`select inventory.stock(${stack.groupId}, 8, ${sql.raw(`array[${rules.join(',')}]::int[]`)}) as stock`
  )
  return rows[0]?.stock ?? 0
}
