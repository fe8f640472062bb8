import { fromCents, toCents, type Order, type Proxy } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import {
  adminNotices,
  buy,
  ordersOf,
  outcomeOf,
  paidEvent,
  PLAN_VARIANT,
  pay,
  proxiesOf,
  report,
  stockOf,
  through
} from '../../testing/buying.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestStack, type TestStack, type ShopProcess } from '../../testing/test-stack.ts'
import { withServerLock } from '../servers/server-row.ts'
import { orders } from '../orders/tables.ts'
import { advance, endGraces, expireOrders } from './index.ts'
import { fromNow } from '../../testing/later.ts'

let stack: TestStack
let shop: ShopProcess
let buyer: TestClient
let admin: TestClient
let rule = 0
let order: Order

beforeAll(async () => {
  // 8 blocks of 8.
  stack = await startTestStack({ range: '127.25.0.0/26', ruleCount: 1, processes: true })
  rule = stack.rules[0] ?? 0
  shop = await stack.startShop()
  buyer = await stack.customer(shop.url, 'buyer1')
  admin = await stack.admin(shop.url, 'boss1')
  order = await buy(stack, buyer, 8, [rule])
}, 120_000)
afterAll(() => stack?.close())

const path = (call: string, id = order.id) => `/api/orders/order_list/${id}/${call}/`
const statusOf = (proxy: Proxy | undefined) => {
  if (!proxy) throw new Error('no proxy')
  return through(proxy, `${stack.platform.url}/echo`)
}
const current = async (id = order.id) => {
  const found = (await ordersOf(buyer)).find(row => row.id === id)
  if (!found) throw new Error('the order is not listed')
  return found
}
const idle = (id = order.id) =>
  stack.eventually('the task to end', async () => {
    const row = await current(id)
    return row.task === null ? row : null
  })

/** Keeps every process from talking to the agent while `work` runs. */
async function whileAgentWaits(work: () => Promise<void>): Promise<void> {
  const held = await withServerLock(stack.ctx.db, stack.serverId, work, { waitMs: 20_000 })
  if (!held) throw new Error('the lock was not to be had')
}

test("another customer's order does not exist, and some actions are the administrator's", async () => {
  const stranger = await stack.customer(shop.url, 'stranger1')
  const calls: ['get' | 'post' | 'put', string, unknown?][] = [
    ['get', path('get_proxy_detail')],
    ['get', path('check_proxy')],
    ['get', path('export_proxies')],
    ['get', path('copy_proxies')],
    ['post', path('reset_proxy_password')],
    ['post', path('reset_proxy')],
    ['put', path('label'), { label: 'mine' }],
    ['get', path('receipts')],
    ['post', path('order-renew-checkout')],
    ['get', `/api/orders/checkout?order_id=${order.order_id}`]
  ]
  for (const [method, url, body] of calls)
    expect(await stranger[method](url, body as never), url).toMatchObject({ status: 404, code: 404 })
  expect(await ordersOf(stranger)).toEqual([])
  expect((await stranger.get<{ total: number }>(`/api/orders/order_list/?username=buyer1`)).data.total).toBe(0)
  const others: ['get' | 'post' | 'delete', string, unknown?][] = [
    ['post', path('devery_order')],
    ['post', path('update_proxy_expired_at'), { expired_at: fromNow(stack.ctx, DAY).getTime() }],
    ['get', path('timeline')],
    ['delete', `/api/orders/order_list/${order.id}/`],
    ['post', '/api/orders/order_list/one_key_reset/', { order_ids: String(order.id) }],
    ['get', '/api/orders/statistics'],
    ['get', '/api/orders/search'],
    ['get', '/api/orders/export']
  ]
  for (const [method, url, body] of others) {
    expect((await buyer[method](url, body as never)).status, url).toBe(403)
  }
  expect((await current()).task).toBeNull()
})

test('export and copy give the lines of a proxy client', async () => {
  const proxies = await proxiesOf(buyer, order.id)
  const lines = proxies.map(proxy => `${proxy.ip}:${proxy.port}:${proxy.username}:${proxy.password}`)
  expect(new Set(lines).size).toBe(8)
  const exported = await buyer.get(path('export_proxies'))
  expect(exported.data).toEqual({ proxy_lines: lines, proxy_count: 8, filename: `order_${order.id}_proxies.txt` })
  expect((await admin.get(path('copy_proxies'))).data).toEqual({ proxy_lines: lines, proxy_count: 8 })
  const pages = [0, 3, 6].map(offset =>
    buyer.get<{ proxy_list: Proxy[] }>(`${path('get_proxy_detail')}?limit=3&offset=${offset}`)
  )
  const paged = (await Promise.all(pages)).flatMap(page => page.data.proxy_list.map(proxy => proxy.ip))
  expect(paged).toEqual(proxies.map(proxy => proxy.ip))
})

test('after a change of a server’s proxy port the customers’ lists show the new one', async () => {
  type Server = { id: number; name: string; ip: string; proxy_port: number; agent_port: number }
  const { data } = await admin.get<{ data: Server[] }>('/api/servers/servers/?limit=10')
  const server = data.data.find(({ id }) => id === stack.serverId)
  if (!server) throw new Error('the server is not listed')
  const { name, ip, agent_port } = server
  const form = { name, ip, agent_port, port: 22, cidr: '127.25.0.0/26' }
  const save = (proxy_port: number) => admin.put(`/api/servers/servers/${server.id}/`, { ...form, proxy_port })
  const ports = async () => new Set((await proxiesOf(buyer, order.id)).map(proxy => proxy.port))
  expect(await save(4001)).toMatchObject({ code: 2000 })
  expect(await ports()).toEqual(new Set([4001]))
  const { proxy_lines } = (await buyer.get<{ proxy_lines: string[] }>(path('export_proxies'))).data
  expect(proxy_lines.every(line => line.includes(':4001:'))).toBe(true)
  expect(await save(server.proxy_port)).toMatchObject({ code: 2000 })
  expect(await ports()).toEqual(new Set([server.proxy_port]))
})

test('what an administrator does through a customer’s eyes is in the audit log under the own name', async () => {
  await admin.post('/api/users/admin/switch-user', { user_id: order.uid })
  expect((await admin.post(path('reset_proxy_password'))).data).toMatchObject({ status: 'queued' })
  await admin.post('/api/users/admin/switch-back')
  await idle()
  const log = await admin.get<{ data: { viewed_as: string | null }[] }>(
    `/api/settings/audit_log/?search=order ${order.id}`
  )
  const viewing = log.data.data.filter(({ viewed_as }) => viewed_as !== null)
  expect(viewing).toMatchObject([{ action: 'order.reset', actor: 'boss1', viewed_as: 'buyer1' }])
})

test('a new password: the old one ends, and a second action at the same time has to wait', async () => {
  const [before] = await proxiesOf(buyer, order.id)
  await whileAgentWaits(async () => {
    expect((await buyer.post(path('reset_proxy_password'))).data).toMatchObject({ status: 'queued' })
    const second = await buyer.post(path('reset_proxy_password'))
    expect(second).toMatchObject({ status: 409, msg: expect.stringContaining('still running') as string })
    expect((await buyer.get(path('check_proxy'))).status).toBe(409)
    const many = await admin.post<{ status: string }[]>('/api/orders/order_list/one_key_reset/', {
      order_ids: String(order.id)
    })
    expect(many.data).toMatchObject([
      {
        id: order.id,
        status: 'refused',
        reason: 'order_busy',
        params: {},
        msg: expect.stringContaining('running') as string
      }
    ])
  })
  const after = await idle()
  expect(after).toMatchObject({ state: 'delivered', task_error: null, delivery_num: 8 })
  expect(after.reset_time).not.toBeNull()
  const [now] = await proxiesOf(buyer, order.id)
  expect(now).toMatchObject({ ip: before?.ip, username: before?.username })
  expect(now?.password).not.toBe(before?.password)
  expect(await statusOf(before)).toBe(407)
  expect(await statusOf(now)).toBe(200)
})

test('other addresses: the old ones work until the new ones do, and only then return to stock', async () => {
  const before = await proxiesOf(buyer, order.id)
  const stock = await stockOf(stack, [rule])
  await whileAgentWaits(async () => {
    expect((await admin.post(path('reset_proxy'))).data).toMatchObject({ status: 'queued' })
    await stack.eventually('the new lease', async () => (await stockOf(stack, [rule])) === stock - 8)
    expect(await statusOf(before[0])).toBe(200)
    expect(await proxiesOf(buyer, order.id)).toEqual(before)
  })
  expect(await idle()).toMatchObject({ state: 'delivered', delivery_num: 8, task_error: null })
  const after = await proxiesOf(buyer, order.id)
  expect(after).toHaveLength(8)
  const olds = new Set(before.map(proxy => proxy.ip))
  expect(after.some(proxy => olds.has(proxy.ip))).toBe(false)
  expect(await statusOf(after[0])).toBe(200)
  expect(await statusOf(before[0])).toBe(407)
  expect(await stockOf(stack, [rule])).toBe(stock)
  const { rows } = await stack.ctx.db.execute(
    sql`select state, activated_at is not null as paid from leases where order_id = ${order.id} order by id`
  )
  expect(rows).toEqual([
    { state: 'released', paid: true },
    { state: 'active', paid: true }
  ])
})

test('a task that still waits for its turn is not taken for done when an agent confirms something else', async () => {
  const { db } = stack.ctx
  await db
    .update(orders)
    .set({ task: 'change', taskId: 'waiting', taskAt: stack.ctx.now() })
    .where(eq(orders.id, order.id))
  await command(stack.ctx, SYSTEM, unit => advance(unit, [order.id]))
  expect((await current()).task).toBe('change')
  await db.update(orders).set({ task: null, taskId: null, taskAt: null }).where(eq(orders.id, order.id))
})

test('a renewal adds one term for each payment, counted from the present expiry', async () => {
  const before = await current()
  const renewed = await buyer.post<{ checkout_url: string }>(path('order-renew-checkout'))
  const url = new URL(renewed.data.checkout_url)
  expect(url.searchParams.get('attributes[renewal]')).toBe('1')
  expect(url.searchParams.get('attributes[order_id]')).toBe(order.order_id)
  await pay(renewed.data.checkout_url)
  const later = new Date(Date.parse(before.expired_at ?? '') + 30 * DAY).toISOString()
  const after = await stack.eventually('the renewal', async () => {
    const row = await current()
    return row.expired_at === later ? row : null
  })
  // The platform charges today's price again.
  const twice = fromCents(2n * toCents(before.pay_amount ?? ''))
  expect(after).toMatchObject({ state: 'delivered', pay_amount: twice, is_expired: false })
  const again = paidEvent({ publicId: order.order_id, amount: '20.00', renewal: true })
  await Promise.all(['r1', 'r2', 'r3'].map(eventId => report(shop.url, again, { eventId })))
  const outcomes = await Promise.all(['r1', 'r2', 'r3'].map(eventId => outcomeOf(stack, eventId)))
  expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual(['ignored', 'ignored', 'settled'])
  expect((await current()).expired_at).toBe(new Date(Date.parse(later) + 30 * DAY).toISOString())
  const lines = { [PLAN_VARIANT]: order.product_quantity - 1 }
  const short = paidEvent({ publicId: order.order_id, amount: '1.00', renewal: true, lines })
  await report(shop.url, short, { eventId: 'short renewal' })
  expect(await outcomeOf(stack, 'short renewal')).toMatchObject({
    outcome: 'lines_missing',
    detail: { order_id: order.order_id, missing: expect.stringContaining('New York: 7/8') }
  })
  expect((await current()).expired_at).toBe(new Date(Date.parse(later) + 30 * DAY).toISOString())
})

test('at its end an order stops working at once; addresses return after its grace, once the agent has confirmed', async () => {
  const [proxy] = await proxiesOf(buyer, order.id)
  const stock = await stockOf(stack, [rule])
  const { db } = stack.ctx
  await whileAgentWaits(async () => {
    // A change is running when the time is over.
    expect((await admin.post(path('reset_proxy'))).data).toMatchObject({ status: 'queued' })
    await stack.eventually('the new lease', async () => (await stockOf(stack, [rule])) === stock - 8)
    await db
      .update(orders)
      .set({ expiredAt: fromNow(stack.ctx, -1000) })
      .where(eq(orders.id, order.id))
    expect((await current()).is_expired).toBe(true)
    // The clock decides, not the job.
    expect(await proxiesOf(buyer, order.id)).toEqual([])
    expect((await buyer.get(path('export_proxies'))).code).not.toBe(2000)
    const ended = await Promise.all([expireOrders(stack.ctx), expireOrders(stack.ctx)])
    expect(ended[0] + ended[1]).toBeLessThanOrEqual(1)
    expect(await current()).toMatchObject({ state: 'expired', task: null })
    expect(await stockOf(stack, [rule])).toBe(stock - 8)
  })
  await stack.eventually('the agent to let go of it', async () => {
    const { rows } = await db.execute(sql`select 1 from agent_users where order_id = ${order.id}`)
    return rows.length === 0
  })
  // Until the end of its grace they are held for its customer.
  expect(await stockOf(stack, [rule])).toBe(stock - 8)
  expect((await buyer.post(path('order-renew-checkout'))).code).toBe(2000)
  await db
    .update(orders)
    .set({ graceUntil: fromNow(stack.ctx, -1000) })
    .where(eq(orders.id, order.id))
  await endGraces(stack.ctx)
  await stack.eventually('the addresses to return', async () => (await stockOf(stack, [rule])) === stock + 8)
  expect(await statusOf(proxy)).toBe(407)
  expect((await buyer.get(path('export_proxies'))).msg).toBe('No proxy data found')
  const { rows } = await db.execute(sql`select count(*) as users from agent_users where order_id = ${order.id}`)
  expect(rows).toEqual([{ users: 0 }])
  expect(stack.agent.port).toBeGreaterThan(0)

  const words = 'The order has expired, please place a new order.'
  expect(await buyer.post(path('order-renew-checkout'))).toMatchObject({ status: 409, msg: words })
  expect(await buyer.post(path('reset_proxy_password'))).toMatchObject({ status: 409, msg: words })
  expect((await admin.post(path('devery_order'))).status).toBe(409)
  const mails = (await adminNotices(stack)).length
  await report(shop.url, paidEvent({ publicId: order.order_id, amount: '20.00', renewal: true }), {
    eventId: 'too late'
  })
  expect(await outcomeOf(stack, 'too late')).toMatchObject({
    outcome: 'too_late',
    detail: { order_id: order.order_id, state: 'expired' }
  })
  expect((await adminNotices(stack)).at(-1)).toContain('or can no longer be renewed. Refund #')
  expect((await adminNotices(stack)).length).toBe(mails + 1)
  expect((await current()).state).toBe('expired')
})
