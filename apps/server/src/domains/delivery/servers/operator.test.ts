import type { BulkRow, BulkRun, Order, Server, ServerImpact, ServerPlan } from '@netlet/contract'
import { eq, inArray } from '../../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deliveryPorts } from '../../../workers.ts'
import { repairServer } from '../../convergence/repair.ts'
import { servers } from '../../servers/tables.ts'
import { orders } from '../../orders/tables.ts'
import { expireOrders } from '../index.ts'
import { runTask } from '../tasks.ts'
import { rescueOrders } from './index.ts'
import { startServersStack, wrongNow, type ServersStack, type TestServer } from './servers.fixture.ts'

let stack: ServersStack
let second: TestServer

beforeAll(async () => {
  stack = await startServersStack('127.62.0.0/27')
  second = await stack.addNamed('127.62.1.0/27')
}, 120_000)
afterAll(() => stack?.close())

const call = <T>(server: TestServer, action: string, body: object = {}) =>
  stack.admin.post<T>(`/api/servers/servers/${server.id}/${action}/`, body)
const impact = async (server: TestServer) =>
  (await stack.admin.get<ServerImpact>(`/api/servers/servers/${server.id}/impact/`)).data
const rowsOf = async (run: BulkRun | null) =>
  (await stack.admin.get<{ data: BulkRow[] }>(`/api/bulk/${run?.id}/rows/?limit=100`)).data.data

/** Ends these orders, so that the next test starts with free servers. */
async function end(...ids: number[]): Promise<void> {
  await stack.ctx.db
    .update(orders)
    .set({ expiredAt: new Date(0) })
    .where(inArray(orders.id, ids))
  await expireOrders(stack.ctx)
  await stack.settle()
}

test('a drained server sells nothing, and its orders move away while their addresses work', async () => {
  const { ctx, first } = stack
  const one = await stack.delivered(8)
  const two = await stack.delivered(16)
  expect(await stack.live(two)).toEqual({ [first.id]: 16 })
  expect(await impact(first)).toEqual({ orders: 2, addresses: 24, undelivered: 0, unpaid: 0 })

  const run = (await call<BulkRun>(first, 'drain')).data
  expect(run).toMatchObject({ action: 'order.leave_server', total: 2 })
  expect(await stack.stock()).toBe(32)
  await stack.finish(run)
  // The new addresses are not there yet: the old ones still work.
  expect(await stack.live(one)).toEqual({ [first.id]: 8 })
  expect(await stack.order(one)).toMatchObject({ state: 'delivered', deliveryNum: 8 })
  const mails = await stack.mails('addresses-changed')
  // One for both orders.
  expect(mails.map(mail => mail.to)).toEqual(['buyer1@example.com'])

  await stack.settle()
  expect(await stack.live(one)).toEqual({ [second.id]: 8 })
  expect(await stack.live(two)).toEqual({ [second.id]: 16 })
  expect(await stack.usersOn(first.id)).toEqual([])
  expect(await impact(first)).toEqual({ orders: 0, addresses: 0, undelivered: 0, unpaid: 0 })
  // The second time there is nothing left to do.
  expect((await call<BulkRun | null>(first, 'drain')).data).toBeNull()
  expect((await call<Server>(first, 'resume')).data).toMatchObject({ status: 'active' })
  expect(await stack.stock()).toBe(8 + 32)
  expect(await wrongNow(ctx.db)).toEqual([])
  await end(one, two)
}, 60_000)

test('a plan says before what would move, what would not, and which stock would go, and changes nothing', async () => {
  const { first } = stack
  const plan = (from: TestServer, query: string) =>
    stack.admin.get<ServerPlan>(`/api/servers/servers/${from.id}/plan/?action=${query}`)
  const big = await stack.delivered(24)
  const other = await stack.delivered(16)
  const small = await stack.delivered(8)
  expect([await stack.live(big), await stack.live(other)]).toEqual([{ [first.id]: 24 }, { [second.id]: 16 }])
  expect(await stack.live(small)).toEqual({ [first.id]: 8 })
  const staying = [{ order_id: (await stack.order(big)).publicId, addresses: 24 }]
  const figures = {
    orders: 2,
    addresses: 32,
    moves: { orders: 1, addresses: 8 },
    stays: { orders: 1, addresses: 24 },
    staying
  }
  expect((await plan(first, 'drain')).data).toMatchObject({ ...figures, stock: [] })
  expect((await plan(first, 'give_up')).data).toMatchObject(figures)
  expect((await plan(first, `move&server_id=${second.id}`)).data).toMatchObject({ ...figures, stock: [] })
  expect((await plan(second, 'pause')).data).toMatchObject({
    moves: { orders: 0, addresses: 0 },
    stock: [{ before: 16, after: 0 }]
  })
  expect((await plan(first, `move&server_id=${first.id}`)).code).toBe(400)
  expect((await plan(first, 'move&group_id=999')).code).toBe(400)
  expect(await plan(first, 'delete')).toMatchObject({
    code: 409,
    msg: expect.stringContaining('still leased') as string
  })
  expect((await stack.admin.get<Server>(`/api/servers/servers/${first.id}/`)).data.status).toBe('active')
  expect(await stack.live(big)).toEqual({ [first.id]: 24 })
  await end(big, other, small)
}, 60_000)

test('a plan counts live orders, and reservations that are not paid, apart', async () => {
  const { first } = stack
  const plan = async (action: string) =>
    (await stack.admin.get<ServerPlan>(`/api/servers/servers/${first.id}/plan/?action=${action}`)).data
  const live = await stack.delivered(8)
  const { id: reserved } = await stack.place(8)
  const none = { orders: 0, addresses: 0 }
  const one = { orders: 1, addresses: 8 }
  const figures = { ...one, unpaid: 1, moves: one, stays: none, staying: [] }
  expect(await plan('drain')).toMatchObject({ ...figures, reservations: { moves: one, stays: none } })
  expect(await plan('move')).toMatchObject({ ...figures, reservations: { moves: one, stays: none } })
  // Giving up ends them, even if there is room.
  expect(await plan('give_up')).toMatchObject({ ...figures, reservations: { moves: none, stays: one } })
  const cancelled = await stack.admin.post(`/api/orders/order_list/${reserved}/cancel/`, {})
  expect(cancelled.code).toBe(2000)
  await end(live)
}, 60_000)

test('what finds no room stays and works, says why, and moves by itself once there is room', async () => {
  const { ctx, first } = stack
  const big = await stack.delivered(32)
  const other = await stack.delivered(16)
  expect([await stack.live(big), await stack.live(other)]).toEqual([{ [first.id]: 32 }, { [second.id]: 16 }])
  const run = (await call<BulkRun>(first, 'drain')).data
  await stack.finish(run)
  expect(await rowsOf(run)).toMatchObject([{ state: 'refused', reason: 'out_of_stock' }])
  expect(await stack.live(big)).toEqual({ [first.id]: 32 })
  await end(other)
  await rescueOrders(ctx)
  await stack.settle()
  expect(await stack.live(big)).toEqual({ [second.id]: 32 })
  await call(first, 'resume')
  await end(big)
}, 60_000)

test('one order moves to another server or group, and not while something else is done to it', async () => {
  const { first } = stack
  const id = await stack.delivered(8)
  const move = (body: object) => stack.admin.post<Order>(`/api/orders/order_list/${id}/move/`, body)
  expect((await move({ server_id: first.id })).code).toBe(409)
  expect((await move({ group_id: 999 })).code).toBe(400)
  const task = await stack.admin.post<{ task_id: string }>(`/api/orders/order_list/${id}/reset_proxy_password/`, {})
  expect((await move({ server_id: second.id })).code).toBe(409)
  await runTask(stack.ctx, deliveryPorts, { orderId: id, taskId: task.data.task_id })
  await stack.settle()
  expect((await move({ server_id: second.id })).code).toBe(2000)
  await stack.settle()
  expect(await stack.live(id)).toEqual({ [second.id]: 8 })
  expect((await move({ from_server_id: first.id })).code).toBe(409)
  expect((await move({})).code).toBe(2000)
  const stock = await stack.stock()
  await stack.converge(first.id)
  expect(await stack.live(id)).toEqual({ [first.id]: 8 })
  // The other agent may still serve the order's old addresses. They are sold again once the agent has dropped them.
  expect(await stack.stock()).toBe(stock)
  await stack.settle()
  expect(await stack.stock()).toBe(stock + 8)
  await end(id)
}, 60_000)

test('a server that is given up while it is silent keeps no order hanging, and sells nothing until it was compared', async () => {
  const { ctx, first } = stack
  const lost = await stack.delivered(24)
  const ended = await stack.delivered(8)
  const both = await stack.delivered(32)
  expect(await stack.live(both)).toEqual({ [second.id]: 32 })
  await end(both)
  const kept = await stack.delivered(16)
  expect(await stack.live(kept)).toEqual({ [second.id]: 16 })
  await first.agent.stop()
  // Its agent can never confirm that this order has ended.
  await end(ended)
  expect(await stack.usersOn(first.id)).toHaveLength(2)
  await ctx.db.update(servers).set({ offline: true }).where(eq(servers.id, first.id))

  const run = (await call<BulkRun>(first, 'give_up')).data
  expect(run.total).toBe(2)
  await stack.finish(run)
  expect(await rowsOf(run)).toMatchObject([{ state: 'succeeded' }, { state: 'succeeded' }])
  expect(await stack.usersOn(first.id)).toEqual([])
  expect(await wrongNow(ctx.db)).toEqual([])
  // It lost 24, and 16 are free elsewhere. It gets these and says what is missing, and the administrators are notified.
  expect(await stack.order(lost)).toMatchObject({
    deliveryNum: 0,
    failCode: 'addresses_lost',
    failParams: { count: 8 }
  })
  expect((await stack.notices()).filter(key => key.startsWith('given-up'))).toHaveLength(1)
  expect(await stack.stock()).toBe(0)
  await end(kept)
  await rescueOrders(ctx)
  await stack.settle()
  expect(await stack.order(lost)).toMatchObject({ deliveryNum: 24, failCode: null })
  expect(await stack.live(lost)).toEqual({ [second.id]: 24 })

  for (const action of ['pause', 'resume', 'drain', 'move']) expect((await call(first, action)).code, action).toBe(409)
  expect((await call<Server>(first, 'take_back')).data).toMatchObject({ status: 'returning', sells: false })
  expect((await call(first, 'resume')).code).toBe(409)
  expect(await stack.stock()).toBe(8)
  // It still serves its former orders. They go before anyone else gets their addresses.
  await first.agent.start()
  await stack.health()
  await stack.settle()
  await repairServer(ctx, first.id)
  const state = await fetch(`http://127.0.0.1:${stack.agent.port}/api/state`, {
    headers: { authorization: `Bearer ${stack.agent.token}` }
  })
  expect(((await state.json()) as { users: unknown[] }).users).toEqual([])
  expect(await stack.stock()).toBe(8 + 32)
  expect(await wrongNow(ctx.db)).toEqual([])
  await end(lost)
}, 60_000)

test('giving up a server that takes part of an order leaves the other part as it is', async () => {
  const { ctx } = stack
  const third = await stack.addNamed('127.62.2.0/29')
  const fourth = await stack.addNamed('127.62.3.0/29')
  const id = await stack.delivered(72)
  expect(await stack.live(id)).toEqual({ [stack.first.id]: 32, [second.id]: 32, [third.id]: 8 })
  const other = await stack.delivered(8)
  expect(await stack.live(other)).toEqual({ [fourth.id]: 8 })
  await third.agent.stop()
  await call(third, 'give_up')
  // The run's process died, so the minute's job continues it.
  await rescueOrders(ctx)
  expect(await stack.live(id)).toEqual({ [stack.first.id]: 32, [second.id]: 32 })
  expect(await stack.order(id)).toMatchObject({ state: 'delivered', deliveryNum: 64, failParams: { count: 8 } })
  await end(other)
  await rescueOrders(ctx)
  await stack.settle()
  expect(await stack.live(id)).toEqual({ [stack.first.id]: 32, [second.id]: 32, [fourth.id]: 8 })
  expect(await stack.order(id)).toMatchObject({ deliveryNum: 72, failCode: null })
  expect(await wrongNow(ctx.db)).toEqual([])
}, 60_000)
