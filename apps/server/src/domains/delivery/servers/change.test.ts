import { and, eq } from '../../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../../infra/actor.ts'
import { MINUTE } from '../../../infra/clock.ts'
import { command } from '../../../infra/command.ts'
import { deliveryPorts } from '../../../workers.ts'
import { servers } from '../../servers/tables.ts'
import { markReplaced } from '../../inventory/index.ts'
import { lockOrder } from '../../orders/index.ts'
import { orders } from '../../orders/tables.ts'
import { writeSettings } from '../../settings/index.ts'
import { advance } from '../advance.ts'
import { expireOrders } from '../index.ts'
import { proxies } from '../tables.ts'
import { runTask } from '../tasks.ts'
import { rescueOrders } from './index.ts'
import { startServersStack, wrongNow, type ServersStack, type TestServer } from './servers.fixture.ts'
import { abandonChange } from './rescue.ts'

let stack: ServersStack
let second: TestServer

beforeAll(async () => {
  stack = await startServersStack('127.65.0.0/28')
  second = await stack.addNamed('127.65.1.0/29')
  await setStatus(second, 'paused')
}, 120_000)
afterAll(() => stack?.close())

const setStatus = (server: TestServer, status: 'active' | 'paused') =>
  stack.ctx.db.update(servers).set({ status }).where(eq(servers.id, server.id))

/** Requests other addresses: they are wanted on their agents, and none has confirmed them yet. */
async function change(id: number, by = stack.admin): Promise<void> {
  const asked = await by.post<{ task_id: string }>(`/api/orders/order_list/${id}/reset_proxy/`, {})
  expect(asked.code).toBe(2000)
  await runTask(stack.ctx, deliveryPorts, { orderId: id, taskId: asked.data.task_id })
  expect(await stack.order(id)).toMatchObject({ task: 'change' })
}

const giveUp = async (server: TestServer) => {
  const given = await stack.admin.post(`/api/servers/servers/${server.id}/give_up/`, {})
  expect(given.code).toBe(2000)
  // The run's process died, so the minute's job continues it.
  await rescueOrders(stack.ctx)
}

async function end(id: number): Promise<void> {
  await stack.ctx.db
    .update(orders)
    .set({ expiredAt: new Date(0) })
    .where(eq(orders.id, id))
  await expireOrders(stack.ctx)
  await stack.settle()
}

/** What the first server's agent serves. */
async function served(): Promise<string[]> {
  const state = await fetch(`http://127.0.0.1:${stack.agent.port}/api/state`, {
    headers: { authorization: `Bearer ${stack.agent.token}` }
  })
  return ((await state.json()) as { users: { prefixes: string[] }[] }).users.flatMap(user => user.prefixes)
}

test('a change whose new addresses were rescued from the silent server of the old ones ends with the rescued ones', async () => {
  const { ctx, first } = stack
  const id = await stack.delivered(8)
  await first.agent.stop()
  await change(id)
  await stack.health()
  stack.pass(31 * MINUTE)
  await setStatus(second, 'active')
  await rescueOrders(ctx)
  await stack.settle()
  expect(await stack.live(id)).toEqual({ [second.id]: 8 })
  expect(await stack.order(id)).toMatchObject({ state: 'delivered', deliveryNum: 8, task: null, taskErrorCode: null })
  // The lost addresses were never delivered.
  expect(await stack.mails('addresses-changed')).toEqual([])

  await first.agent.start()
  await stack.health()
  await stack.settle()
  expect(await stack.usersOn(first.id)).toEqual([])
  expect(await stack.stock()).toBe(16)
  expect(await wrongNow(ctx.db)).toEqual([])
  await end(id)
  await setStatus(second, 'paused')
}, 60_000)

test('addresses that a rescue took off a server are not served there when it returns before the others work', async () => {
  const { ctx, first } = stack
  const id = await stack.delivered(8)
  const old = await served()
  await first.agent.stop()
  await change(id)
  await stack.health()
  stack.pass(31 * MINUTE)
  await setStatus(second, 'active')
  await second.agent.stop()
  await rescueOrders(ctx)
  await first.agent.start()
  await stack.health()
  await stack.converge(first.id)
  // The old ones work until the others do. Addresses that nothing waits for are back in stock, and off the agent.
  expect(await stack.live(id)).toEqual({ [first.id]: 8 })
  expect(await served()).toEqual(old)
  expect(await stack.order(id)).toMatchObject({ task: 'change' })

  await second.agent.start()
  await stack.health()
  await stack.settle()
  expect(await stack.live(id)).toEqual({ [second.id]: 8 })
  expect(await served()).toEqual([])
  expect(await stack.order(id)).toMatchObject({ task: null, taskErrorCode: null })
  expect(await stack.stock()).toBe(16)
  expect(await wrongNow(ctx.db)).toEqual([])
  await end(id)
}, 60_000)

test('a change whose new addresses are lost permanently fails, and the order keeps the old ones', async () => {
  const { ctx, first } = stack
  const kept = await stack.delivered(8)
  const other = await stack.delivered(8)
  expect([await stack.live(kept), await stack.live(other)]).toEqual([{ [first.id]: 8 }, { [first.id]: 8 }])
  await second.agent.stop()
  await writeSettings(ctx, { customer_changes_per_term: 5 })
  await change(kept, stack.buyer)
  expect(await stack.order(kept)).toMatchObject({ changesUsed: 1, taskCounted: true })
  await giveUp(second)
  await stack.settle()
  expect(await stack.order(kept)).toMatchObject({
    // Its customer has got nothing, so it does not count.
    changesUsed: 0,
    state: 'delivered',
    deliveryNum: 8,
    failCode: null,
    task: null,
    taskErrorCode: 'out_of_stock'
  })
  expect(await stack.live(kept)).toEqual({ [first.id]: 8 })
  expect(await wrongNow(ctx.db)).toEqual([])

  // The order is complete. A change succeeds once there is room.
  const third = await stack.addNamed('127.65.2.0/29')
  await change(kept)
  await stack.settle()
  expect(await stack.order(kept)).toMatchObject({ deliveryNum: 8, task: null, taskErrorCode: null })
  expect(await stack.live(kept)).toEqual({ [third.id]: 8 })
  await end(kept)
  await end(other)
}, 60_000)

test('a change that loses a part fails, and keeps as many of the old addresses as it lost of the new ones', async () => {
  const { ctx, first } = stack
  const id = await stack.delivered(16)
  expect(await stack.live(id)).toEqual({ [first.id]: 16 })
  const fourth = await stack.addNamed('127.65.3.0/29')
  await fourth.agent.stop()
  await change(id, stack.buyer)
  await giveUp(fourth)
  await stack.settle()
  // Eight of the new ones work, and there are none for the other eight.
  const kept = {
    changesUsed: 1,
    state: 'delivered',
    deliveryNum: 16,
    failCode: null,
    task: null,
    taskErrorCode: 'out_of_stock'
  }
  expect(await stack.order(id)).toMatchObject(kept)
  expect(Object.values(await stack.live(id))).toEqual([8, 8])
  expect((await stack.live(id))[first.id]).toBe(8)

  // It lacks nothing, so new stock is for others.
  const fifth = await stack.addNamed('127.65.4.0/29')
  await rescueOrders(ctx)
  await stack.settle()
  expect(await stack.order(id)).toMatchObject(kept)
  expect((await stack.live(id))[fifth.id]).toBeUndefined()
  expect(await wrongNow(ctx.db)).toEqual([])
}, 60_000)

test('a change that ends keeps no more than was bought, though a part of an earlier one works, too', async () => {
  const { ctx } = stack
  const { db } = ctx
  await db.update(servers).set({ status: 'paused' }).where(eq(servers.status, 'active'))
  const sixth = await stack.addNamed('127.65.5.0/28')
  const id = await stack.delivered(16)
  expect(await stack.live(id)).toEqual({ [sixth.id]: 16 })
  await setStatus(sixth, 'paused')
  const [seventh, eighth] = [await stack.addNamed('127.65.6.0/29'), await stack.addNamed('127.65.7.0/29')]
  await eighth.agent.stop()
  await change(id)
  await stack.settle()
  expect(await stack.live(id)).toEqual({ [sixth.id]: 16, [seventh.id]: 8 })
  // As a move does with the part that works.
  const [part] = await db
    .select()
    .from(proxies)
    .where(and(eq(proxies.orderId, id), eq(proxies.serverId, seventh.id)))
  await command(ctx, SYSTEM, async unit => {
    await markReplaced(unit.tx, [part?.leaseId ?? 0])
    const order = await lockOrder(unit, id)
    expect(order && (await abandonChange(unit, order))).toBe(true)
    await advance(unit, [id])
  })
  await stack.settle()
  expect(await stack.order(id)).toMatchObject({ state: 'delivered', deliveryNum: 16, task: null })
  expect(Object.values(await stack.live(id)).reduce((sum, count) => sum + count, 0)).toBe(16)
  expect(await wrongNow(db)).toEqual([])
}, 60_000)
