import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inState, ordersOf, pay, place, proxiesOf, through } from '../../testing/buying.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestStack, type TestStack, type ShopProcess } from '../../testing/test-stack.ts'

let stack: TestStack
let shop: ShopProcess
let buyer: TestClient
let rule = 0

beforeAll(async () => {
  stack = await startTestStack({ range: '127.24.0.0/27', ruleCount: 1, processes: true })
  rule = stack.rules[0] ?? 0
  shop = await stack.startShop()
  buyer = await stack.customer(shop.url, 'buyer1')
}, 120_000)
afterAll(() => stack?.close())

async function paidOrder(quantity: number): Promise<string> {
  const placed = await place(stack, buyer, quantity, [rule])
  if (placed.code !== 2000) throw new Error(placed.msg)
  await pay(placed.data.checkout_url)
  return placed.data.order_id
}

const works = async (publicId: string): Promise<void> => {
  const order = await inState(stack, buyer, publicId, 'delivered', 60_000)
  expect(order.delivery_num).toBe(order.proxy_num)
  const [proxy] = await proxiesOf(buyer, order.id)
  if (!proxy) throw new Error('no proxy')
  expect(await through(proxy, `${stack.platform.url}/echo`)).toBe(200)
}

test('an agent that is away: the order is paid and under way, and completes by itself', async () => {
  await stack.stopAgent()
  const publicId = await paidOrder(8)
  const order = await inState(stack, buyer, publicId, 'delivering')
  expect(order).toMatchObject({ pay_status: 1, delivery_num: 0, fail_reason: null })
  expect(await proxiesOf(buyer, order.id)).toEqual([])
  const poll = await buyer.get(`/api/orders/checkout?order_id=${publicId}`)
  expect(poll.data).toMatchObject({ status: 'success', delivery_num: 0, proxy_num: 8 })
  await stack.restartAgent()
  await works(publicId)
})

test('a shop process that dies in the middle of a delivery: the next one completes it', async () => {
  await stack.stopAgent()
  const publicId = await paidOrder(8)
  await inState(stack, buyer, publicId, 'delivering')
  await shop.kill()
  await stack.restartAgent()
  // On the same port, because the browsers and the platform know it.
  shop = await stack.startShop('all', shop.port)
  await works(publicId)
  const { rows } = await stack.ctx.db.execute(sql`select count(*) as leases from leases l
    join orders o on o.id = l.order_id where o.order_id = ${publicId}`)
  expect(rows).toEqual([{ leases: 1 }])
})

test('one of two servers is away: what the other has is delivered, and the rest follows', async () => {
  const second = await stack.addServer('127.24.1.0/29')
  await second.stop()
  // The first server has two blocks left, the second one.
  const publicId = await paidOrder(24)
  const part = await inState(stack, buyer, publicId, 'partly_delivered')
  expect(part).toMatchObject({ pay_status: 1, delivery_num: 16, proxy_num: 24 })
  const early = await proxiesOf(buyer, part.id)
  expect(early).toHaveLength(16)
  expect(await through(early[0] as never, `${stack.platform.url}/echo`)).toBe(200)
  await second.start()
  await works(publicId)
  const all = await proxiesOf(buyer, part.id)
  expect(all).toHaveLength(24)
  const late = all.find(proxy => proxy.ip.startsWith('127.24.1.'))
  expect(await through(late as never, `${stack.platform.url}/echo`)).toBe(200)
  // The agents hold the users of the buyer's three orders only.
  const names = new Set((await ordersOf(buyer)).map(order => order.id))
  expect(names.size).toBe(3)
  expect(second.agent.port).toBe(second.ports.agent)
})
