import type { OrderTask } from '@netlet/contract'
import { SYSTEM } from '../../infra/actor.ts'
import { eq, isNotNull, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { adminNotices, paidEvent, place } from '../../testing/buying.ts'
import { startTestStack, type TestStack } from '../../testing/test-stack.ts'
import { deliveryPorts } from '../../workers.ts'
import { eventHandlers } from '../../event-handlers.ts'
import { handleEvent, storeEvent } from '../commerce/index.ts'
import { convergeServer } from '../convergence/index.ts'
import { serversBehind } from '../servers/index.ts'
import { agentUsers } from '../servers/tables.ts'
import { audit } from '../inventory/index.ts'
import { orderEvents, orders } from '../orders/tables.ts'
import { confirmOutcomes } from './index.ts'
import { advance, sweep } from './advance.ts'
import { proxies } from './tables.ts'
import { requestTask, runTask } from './tasks.ts'
import { deliveryRefusal } from '../payments/index.ts'
import { later } from '../../testing/later.ts'

/** No job runs by itself: the test does what workers would. */
let stack: TestStack

beforeAll(async () => {
  stack = await startTestStack({ range: '127.26.0.0/26', ruleCount: 1 })
  const { url } = await stack.startShop('serve')
  await stack.admin(url, 'boss1')
  const placed = await place(stack, await stack.customer(url, 'buyer1'), 8, stack.rules)
  if (placed.code !== 2000) throw new Error(placed.msg)
  const payload = paidEvent({ publicId: placed.data.order_id, amount: '20.00' })
  await command(stack.ctx, SYSTEM, unit => storeEvent(unit, { eventId: 'paid', topic: 'orders/paid', payload }))
  await handleEvent(stack.ctx, eventHandlers, 'paid')
  await settleDown()
}, 120_000)
afterAll(() => stack?.close())

const converge = (serverId: number) => convergeServer(stack.ctx, serverId, confirmOutcomes(stack.ctx))
const request = (orderId: number, task: OrderTask) =>
  requestTask(stack.ctx, SYSTEM, orderId, task, { userId: null, deliveryRefusal })

async function runTasks(): Promise<void> {
  const waiting = await stack.ctx.db.select().from(orders).where(isNotNull(orders.task))
  for (const { id, taskId } of waiting) await runTask(stack.ctx, deliveryPorts, { orderId: id, taskId: taskId ?? '' })
}

/** Works until nothing is left to do. */
async function settleDown(): Promise<void> {
  const { ctx } = stack
  await runTasks()
  for (let round = 0; round < 20; round++) {
    await sweep(ctx)
    const behind = await serversBehind(ctx.db)
    if (behind.length === 0) return
    for (const serverId of behind) await converge(serverId)
  }
  throw new Error('the agents do not come to rest')
}

test('what an agent refuses ends the task with its words, and the next change takes it up', async () => {
  const { ctx } = stack
  const { db } = ctx
  const [order] = await db.select().from(orders).where(eq(orders.state, 'delivered')).limit(1)
  if (!order) throw new Error('no delivered order')
  const row = async () => {
    const [found] = await db.select().from(orders).where(eq(orders.id, order.id))
    return found
  }
  expect((await request(order.id, 'change')).ok).toBe(true)
  await runTasks()
  // As `converge` records it.
  await db.update(agentUsers).set({ refusal: 'no such range' }).where(eq(agentUsers.orderId, order.id))
  await command(ctx, SYSTEM, unit => advance(unit, [order.id]))
  expect(await row()).toMatchObject({
    state: 'delivered',
    task: null,
    taskErrorCode: 'agent_refused',
    taskErrorParams: { message: 'no such range' },
    failCode: 'agent_refused',
    failParams: { message: 'no such range' }
  })
  expect((await adminNotices(stack)).at(-1)).toContain('no such range')
  // The history keeps the agent's words once. Looking again adds nothing.
  await command(ctx, SYSTEM, unit => advance(unit, [order.id]))
  const told = async () => {
    const events = await db.select().from(orderEvents).where(eq(orderEvents.orderId, order.id)).orderBy(orderEvents.id)
    return events.filter(({ kind }) => kind.startsWith('delivery_'))
  }
  expect((await told()).filter(({ kind }) => kind === 'delivery_refused')).toMatchObject([
    {
      detail: {
        code: 'agent_refused',
        message: 'no such range',
        server: expect.stringMatching(/./) as string,
        working: order.quantity,
        of: order.quantity
      }
    }
  ])
  expect((await request(order.id, 'change')).ok).toBe(true)
  await settleDown()
  expect(await row()).toMatchObject({
    state: 'delivered',
    task: null,
    taskErrorCode: null,
    failCode: null,
    failParams: null
  })
  expect((await told()).at(-1)).toMatchObject({ kind: 'delivery_resumed', detail: { of: order.quantity } })
  const { rows } = await db.execute(
    sql`select count(*) as held from leases where order_id = ${order.id} and state <> 'released'`
  )
  expect(rows).toEqual([{ held: 1 }])
  expect(await audit(db)).toEqual({ differences: 0, doubleLeased: 0 })
})

test('that a task has begun does not depend on its history', async () => {
  const { ctx } = stack
  const { db } = ctx
  const [order] = await db.select().from(orders).where(eq(orders.state, 'delivered')).limit(1)
  if (!order) throw new Error('no delivered order')
  const row = async () => {
    const [found] = await db.select().from(orders).where(eq(orders.id, order.id))
    if (!found) throw new Error('no order')
    return found
  }
  expect((await request(order.id, 'reset')).ok).toBe(true)
  expect(await row()).toMatchObject({ task: 'reset', taskBegunAt: null })
  await runTasks()
  const begun = await row()
  expect(begun.proxyPassword).not.toBe(order.proxyPassword)
  expect(begun.taskBegunAt).toBeInstanceOf(Date)
  // Its events have other words, or are missing.
  await db.delete(orderEvents).where(eq(orderEvents.orderId, order.id))
  await runTasks()
  expect(await row()).toMatchObject({ task: 'reset', proxyPassword: begun.proxyPassword })
  await settleDown()
  expect(await row()).toMatchObject({ task: null, taskBegunAt: null, proxyPassword: begun.proxyPassword })
})

test('a task whose job is gone is taken up by the sweep, once the job must be lost', async () => {
  const { ctx } = stack
  const { db } = ctx
  const [order] = await db.select().from(orders).where(eq(orders.state, 'delivered')).limit(1)
  if (!order) throw new Error('no delivered order')
  expect((await request(order.id, 'reset')).ok).toBe(true)
  await db.execute(sql`delete from pgboss.job where name = 'order-task'`)
  const jobs = async () => {
    const { rows } = await db.execute<{ data: { orderId: number; taskId: string } }>(
      sql`select data from pgboss.job where name = 'order-task'`
    )
    return rows.map(row => row.data)
  }
  await sweep(ctx)
  expect(await jobs()).toEqual([])
  await sweep(later(ctx, 2 * MINUTE))
  await sweep(later(ctx, 2 * MINUTE))
  const [job, ...more] = await jobs()
  expect(more).toEqual([])
  await runTask(ctx, deliveryPorts, job ?? { orderId: 0, taskId: '' })
  await settleDown()
  const [after] = await db.select().from(orders).where(eq(orders.id, order.id))
  expect(after).toMatchObject({ task: null, taskErrorCode: null, state: 'delivered' })
  expect(after?.proxyPassword).not.toBe(order.proxyPassword)
})

test('a delivery that waits for no agent is completed by the sweep', async () => {
  const { ctx } = stack
  await ctx.db.update(proxies).set({ state: 'pending' }).where(eq(proxies.state, 'live'))
  await ctx.db.update(orders).set({ state: 'delivering', deliveryNum: 0 })
  await sweep(ctx)
  expect(await ctx.db.select().from(orders)).toMatchObject([{ state: 'delivered', deliveryNum: 8 }])
})
