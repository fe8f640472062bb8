import type { Order } from '@netlet/contract'
import { eq } from '../../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY, HOUR } from '../../../infra/clock.ts'
import { orderEvents, orders } from '../../orders/tables.ts'
import { expireOrders } from '../index.ts'
import { startServersStack, wrongNow, type ServersStack } from './servers.fixture.ts'

let stack: ServersStack

beforeAll(async () => {
  stack = await startServersStack('127.64.0.0/29')
}, 120_000)
afterAll(() => stack?.close())

const reopen = (id: number) => stack.admin.post<Order>(`/api/orders/order_list/${id}/reopen/`, {})

test('an order that expired undelivered is reopened, delivered elsewhere, and its term starts then', async () => {
  const { ctx, first } = stack
  await first.agent.stop()
  const id = await stack.paid(8)
  expect((await reopen(id)).code).toBe(409)
  // As orders expired before the time began with the delivery.
  await ctx.db
    .update(orders)
    .set({ state: 'delivered', expiredAt: new Date(0) })
    .where(eq(orders.id, id))
  await expireOrders(ctx)
  expect(await stack.order(id)).toMatchObject({ state: 'expired', deliveryNum: 0 })
  // Its silent server has confirmed nothing, so there is no room, and nothing changes.
  expect((await reopen(id)).code).toBe(409)
  expect(await stack.order(id)).toMatchObject({ state: 'expired' })

  const second = await stack.addNamed('127.64.1.0/29')
  const both = await Promise.all([reopen(id), reopen(id)])
  expect(both.map(reply => reply.code).toSorted((a, b) => a - b)).toEqual([409, 2000])
  expect(await stack.order(id)).toMatchObject({ state: 'delivering', expiredAt: null })
  stack.pass(5 * HOUR)
  expect(await expireOrders(ctx)).toBe(0)
  await stack.settle()
  const order = await stack.order(id)
  expect(order).toMatchObject({ state: 'delivered', deliveryNum: 8, failCode: null })
  const left = (order.expiredAt?.getTime() ?? 0) - ctx.now().getTime()
  expect(left).toBeGreaterThan(order.proxyTime * DAY - HOUR)
  expect(await stack.live(id)).toEqual({ [second.id]: 8 })
  const events = await ctx.db.select().from(orderEvents).where(eq(orderEvents.orderId, id))
  expect(events.map(event => event.kind)).toContain('reopen')

  await first.agent.start()
  await stack.health()
  await stack.settle()
  expect(await stack.usersOn(first.id)).toEqual([])
  expect(await stack.stock()).toBe(8)
  expect(await wrongNow(ctx.db)).toEqual([])
}, 60_000)

test('an order that expired while the clock was ahead is reopened with the time that it has left', async () => {
  const { ctx } = stack
  const id = await stack.delivered(8)
  const until = (await stack.order(id)).expiredAt
  stack.pass(400 * DAY)
  await expireOrders(ctx)
  expect(await stack.order(id)).toMatchObject({ state: 'expired' })
  stack.pass(-400 * DAY)
  await stack.settle()
  expect((await reopen(id)).code).toBe(2000)
  await stack.settle()
  const order = await stack.order(id)
  expect(order).toMatchObject({ state: 'delivered', deliveryNum: 8 })
  expect(Math.abs((order.expiredAt?.getTime() ?? 0) - (until?.getTime() ?? 0))).toBeLessThan(HOUR)
}, 60_000)

test('an order that was delivered is not reopened', async () => {
  const id = await stack.delivered(8)
  await stack.ctx.db
    .update(orders)
    .set({ expiredAt: new Date(0) })
    .where(eq(orders.id, id))
  await expireOrders(stack.ctx)
  expect((await reopen(id)).code).toBe(409)
}, 60_000)
