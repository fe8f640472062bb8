import { eq } from '../../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MINUTE } from '../../../infra/clock.ts'
import { orderEvents } from '../../orders/tables.ts'
import { rescueOrders } from './index.ts'
import { startServersStack, wrongNow, type ServersStack } from './servers.fixture.ts'

let stack: ServersStack

beforeAll(async () => {
  stack = await startServersStack('127.66.0.0/28')
}, 120_000)
afterAll(() => stack?.close())

const moves = async (id: number) =>
  (await stack.ctx.db.select().from(orderEvents).where(eq(orderEvents.orderId, id)))
    .filter(event => event.kind === 'moved')
    .map(({ detail }) => detail['addresses'])
/** A minute in which health is checked and orders are rescued, twice at once. */
const minute = async () => {
  stack.pass(MINUTE)
  await stack.health()
  await Promise.all([rescueOrders(stack.ctx), rescueOrders(stack.ctx)])
}

test('an order on a silent server gets the part that others have, shows the rest, and is completed later', async () => {
  const { ctx, first } = stack
  await stack.health()
  await first.agent.stop()
  const id = await stack.paid(16)
  const second = await stack.addNamed('127.66.1.0/29')
  await stack.health()
  stack.pass(31 * MINUTE)
  await minute()
  await stack.settle()
  expect(await stack.order(id)).toMatchObject({
    state: 'partly_delivered',
    deliveryNum: 8,
    failCode: 'server_unreachable',
    failParams: { count: 8 }
  })
  expect(await stack.live(id)).toEqual({ [second.id]: 8 })
  await minute()
  expect(await moves(id)).toEqual([8])

  // Its server comes back while the rest is still sought. What waited there is delivered, and what left is free.
  await first.agent.start()
  await Promise.all([minute(), stack.converge(first.id)])
  await stack.health()
  await stack.settle()
  expect(await stack.order(id)).toMatchObject({ state: 'delivered', deliveryNum: 16, failCode: null })
  expect(await stack.live(id)).toEqual({ [first.id]: 8, [second.id]: 8 })
  expect(await stack.stock()).toBe(8)
  expect(await wrongNow(ctx.db)).toEqual([])
}, 60_000)

test('an order whose server was given up gets what others have, and the rest as room appears', async () => {
  const { ctx } = stack
  const third = await stack.addNamed('127.66.2.0/27')
  await stack.health()
  await stack.settle()
  // Only 8 addresses are free beside the third server, which holds 32.
  const id = await stack.delivered(40)
  expect((await stack.live(id))[third.id]).toBe(32)
  const fourth = await stack.addNamed('127.66.3.0/28')
  await stack.health()
  const asked = await stack.admin.post<never>(`/api/servers/servers/${third.id}/give_up/`, {})
  await stack.finish(asked.data)
  await stack.settle()
  expect(await stack.order(id)).toMatchObject({
    state: 'delivered',
    deliveryNum: 24,
    failCode: 'addresses_lost',
    failParams: { count: 16 }
  })
  expect((await stack.live(id))[fourth.id]).toBe(16)

  const fifth = await stack.addNamed('127.66.4.0/29')
  await minute()
  await stack.settle()
  expect(await stack.order(id)).toMatchObject({ deliveryNum: 32, failParams: { count: 8 } })
  // While some are on their way to a server that is away, the order still gets other addresses for what it lost.
  await fifth.agent.stop()
  await stack.health()
  await stack.addNamed('127.66.5.0/29')
  await minute()
  await minute()
  await stack.settle()
  expect(await stack.order(id)).toMatchObject({ state: 'delivered', deliveryNum: 40, failCode: null })
  expect(await wrongNow(ctx.db)).toEqual([])
}, 60_000)

test('a purchase gets all of its addresses or none', async () => {
  const free = await stack.stock()
  await expect(stack.place(free + 8)).rejects.toThrow('Out of stock')
  expect(await stack.stock()).toBe(free)
}, 60_000)
