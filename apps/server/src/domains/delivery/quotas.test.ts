import type { Order } from '@netlet/contract'
import { and, eq, ne, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createApiKey } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import { agentUsers } from '../servers/tables.ts'
import type { OrderRow } from '../orders/index.ts'
import { startOrderShop, type Buyer, type OrderShop } from '../payments/order-shop.fixture.ts'
import { writeSettings } from '../settings/index.ts'
import { auditLog } from '../../infra/tables.ts'
import { DAY, MINUTE } from '../../infra/clock.ts'
import { userActor } from '../../testing/session.ts'
import { TEST_PASSWORD } from '../../testing/shop.ts'
import { deliveryPorts } from '../../workers.ts'
import { confirmOutcomes } from './index.ts'
import { proxies } from './tables.ts'
import { runTask } from './tasks.ts'

/** 32 addresses: 4 blocks of 8. */
let world: OrderShop
let buyer: Buyer
let stranger: Buyer
let boss: Buyer

beforeAll(async () => {
  world = await startOrderShop({ ranges: ['127.91.0.0/27'] })
  buyer = await world.customer('changer1')
  stranger = await world.customer('changer2')
  boss = await world.admin('boss')
})
afterAll(() => world?.close())
beforeEach(async () => {
  await world.endAll()
  await quotas(0, 10)
})

const quotas = (changes: number, resets: number | '') =>
  writeSettings(world.shop.ctx, { customer_changes_per_term: changes, customer_resets_per_term: resets })

async function delivered(quantity = 8, by = buyer): Promise<OrderRow> {
  const order = await world.place(by, quantity)
  expect(await world.pay(order)).toMatchObject({ outcome: 'settled' })
  await world.confirm()
  return world.row(order.id)
}

const CALLS = { change: 'reset_proxy', reset: 'reset_proxy_password' }
const ask = (id: number, call: keyof typeof CALLS, by = buyer) =>
  by.post<{ reason: string; params: { max: number; until: string } }>(`/api/orders/order_list/${id}/${CALLS[call]}/`)
/** Does the task's work, without its agents. */
async function work(id: number): Promise<void> {
  const { taskId } = await world.row(id)
  if (taskId) await runTask(world.shop.ctx, deliveryPorts, { orderId: id, taskId })
}
/** Requests a task, and has it done. */
async function done(id: number, call: keyof typeof CALLS, by = buyer): Promise<void> {
  const asked = await ask(id, call, by)
  expect(asked.code, asked.msg).toBe(2000)
  await work(id)
  // Once for the new ones, and once for those that go back.
  await world.confirm()
  await world.confirm()
  expect((await world.row(id)).task).toBeNull()
}
async function shown(id: number, by = buyer): Promise<Order> {
  const list = await by.get<{ data: Order[] }>(`/api/orders/order_list/?id=${id}`)
  const [order] = list.data.data
  if (!order) throw new Error(`order ${id} is not listed`)
  return order
}
const left = async (id: number) => {
  const { changes_left, resets_left } = await shown(id)
  return [changes_left, resets_left]
}
const ipsOf = async (id: number) =>
  (
    await world.shop.ctx.db
      .select({ ip: proxies.ip })
      .from(proxies)
      .where(and(eq(proxies.orderId, id), ne(proxies.state, 'retired')))
      .orderBy(proxies.ip)
  ).map(({ ip }) => ip)

test('by default a customer changes no addresses and resets its password ten times; an unpaid order knows neither', async () => {
  const order = await world.place(buyer)
  expect(await left(order.id)).toEqual([0, 0])
  await world.pay(order)
  await world.confirm()
  expect(await left(order.id)).toEqual([0, 10])
  expect(await ask(order.id, 'change')).toMatchObject({ status: 409, data: { reason: 'task_not_allowed' } })
  await done(order.id, 'reset')
  expect(await left(order.id)).toEqual([0, 9])
  await quotas(0, 0)
  expect(await ask(order.id, 'reset')).toMatchObject({ status: 409, data: { reason: 'task_not_allowed' } })
  await quotas(0, '')
  expect(await left(order.id)).toEqual([0, null])
})

test('a used-up quota comes back with a renewal, and the refusal says when the term ends', async () => {
  await quotas(2, 1)
  const order = await delivered()
  const first = await ipsOf(order.id)
  await done(order.id, 'change')
  const second = await ipsOf(order.id)
  expect(second.filter(ip => first.includes(ip))).toEqual([])
  await done(order.id, 'change')
  await done(order.id, 'reset')
  expect(await left(order.id)).toEqual([0, 0])
  const until = order.expiredAt?.toISOString()
  expect(await ask(order.id, 'change')).toMatchObject({
    status: 429,
    data: { reason: 'task_used_up', params: { max: 2, until } }
  })
  expect(await ask(order.id, 'reset')).toMatchObject({ status: 429, data: { reason: 'task_used_up' } })
  // A quota below what was used leaves none.
  await quotas(1, 1)
  expect(await left(order.id)).toEqual([0, 0])
  await world.pay(order, { renewal: true })
  expect(await left(order.id)).toEqual([1, 1])
  await done(order.id, 'reset')
})

test('of ten at once in one order one is queued, and counted once', async () => {
  await quotas(5, 5)
  const order = await delivered()
  for (const call of ['change', 'reset'] as const) {
    const replies = await Promise.all(Array.from({ length: 10 }, () => ask(order.id, call)))
    expect(replies.filter(reply => reply.code === 2000)).toHaveLength(1)
    expect(new Set(replies.filter(reply => reply.code !== 2000).map(reply => reply.data.reason))).toEqual(
      new Set(['order_busy'])
    )
    await work(order.id)
    await world.confirm()
    await world.confirm()
  }
  expect(await left(order.id)).toEqual([4, 4])
})

test('what operators change is not counted, also through the eyes of the customer', async () => {
  await quotas(1, 1)
  const order = await delivered()
  await done(order.id, 'change', boss)
  await done(order.id, 'reset', boss)
  const switched = await boss.post('/api/users/admin/switch-user', { user_id: buyer.user.id })
  expect(switched.code, switched.msg).toBe(2000)
  await done(order.id, 'change', boss)
  await boss.post('/api/users/admin/switch-back', {})
  expect(await left(order.id)).toEqual([1, 1])
  const entries = await world.shop.ctx.db.select().from(auditLog).where(eq(auditLog.action, 'order.change'))
  expect(entries.filter(entry => entry.targetId === String(order.id))).toHaveLength(2)
  await done(order.id, 'change')
  const after = await world.shop.ctx.db.select().from(auditLog).where(eq(auditLog.action, 'order.change'))
  expect(after).toHaveLength(entries.length)
})

test('without other addresses the change fails, and the quota is as before', async () => {
  await quotas(1, 1)
  const order = await delivered(24)
  const before = await ipsOf(order.id)
  expect((await ask(order.id, 'change')).code).toBe(2000)
  expect(await left(order.id)).toEqual([0, 1])
  await work(order.id)
  expect(await shown(order.id)).toMatchObject({ task: null, task_fail: { code: 'out_of_stock' }, changes_left: 1 })
  expect(await ipsOf(order.id)).toEqual(before)
})

test('while more of its addresses rest than it has, a customer waits for the next change; an operator does not', async () => {
  await quotas(5, 5)
  await writeSettings(world.shop.ctx, { quarantine_hours: 2 })
  const order = await delivered()
  await done(order.id, 'change')
  await done(order.id, 'change')
  const refused = await ask(order.id, 'change')
  expect(refused).toMatchObject({ status: 429, data: { reason: 'changes_rest' } })
  const wait = Date.parse(refused.data.params.until) - world.shop.ctx.now().getTime()
  expect(wait).toBeGreaterThan(119 * MINUTE)
  expect(wait).toBeLessThanOrEqual(120 * MINUTE)
  expect(await left(order.id)).toEqual([3, 5])
  await done(order.id, 'reset')
  // The first of the two has ended, so no more rest than it holds.
  await world.shop.ctx.db.execute(sql`update lease_blocks set rests_until = null where id = (
    select min(b.id) from lease_blocks b join leases l on l.id = b.lease_id where l.order_id = ${order.id})`)
  await done(order.id, 'change')
  expect(await ask(order.id, 'change')).toMatchObject({ data: { reason: 'changes_rest' } })
  await done(order.id, 'change', boss)
  await writeSettings(world.shop.ctx, { quarantine_hours: 0 })
  await world.shop.ctx.db.execute(sql`update lease_blocks set rests_until = null where rests_until is not null`)
})

test('after a change that found no addresses its customer waits ten minutes; an operator does not', async () => {
  await quotas(5, 5)
  const order = await delivered(24)
  // Other tasks are not held up.
  await done(order.id, 'reset')
  expect((await ask(order.id, 'change')).code).toBe(2000)
  await work(order.id)
  const refused = await ask(order.id, 'change')
  expect(refused).toMatchObject({ status: 429, data: { reason: 'changes_found_none' } })
  const wait = Date.parse(refused.data.params.until) - world.shop.ctx.now().getTime()
  expect(wait).toBeGreaterThan(9 * MINUTE)
  expect(wait).toBeLessThanOrEqual(10 * MINUTE)
  await done(order.id, 'reset')
  expect(await ask(order.id, 'change')).toMatchObject({ data: { reason: 'changes_found_none' } })
  expect((await ask(order.id, 'change', boss)).code).toBe(2000)
  await work(order.id)
  expect(await left(order.id)).toEqual([5, 3])
  await world.advance(10 * MINUTE)
  expect((await ask(order.id, 'change')).code).toBe(2000)
})

test('a customer gets nothing back that it gave away within a term; an operator may', async () => {
  await quotas(100, 10)
  const order = await delivered(16)
  const before = await ipsOf(order.id)
  await done(order.id, 'change')
  expect((await ask(order.id, 'change')).code).toBe(2000)
  await work(order.id)
  expect(await shown(order.id)).toMatchObject({ task_fail: { code: 'out_of_stock' }, changes_left: 99 })
  // The failed try holds nothing.
  expect(await world.stock()).toBe(16)
  await done(order.id, 'change', boss)
  expect(await ipsOf(order.id)).toEqual(before)
  // A term later it may get them again.
  await world.pay(order, { renewal: true })
  await world.advance(31 * DAY)
  await done(order.id, 'change')
  expect(await ipsOf(order.id)).not.toEqual(before)
})

const refuseAll = (id: number) =>
  confirmOutcomes(world.shop.ctx)([id], async ({ tx }) => {
    await tx.update(agentUsers).set({ refusal: 'no such prefix' }).where(eq(agentUsers.orderId, id))
  })
const acceptAll = (id: number) =>
  world.shop.ctx.db.update(agentUsers).set({ refusal: null }).where(eq(agentUsers.orderId, id))

test('a change that an agent refuses stays counted, since it completes once the agent takes it', async () => {
  await quotas(1, 1)
  const order = await delivered()
  const before = await ipsOf(order.id)
  expect((await ask(order.id, 'change')).code).toBe(2000)
  await work(order.id)
  await refuseAll(order.id)
  expect(await shown(order.id)).toMatchObject({ task_fail: { code: 'agent_refused' }, changes_left: 0 })
  expect(await ask(order.id, 'change')).toMatchObject({ status: 429, data: { reason: 'task_used_up' } })
  await acceptAll(order.id)
  await world.confirm()
  await world.confirm()
  const after = await ipsOf(order.id)
  expect(after).toHaveLength(8)
  expect(after.filter(ip => before.includes(ip))).toEqual([])
  expect(await left(order.id)).toEqual([0, 1])
})

test('a change that only continues one under way uses nothing of the quota, however it ends', async () => {
  await quotas(1, 1)
  const order = await delivered()
  expect((await ask(order.id, 'change', boss)).code).toBe(2000)
  await work(order.id)
  await refuseAll(order.id)
  const wanted = await ipsOf(order.id)
  expect((await ask(order.id, 'change')).code).toBe(2000)
  await work(order.id)
  await refuseAll(order.id)
  expect(await shown(order.id)).toMatchObject({ task_fail: { code: 'agent_refused' }, changes_left: 1 })
  await acceptAll(order.id)
  await done(order.id, 'change')
  const second = await ipsOf(order.id)
  expect(wanted).toEqual(expect.arrayContaining(second))
  expect(await left(order.id)).toEqual([1, 1])
  // Then a change of its own is counted.
  await done(order.id, 'change')
  expect((await ipsOf(order.id)).filter(ip => second.includes(ip))).toEqual([])
  expect(await left(order.id)).toEqual([0, 1])
})

test("another's order is not there, a banned customer is out, and no key may ask", async () => {
  await quotas(5, 5)
  const order = await delivered()
  for (const call of ['change', 'reset'] as const) expect((await ask(order.id, call, stranger)).status).toBe(404)
  const made = await createApiKey(world.shop.ctx, userActor(buyer.user.id), {
    name: 'all',
    scopes: ['read', 'renew', 'webhooks'],
    password: TEST_PASSWORD
  })
  if (!made.ok) throw new Error(made.reason)
  for (const call of Object.values(CALLS)) {
    const reply = await world.shop.app.inject({
      method: 'POST',
      url: `/api/orders/order_list/${order.id}/${call}/`,
      headers: { authorization: `Bearer ${made.data.key}` }
    })
    expect(reply.statusCode).toBe(403)
  }
  await world.shop.ctx.db.update(users).set({ isActive: false }).where(eq(users.id, buyer.user.id))
  expect((await ask(order.id, 'change')).status).toBe(401)
  await world.shop.ctx.db.update(users).set({ isActive: true }).where(eq(users.id, buyer.user.id))
  expect(await left(order.id)).toEqual([5, 5])
})
