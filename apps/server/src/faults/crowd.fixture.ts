import { setTimeout as sleep } from 'node:timers/promises'
import type { Order, Proxy } from '@netlet/contract'
import { type Random, seeded } from '../api/hostile.fixture.ts'
import { ordersOf, pay, type Placed, place, proxiesOf, through } from '../testing/buying.ts'
import { createTestClient, type TestClient } from '../testing/client.ts'
import { eventually } from '../testing/test-stack.ts'
import type { World } from './world.fixture.ts'

/** Waits between two times (ms). */
export const pause = (random: Random, least: number, most: number): Promise<unknown> =>
  sleep(least + random.below(most - least))

export type Buyer = {
  /** One client for each serve process, with the same session. */
  clients: TestClient[]
  /** What was delivered, as last seen. */
  proxies: Map<string, Proxy[]>
  placed: number
  /** What no fault excuses. */
  wrong: string[]
}

export async function createBuyer({ stack, serves }: World, name: string): Promise<Buyer> {
  const [first, ...others] = serves.map(({ url }) => url)
  // The former round's faults have ended the test's own sessions, too.
  const client = await eventually('a customer', () => stack.customer(first ?? '', name).catch(() => null))
  const same = others.map(url => {
    const other = createTestClient(url)
    for (const [key, value] of client.cookies) other.cookies.set(key, value)
    return other
  })
  return { clients: [client, ...same], proxies: new Map(), placed: 0, wrong: [] }
}

type Step = (world: World, buyer: Buyer, random: Random) => Promise<void>

/** Buys; a purchase that was answered is in the next list, whichever process and database it comes from. */
const buy: Step = async ({ stack }, buyer, random) => {
  const quantity = random.pick([8, 8, 16])
  const rules = random.chance(0.3) ? stack.rules : [random.pick(stack.rules)]
  const reply = await place(stack, random.pick(buyer.clients), quantity, rules)
  if (reply.code !== 2000) return
  buyer.placed += 1
  const { order_id: id, checkout_url: url } = reply.data
  const listed = await ordersOf(random.pick(buyer.clients)).catch(() => null)
  if (listed && !listed.some(order => order.order_id === id))
    buyer.wrong.push(`a list is older than the purchase ${id}`)
  await payFor(url, random)
}

/** At once, twice at once, later, or never. */
async function payFor(url: Placed['checkout_url'], random: Random): Promise<void> {
  if (random.chance(0.1)) return
  if (random.chance(0.2)) await pause(random, 200, 3000)
  await Promise.all(Array.from({ length: random.chance(0.2) ? 2 : 1 }, () => pay(url)))
}

const anyOf = async (buyer: Buyer, random: Random, state: Order['state']): Promise<Order | undefined> => {
  const found = (await ordersOf(random.pick(buyer.clients))).filter(order => order.state === state)
  return found.length > 0 ? random.pick(found) : undefined
}

const renew: Step = async (_world, buyer, random) => {
  const order = await anyOf(buyer, random, 'delivered')
  if (!order) return
  const client = random.pick(buyer.clients)
  const reply = await client.post<Placed>(`/api/orders/order_list/${order.id}/order-renew-checkout/`)
  if (reply.code === 2000) await payFor(reply.data.checkout_url, random)
}

const use: Step = async ({ stack }, buyer, random) => {
  const order = await anyOf(buyer, random, 'delivered')
  if (!order) return
  const proxies = await proxiesOf(random.pick(buyer.clients), order.id)
  buyer.proxies.set(order.order_id, proxies)
  if (proxies.length > 0) await through(random.pick(proxies), `${stack.platform.url}/echo`)
}

type PlatformOrder = { id: string; attributes: Record<string, string> }

/** The platform's operator refunds one of the buyer's payments. */
const refund: Step = async ({ stack }, buyer, random) => {
  const order = await anyOf(buyer, random, 'delivered')
  if (!order) return
  buyer.proxies.set(order.order_id, await proxiesOf(random.pick(buyer.clients), order.id))
  const all = (await (await fetch(`${stack.platform.url}/sandbox/orders`)).json()) as PlatformOrder[]
  const paid = all.find(({ attributes }) => attributes['order_id'] === order.order_id)
  if (paid) await fetch(`${stack.platform.url}/sandbox/orders/${paid.id}/refund`, { method: 'POST' })
}

const STEPS: readonly Step[] = [buy, buy, buy, buy, renew, use, use, refund]

/** Lets a buyer act until the time is over. What a fault breaks off is left as it is. */
export async function act(world: World, buyer: Buyer, seed: number, milliseconds: number): Promise<void> {
  const random = seeded(seed)
  const until = performance.now() + milliseconds
  while (performance.now() < until) {
    const step = random.pick(STEPS)
    await step(world, buyer, random).catch(() => {})
    await pause(random, 50, 600)
  }
}
