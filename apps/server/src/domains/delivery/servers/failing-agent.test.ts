import { eq } from '../../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Health, Order, Server } from '@netlet/contract'
import { MINUTE } from '../../../infra/clock.ts'
import { checkServers } from '../../convergence/check-servers.ts'
import { servers } from '../../servers/tables.ts'
import { runTask } from '../tasks.ts'
import { rescueOrders } from './rescue.ts'
import { startServersStack, wrongNow, type ServersStack, type TestServer } from './servers.fixture.ts'
import { diskFull, otherShape, standBefore } from './sick-agent.fixture.ts'
import { raisedNotices } from '../../../testing/raised-notices.ts'

let stack: ServersStack
let first: TestServer
let second: TestServer

beforeAll(async () => {
  stack = await startServersStack('127.62.0.0/27')
  first = stack.first
  second = await stack.addNamed('127.62.1.0/27')
  await stack.health()
  await stack.settle()
})
afterAll(() => stack?.close())

const setStatus = (server: TestServer, status: 'active' | 'paused') =>
  stack.ctx.db.update(servers).set({ status }).where(eq(servers.id, server.id))

/** The jobs of these minutes. */
async function pass(minutes: number) {
  for (let n = 0; n < minutes; n += 5) {
    stack.pass(5 * MINUTE)
    await stack.health()
    await stack.converge(first.id)
    await rescueOrders(stack.ctx)
  }
}

const credentialsOf = async (id: number) => ({ password: (await stack.order(id)).proxyPassword })

const shown = async () =>
  (await stack.admin.get<{ data: Server[] }>('/api/servers/servers/')).data.data.find(({ id }) => id === first.id)

const notices = async () =>
  (await raisedNotices(stack.ctx.db)).map(({ title }) => title).filter(title => title.includes('accepts no changes'))

async function change(id: number): Promise<void> {
  const asked = await stack.admin.post(`/api/orders/order_list/${id}/reset_proxy/`, {})
  expect(asked.code).toBe(2000)
  const { taskId } = await stack.order(id)
  await runTask(stack.ctx, { acceptPayment: () => async () => undefined }, { orderId: id, taskId: taskId ?? '' })
}

test.for([
  ['fail', diskFull],
  ['are answered otherwise', otherShape]
] as const)(
  'a server that answers and whose changes %s sells nothing, and its waiting orders get other addresses',
  { timeout: 120_000 },
  async ([, answer]) => {
    const bringBack = await standBefore(stack, first, answer)
    const told = (await notices()).length
    await setStatus(second, 'paused')
    const id = await stack.paid(8)
    await setStatus(second, 'active')
    await stack.converge(first.id)
    await pass(5)
    expect(await shown()).toMatchObject({ server_status: 1, sells: true, failing_since: expect.any(String) as string })
    await pass(10)
    expect(await shown()).toMatchObject({ server_status: 1, sells: false, trouble: { code: 'changes_failing' } })
    expect((await notices()).length).toBe(told + 1)
    const { data } = await stack.admin.get<Health>('/api/settings/health')
    expect(data.servers?.troubled).toMatchObject([{ id: first.id, since: expect.any(String) as string }])
    await pass(30)
    await stack.settle()
    expect(await stack.order(id)).toMatchObject({ state: 'delivered', deliveryNum: 8, failCode: null })
    expect(await stack.live(id)).toEqual({ [second.id]: 8 })

    await bringBack()
    await stack.settle()
    expect(await shown()).toMatchObject({ sells: true, failing_since: null, trouble: null, step: 'in step' })
    expect(await stack.usersOn(first.id)).toEqual([])
    expect(await wrongNow(stack.ctx.db)).toEqual([])
  }
)

test('a change of addresses to a server whose changes fail gets others, or ends with its old ones', async () => {
  await setStatus(first, 'paused')
  const id = await stack.delivered(8)
  expect(await stack.live(id)).toEqual({ [second.id]: 8 })
  await setStatus(first, 'active')
  await setStatus(second, 'paused')
  const bringBack = await standBefore(stack, first, diskFull)
  await change(id)
  await stack.converge(first.id)
  await pass(45)
  await stack.settle()
  // There is no other server that sells.
  expect(await stack.order(id)).toMatchObject({
    state: 'delivered',
    deliveryNum: 8,
    task: null,
    taskErrorCode: 'out_of_stock'
  })
  expect(await stack.live(id)).toEqual({ [second.id]: 8 })

  await bringBack()
  await stack.settle()
  const third = await stack.addNamed('127.62.2.0/27')
  await stack.health()
  await stack.settle()
  await setStatus(third, 'paused')
  const bringBackAgain = await standBefore(stack, first, diskFull)
  await change(id)
  await stack.converge(first.id)
  await setStatus(third, 'active')
  await pass(45)
  await stack.settle()
  expect(await stack.order(id)).toMatchObject({ state: 'delivered', deliveryNum: 8, task: null, taskErrorCode: null })
  expect(await stack.live(id)).toEqual({ [third.id]: 8 })
  await bringBackAgain()
  await stack.settle()
  expect(await wrongNow(stack.ctx.db)).toEqual([])
}, 120_000)

test('a password reset that waits for a failing server says so, and is done when the server is back', async () => {
  const { ctx, buyer, admin } = stack
  await setStatus(second, 'paused')
  await stack.settle()
  const id = await stack.delivered(8)
  await setStatus(second, 'active')
  const shownTo = async (who: typeof buyer, list: string) =>
    (await who.get<{ data: Order[] }>(list)).data.data.find(order => order.id === id)
  const shown = async () => [
    await shownTo(buyer, '/api/orders/order_list/'),
    await shownTo(admin, '/api/orders/order_list/')
  ]
  const { password: before } = await credentialsOf(id)
  const bringBack = await standBefore(stack, first, diskFull)
  expect(await buyer.post(`/api/orders/order_list/${id}/reset_proxy_password/`)).toMatchObject({ code: 2000 })
  const { taskId } = await stack.order(id)
  await runTask(ctx, { acceptPayment: () => async () => undefined }, { orderId: id, taskId: taskId ?? '' })
  await stack.converge(first.id)
  for (const order of await shown()) expect(order).toMatchObject({ task: 'reset', task_waits: true, task_fail: null })

  await bringBack()
  stack.pass(10 * MINUTE)
  await stack.health()
  await stack.settle()
  for (const order of await shown()) expect(order).toMatchObject({ task: null, task_waits: false, task_fail: null })
  expect((await credentialsOf(id)).password).not.toBe(before)
})

test('customers hear of an outage that lasts, not of one silence of a server that is out of stock for another reason', async () => {
  await setStatus(second, 'paused')
  await stack.delivered(8)
  await setStatus(second, 'active')
  // Its changes have failed for a long time, but its proxies work.
  await stack.ctx.db
    .update(servers)
    .set({ offline: true, failingSince: new Date(0) })
    .where(eq(servers.id, first.id))
  const told = async () => (await stack.mails('server-outage')).length
  const before = await told()
  await first.agent.stop()
  await checkServers(stack.ctx)
  await rescueOrders(stack.ctx)
  expect(await told()).toBe(before)
  stack.pass(11 * MINUTE)
  await checkServers(stack.ctx)
  await rescueOrders(stack.ctx)
  expect(await told()).toBeGreaterThan(before)
  await first.agent.start()
  await stack.health()
  await stack.settle()
})
