import { setTimeout as sleep } from 'node:timers/promises'
import { eq, sql } from 'drizzle-orm'
import { orders } from '../../apps/server/src/domains/orders/tables.ts'
import type { TestClient } from '../../apps/server/src/testing/client.ts'
import { place, through } from '../../apps/server/src/testing/buying.ts'
import type { TestStack } from '../../apps/server/src/testing/test-stack.ts'
import { median } from '../figures.ts'

const CUSTOMERS = 20
const DEADLINE_MS = 300_000
/** Milliseconds between database queries for delivered orders. */
const LOOK_MS = 50

type Bought = { orderId: string; page: string }

/** Places an order and opens its checkout, up to the Pay button. */
async function open(stack: TestStack, client: TestClient, quantity: number): Promise<Bought> {
  const placed = await place(stack, client, quantity, stack.rules)
  if (placed.code !== 2000) throw new Error(placed.msg)
  return { orderId: placed.data.order_id, page: await checkoutPage(placed.data.checkout_url) }
}

async function checkoutPage(checkoutUrl: string): Promise<string> {
  const cart = await fetch(checkoutUrl, { redirect: 'manual' })
  await cart.body?.cancel()
  return new URL(cart.headers.get('location') ?? '', checkoutUrl).href
}

async function pay(page: string): Promise<void> {
  const paid = await fetch(`${page}/pay`, { method: 'POST', redirect: 'manual' })
  await paid.body?.cancel()
  if (paid.status !== 303) throw new Error(`Paying answered ${paid.status}`)
}

/** A proxy of each delivered order among these. */
async function delivered({ ctx }: TestStack, orderIds: string[]) {
  const { rows } = await ctx.db.execute<{
    orderId: string
    ip: string
    port: number
    username: string
    password: string
  }>(sql`
    select distinct on (o.id) o.order_id as "orderId", host(p.ip) as ip, s.proxy_port as port,
      o.proxy_username as username, o.proxy_password as password
    from orders o join proxies p on p.order_id = o.id join servers s on s.id = p.server_id
    where o.state = 'delivered' and p.state = 'live' and o.order_id = any(${sql.param(orderIds)})
    order by o.id, p.id`)
  return rows
}

/**
 * Pays many orders at the same moment.
 * @returns for each, milliseconds from Pay until a request through one of its proxies was answered
 */
export async function buyAtOnce(
  stack: TestStack,
  shopUrl: string,
  { orders, addresses }: { orders: number; addresses: number }
): Promise<number[]> {
  const clients = await Promise.all(Array.from({ length: CUSTOMERS }, (_, n) => stack.customer(shopUrl, `burst${n}`)))
  const bought: Bought[] = []
  for (let n = 0; n < orders; n++) {
    const client = clients[n % CUSTOMERS]
    if (client) bought.push(await open(stack, client, addresses))
  }
  const begun = new Map<string, number>()
  const paying = bought.map(({ orderId, page }) => {
    begun.set(orderId, performance.now())
    return pay(page)
  })
  const took = new Map<string, number>()
  const asked = new Map<string, Promise<void>>()
  for (const deadline = Date.now() + DEADLINE_MS; took.size < orders; await sleep(LOOK_MS)) {
    if (Date.now() > deadline) throw new Error(`${took.size} of ${orders} orders were delivered`)
    const waiting = bought.map(({ orderId }) => orderId).filter(id => !asked.has(id))
    if (waiting.length === 0) {
      await Promise.all(asked.values())
      break
    }
    for (const proxy of await delivered(stack, waiting)) {
      const works = async () => {
        const status = await through(proxy, `${stack.platform.url}/echo`)
        if (status !== 200) throw new Error(`a delivered proxy answered ${status}`)
        took.set(proxy.orderId, performance.now() - (begun.get(proxy.orderId) ?? 0))
      }
      asked.set(proxy.orderId, works())
    }
  }
  await Promise.all(paying)
  return [...took.values()]
}

/** Polls with a prepared statement, to load the database as little as possible. */
async function untilDelivered({ ctx }: TestStack, orderId: string): Promise<void> {
  const state = ctx.db
    .select({ state: orders.state })
    .from(orders)
    .where(eq(orders.publicId, orderId))
    .prepare('bench_order_state')
  for (const deadline = Date.now() + DEADLINE_MS; ; await sleep(2)) {
    const [order] = await state.execute()
    if (order?.state === 'delivered') return
    if (Date.now() > deadline) throw new Error(`order ${orderId} was not delivered`)
  }
}

/**
 * Buys orders one after another.
 * @returns for each, milliseconds of checkout, payment and delivery without the time of the stand-in's own pages; and
 * their median
 */
export async function buyOneByOne(
  stack: TestStack,
  shopUrl: string,
  count: number,
  quantity: number
): Promise<{ own: number[]; platform: number }> {
  const client = await stack.customer(shopUrl, 'single')
  const own: number[] = []
  const platform: number[] = []
  // The first rounds are a warm-up.
  for (let n = -3; n < count; n++) {
    const begun = performance.now()
    const placed = await place(stack, client, quantity, stack.rules)
    if (placed.code !== 2000) throw new Error(placed.msg)
    const atPlatform = performance.now()
    await pay(await checkoutPage(placed.data.checkout_url))
    const paid = performance.now()
    await untilDelivered(stack, placed.data.order_id)
    if (n < 0) continue
    own.push(performance.now() - begun - (paid - atPlatform))
    platform.push(paid - atPlatform)
  }
  return { own, platform: median(platform) }
}
