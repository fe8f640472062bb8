import type { WebhookEndpoint } from '@netlet/contract'
import { asc, eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY, MINUTE } from '../../infra/clock.ts'
import { deliveryPorts } from '../../workers.ts'
import { agentUsers, orderAccess, servers } from '../servers/tables.ts'
import { orders } from '../orders/tables.ts'
import { remindExpiries } from '../orders/index.ts'
import { webhookDeliveries, webhookEvents } from '../webhooks/tables.ts'
import { expireOrders } from './index.ts'
import { startServersStack, type ServersStack } from './servers/servers.fixture.ts'
import { runTask } from './tasks.ts'

let stack: ServersStack
let mine: WebhookEndpoint
let operators: WebhookEndpoint

beforeAll(async () => {
  stack = await startServersStack('127.66.0.0/28')
  const made = await stack.buyer.post<WebhookEndpoint>('/api/webhooks/endpoints/', {
    url: 'https://hooks.example.com/customer',
    events: ['order.delivered', 'order.expiring', 'order.expired', 'proxies.changed', 'credentials.changed']
  })
  mine = made.data
  const all = await stack.admin.post<WebhookEndpoint>('/api/settings/outgoing_webhooks/endpoints/', {
    url: 'https://hooks.example.com/operators',
    events: [
      'order.placed',
      'order.paid',
      'order.delivered',
      'order.expired',
      'payment.received',
      'payment.attention',
      'server.down',
      'server.up'
    ]
  })
  operators = all.data
}, 120_000)
afterAll(() => stack?.close())

/** What an endpoint has received since the last time, oldest first. */
async function toldTo({ id }: WebhookEndpoint) {
  const rows = await stack.ctx.db
    .select({ type: webhookEvents.type, data: webhookEvents.data })
    .from(webhookDeliveries)
    .innerJoin(webhookEvents, eq(webhookEvents.id, webhookDeliveries.eventId))
    .where(eq(webhookDeliveries.endpointId, id))
    .orderBy(asc(webhookDeliveries.id))
  await stack.ctx.db.delete(webhookDeliveries).where(eq(webhookDeliveries.endpointId, id))
  return rows
}
const typesTo = async (endpoint: WebhookEndpoint) => (await toldTo(endpoint)).map(row => row.type)

async function task(id: number, call: 'reset_proxy' | 'reset_proxy_password') {
  const asked = await stack.admin.post<{ task_id: string }>(`/api/orders/order_list/${id}/${call}/`, {})
  expect(asked.code).toBe(2000)
  await runTask(stack.ctx, deliveryPorts, { orderId: id, taskId: asked.data.task_id })
  await stack.settle()
}

test('an order’s life is reported: each change once, in its transaction, and without what opens its proxies', async () => {
  const id = await stack.delivered(8)
  const order = await stack.order(id)
  expect(await typesTo(operators)).toEqual(['order.placed', 'order.paid', 'payment.received', 'order.delivered'])
  const told = await toldTo(mine)
  expect(told).toEqual([
    {
      type: 'order.delivered',
      data: {
        order_id: id,
        order: order.publicId,
        user_id: order.userId,
        state: 'delivered',
        proxies: 8,
        expires_at: order.expiredAt?.toISOString()
      }
    }
  ])

  await task(id, 'reset_proxy_password')
  const reset = await toldTo(mine)
  expect(reset).toMatchObject([{ type: 'credentials.changed', data: { order_id: id, changed: 'password' } }])
  await task(id, 'reset_proxy')
  const changed = await toldTo(mine)
  expect(changed).toMatchObject([{ type: 'proxies.changed', data: { order_id: id } }])
  const access = await stack.buyer.put(`/api/orders/order_list/${id}/client_access/`, {
    access: 'address',
    client_ips: ['203.0.113.7']
  })
  expect(access.code).toBe(2000)
  const allowed = await toldTo(mine)
  expect(allowed).toMatchObject([{ type: 'credentials.changed', data: { changed: 'client_access' } }])

  const { proxyPassword, proxyUsername } = await stack.order(id)
  const all = JSON.stringify([told, reset, changed, allowed])
  for (const secret of [proxyPassword, order.proxyPassword, proxyUsername]) expect(all).not.toContain(secret)

  await stack.ctx.db
    .update(orders)
    .set({ expiredAt: new Date(stack.ctx.now().getTime() + DAY / 2) })
    .where(eq(orders.id, id))
  await remindExpiries(stack.ctx)
  await remindExpiries(stack.ctx)
  expect(await toldTo(mine)).toMatchObject([{ type: 'order.expiring', data: { order_id: id, last: true } }])
  stack.pass(DAY)
  await expireOrders(stack.ctx)
  await stack.settle()
  expect(await typesTo(mine)).toEqual(['order.expired'])
  expect(await typesTo(operators)).toEqual(['order.expired'])
}, 60_000)

test('changes of the client list by others are reported: an operator, and an order that lists them at the same addresses', async () => {
  const { db } = stack.ctx
  const id = await stack.delivered(8)
  const list = { access: 'address', client_ips: ['198.51.100.7', '203.0.113.7'] }
  await toldTo(mine)
  expect((await stack.admin.put(`/api/orders/order_list/${id}/client_access/`, list)).code).toBe(2000)
  const byOperator = await toldTo(mine)
  expect(byOperator).toMatchObject([{ type: 'credentials.changed', data: { order_id: id, changed: 'client_access' } }])

  const [served] = await db.select().from(agentUsers).where(eq(agentUsers.orderId, id))
  if (!served) throw new Error('the order is on no agent')
  const other = { orderId: 999_999, access: 'address' as const, clientIps: ['198.51.100.0/24'] }
  await db.insert(agentUsers).values({ ...served, orderId: other.orderId, username: 'another' })
  await db.insert(orderAccess).values({ ...other, attemptsSince: stack.ctx.now() })
  await task(id, 'reset_proxy_password')
  const lost = await toldTo(mine)
  expect(lost.map(({ type, data }) => [type, data['changed']])).toEqual([
    ['credentials.changed', 'password'],
    ['credentials.changed', 'client_access']
  ])
  await db.delete(agentUsers).where(eq(agentUsers.orderId, other.orderId))
  await task(id, 'reset_proxy_password')
  expect(await toldTo(mine)).toHaveLength(1)
}, 60_000)

test('a server that is out of stock because it is silent is reported once, and so is its return', async () => {
  await toldTo(operators)
  await stack.first.agent.stop()
  await stack.health()
  stack.pass(11 * MINUTE)
  await stack.health()
  await stack.health()
  const [server] = await stack.ctx.db.select().from(servers).where(eq(servers.id, stack.first.id))
  expect(await toldTo(operators)).toMatchObject([
    { type: 'server.down', data: { server_id: stack.first.id, server: server?.name, since: expect.any(String) } }
  ])
  await stack.first.agent.start()
  await stack.health()
  await stack.health()
  expect(await typesTo(operators)).toEqual(['server.up'])
}, 60_000)

test('money that needs a decision is reported, with its result', async () => {
  const { publicId } = await stack.place(8)
  const first = await stack.report(publicId, false)
  await stack.handle(first)
  await toldTo(operators)
  // Another payment for the same order.
  await stack.handle(await stack.report(publicId, false))
  expect(await toldTo(operators)).toMatchObject([
    { type: 'payment.received', data: { outcome: 'paid_twice', order: publicId } },
    { type: 'payment.attention', data: { outcome: 'paid_twice', order: publicId } }
  ])
}, 60_000)
