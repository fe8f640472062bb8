import { eq } from '../../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY, MINUTE } from '../../../infra/clock.ts'
import { servers } from '../../servers/tables.ts'
import { orderEvents, orders } from '../../orders/tables.ts'
import { expireOrders } from '../index.ts'
import { proxies } from '../tables.ts'
import { rescueOrders } from './index.ts'
import { startServersStack, wrongNow, type ServersStack, type TestServer } from './servers.fixture.ts'

let stack: ServersStack
let second: TestServer

beforeAll(async () => {
  // One block each.
  stack = await startServersStack('127.61.0.0/29')
  second = await stack.addNamed('127.61.1.0/29')
}, 120_000)
afterAll(() => stack?.close())

const adminNotices = async () => (await stack.notices()).filter(key => key.startsWith('server-unreachable'))
const history = async (id: number, kind: string) =>
  (await stack.ctx.db.select().from(orderEvents).where(eq(orderEvents.orderId, id)))
    .filter(event => event.kind === kind)
    .map(event => event.detail)

test('an order that waits for a silent server gets addresses of another one, and keeps what works', async () => {
  const { ctx, first } = stack
  await second.agent.stop()
  const id = await stack.paid(16)
  await stack.settle()
  await stack.health()
  expect(await stack.order(id)).toMatchObject({ state: 'partly_delivered', deliveryNum: 8 })

  // Not before it has waited for rescue_after.
  stack.pass(29 * MINUTE)
  await stack.health()
  await rescueOrders(ctx)
  expect(await stack.order(id)).toMatchObject({ state: 'partly_delivered', failCode: null })

  // No other server has room. It says what it waits for, and the administrators are notified once.
  stack.pass(2 * MINUTE)
  await rescueOrders(ctx)
  await rescueOrders(ctx)
  expect(await stack.order(id)).toMatchObject({
    state: 'partly_delivered',
    deliveryNum: 8,
    failCode: 'server_unreachable',
    failParams: { server: 'agent of 127.61.1.0/29', count: 8 }
  })
  expect(await adminNotices()).toHaveLength(1)
  // A try each minute with the same result adds nothing to the history.
  expect(await history(id, 'delivery_waits')).toEqual([
    { code: 'server_unreachable', server: 'agent of 127.61.1.0/29', count: 8, working: 8, of: 16 }
  ])

  // It does not wait for times that a clock which ran ahead left behind.
  const ahead = new Date(ctx.now().getTime() + 3 * DAY)
  await ctx.db.update(orders).set({ rescueTriedAt: ahead }).where(eq(orders.id, id))
  await ctx.db.update(proxies).set({ updatedAt: ahead }).where(eq(proxies.orderId, id))
  const third = await stack.addNamed('127.61.2.0/29')
  await Promise.all([rescueOrders(ctx), rescueOrders(ctx)])
  await stack.settle()
  expect(await stack.order(id)).toMatchObject({ state: 'delivered', deliveryNum: 16, failCode: null })
  expect(await stack.live(id)).toEqual({ [first.id]: 8, [third.id]: 8 })
  expect(await history(id, 'moved')).toEqual([
    { cause: 'rescue', addresses: 8, from: 'agent of 127.61.1.0/29', to: 'agent of 127.61.2.0/29' }
  ])
  expect(await history(id, 'delivery_resumed')).toMatchObject([{ of: 16 }])
  // Its agent may still have the user. Until it confirms, no one else gets these addresses.
  expect(await stack.usersOn(second.id)).toEqual([{ username: expect.any(String) as string, wanted: false }])
  expect(await stack.stock()).toBe(0)

  await second.agent.start()
  await stack.health()
  await stack.settle()
  expect(await stack.usersOn(second.id)).toEqual([])
  expect(await stack.stock()).toBe(8)
  expect(await stack.order(id)).toMatchObject({ state: 'delivered', deliveryNum: 16 })
  expect(await wrongNow(ctx.db)).toEqual([])
}, 60_000)

test('a server that comes back in the middle of a rescue leaves one set of addresses', async () => {
  const { ctx } = stack
  for (let round = 0; round < 3; round++) {
    const spare = await stack.addNamed(`127.61.${10 + round}.0/29`)
    await second.agent.stop()
    const id = await stack.paid(8)
    expect((await stack.usersOn(second.id)).map(user => user.wanted)).toEqual([true])
    await stack.health()
    stack.pass(31 * MINUTE)
    await second.agent.start()
    // The agent confirms during the rescue. Either the order stays, or it goes and nothing is left there.
    await Promise.all([rescueOrders(ctx), stack.converge(second.id), rescueOrders(ctx)])
    await stack.health()
    await stack.settle()
    const live = await stack.live(id)
    expect(Object.values(live)).toEqual([8])
    const on = Object.keys(live).map(Number)
    expect(await stack.usersOn(second.id)).toHaveLength(on.includes(second.id) ? 1 : 0)
    expect(await stack.usersOn(spare.id)).toHaveLength(on.includes(spare.id) ? 1 : 0)
    expect(await stack.order(id)).toMatchObject({ state: 'delivered', deliveryNum: 8, failCode: null })
    expect(await stack.stock()).toBe(8)
    expect(await wrongNow(ctx.db)).toEqual([])
    // For the next round: only the addresses of the next spare server are free, beside the second one's.
    await ctx.db.update(servers).set({ status: 'paused' }).where(eq(servers.id, spare.id))
    await ctx.db
      .update(orders)
      .set({ expiredAt: new Date(0) })
      .where(eq(orders.id, id))
    await expireOrders(ctx)
    await stack.settle()
  }
}, 90_000)
