import type { OrderTask } from '@netlet/contract'
import { SYSTEM, type UserActor } from '../../infra/actor.ts'
import { and, eq, isNotNull, sql, type SQL } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { adminNotices, paidEvent } from '../../testing/buying.ts'
import type { AgentRunner } from '../../testing/agent-runner.ts'
import { startTestStack, type TestStack } from '../../testing/test-stack.ts'
import { deliveryPorts, eventHandlers } from '../../workers.ts'
import { createUser } from '../accounts/index.ts'
import { handleEvent, storeEvent } from '../commerce/index.ts'
import { convergeServer, serversBehind } from '../fleet/index.ts'
import { agentUsers, servers } from '../fleet/tables.ts'
import { audit } from '../inventory/index.ts'
import { placeOrder, timeOutOrders } from '../orders/index.ts'
import { orderEvents, orders } from '../orders/tables.ts'
import { confirmOutcomes, endGraces, expireOrders } from './index.ts'
import { advance } from './advance.ts'
import { proxies } from './tables.ts'
import { sweep } from './sweep.ts'
import { requestTask, runTask } from './tasks.ts'
import { mayDeliver } from '../payments/index.ts'

/** No shop process runs here: the test itself does everything that one would, at once and in any order. */
let stack: TestStack
let others: AgentRunner[]

beforeAll(async () => {
  stack = await startTestStack({ range: '127.26.0.0/26', ruleCount: 2, processes: true })
  await stack.admin('http://127.0.0.1:9', 'boss1')
  others = [await stack.addServer('127.26.1.0/26'), await stack.addServer('127.26.2.0/26')]
}, 120_000)
afterAll(() => stack?.close())

/** Numbers that are the same in each run. */
function seededRandom(seed: number) {
  let state = seed
  return (sides: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

async function placeMany(count: number): Promise<string[]> {
  const { ctx, productId, rules } = stack
  const events: string[] = []
  for (let n = 0; n < count; n++) {
    const username = `storm${n}`
    const made = await createUser(ctx, SYSTEM, { username, email: `${username}@example.com`, password: 'Secret#2026' })
    if (!made.ok) throw new Error(made.reason)
    const { id } = made.data
    const caller: UserActor = {
      kind: 'user',
      id,
      username,
      isSuperuser: false,
      role: null,
      ip: '127.0.0.1',
      sessionHash: null,
      impersonator: null,
      scopes: null
    }
    const placed = await placeOrder(ctx, caller, {
      productId,
      // Some of them on one server, some on two.
      quantity: 8 * (1 + (n % 3) * 2),
      options: { option1: 'New York', option2: '', option3: '' },
      rules: [rules[n % 2] ?? 0]
    })
    if (!placed.ok) throw new Error(placed.reason)
    const eventId = `storm-${n}`
    const payload = paidEvent({ publicId: placed.data.order_id, amount: '1000.00' })
    await command(ctx, SYSTEM, unit => storeEvent(unit, { eventId, topic: 'orders/paid', payload }))
    events.push(eventId)
  }
  return events
}

const converge = (serverId: number) => convergeServer(stack.ctx, serverId, confirmOutcomes(stack.ctx))
const settle = (eventId: string) => handleEvent(stack.ctx, eventHandlers, eventId)
const request = (orderId: number, task: OrderTask) =>
  requestTask(stack.ctx, SYSTEM, orderId, task, { userId: null, mayDeliver })

async function runTasks(): Promise<void> {
  const waiting = await stack.ctx.db.select().from(orders).where(isNotNull(orders.task))
  for (const { id, taskId } of waiting) await runTask(stack.ctx, deliveryPorts, { orderId: id, taskId: taskId ?? '' })
}

/** Lets everything come to rest. */
async function settleDown(events: string[]): Promise<void> {
  const { ctx } = stack
  for (const eventId of events) await settle(eventId)
  await runTasks()
  for (let round = 0; round < 20; round++) {
    await sweep(ctx)
    const behind = await serversBehind(ctx.db)
    if (behind.length === 0) return
    for (const serverId of behind) await converge(serverId)
  }
  throw new Error('the agents do not come to rest')
}

test('payments, tasks, confirmations, time-outs and expiries all at once: no deadlock, nothing lost or doubled', async () => {
  const { ctx } = stack
  const { db } = ctx
  const events = await placeMany(14)
  const serverIds = (await db.select({ id: servers.id }).from(servers)).map(row => row.id)
  const ids = (await db.select({ id: orders.id }).from(orders)).map(row => row.id)
  const past = new Date(Date.now() - 1000)
  const endGracesNow = async (which?: SQL) => {
    await db
      .update(orders)
      .set({ graceUntil: past })
      .where(and(which, isNotNull(orders.graceUntil)))
    await endGraces(ctx)
  }
  const worker = async (seed: number) => {
    const random = seededRandom(seed)
    const some = <T>(list: T[]): T => list[random(list.length)] as T
    const actions: (() => Promise<unknown>)[] = [
      () => settle(some(events)),
      () => settle(some(events)),
      () => converge(some(serverIds)),
      () => converge(some(serverIds)),
      () => sweep(ctx),
      () => {
        const few = ids.toSorted(() => random(3) - 1).slice(0, 5)
        return command(ctx, SYSTEM, unit => advance(unit, few))
      },
      () => request(some(ids), some(['change', 'reset', 'deliver'])).then(runTasks),
      () => request(some(ids), 'change'),
      runTasks,
      () =>
        db
          .update(orders)
          .set({ reservedUntil: past })
          .where(eq(orders.id, ids[random(3)] ?? 0)),
      () => timeOutOrders(ctx),
      () =>
        db
          .update(orders)
          .set({ expiredAt: past })
          .where(sql`${orders.id} = ${ids[3 + random(3)]} and ${orders.expiredAt} is not null`),
      () => expireOrders(ctx),
      // One at a time: a change of several orders in no sequence would meet the other workers.
      () => endGracesNow(eq(orders.id, ids[3 + random(3)] ?? 0))
    ]
    for (let turn = 0; turn < 40; turn++) await some(actions)()
  }
  // An error, a deadlock among them, fails the test here.
  await Promise.all([11, 22, 33, 44, 55, 66, 77, 88].map(worker))
  await settleDown(events)
  await db
    .update(orders)
    .set({ expiredAt: past })
    .where(and(eq(orders.id, ids[3] ?? 0), isNotNull(orders.expiredAt)))
  await expireOrders(ctx)
  await endGracesNow()
  await settleDown(events)

  expect(await audit(db)).toEqual({ differences: 0, doubleLeased: 0 })
  const { rows } = await db.execute<{ state: string; task: string | null; wrong: string | null }>(sql`
    select o.state, o.task, case
      when o.state = 'delivered' and (o.delivery_num <> o.quantity
        or (select count(*) from ${proxies} p where p.order_id = o.id and p.state = 'live') <> o.quantity
        or (select count(*) from leases l where l.order_id = o.id and l.state = 'active') <> 1
        or exists (select 1 from leases l where l.order_id = o.id and l.state = 'reserved')) then 'not whole'
      when o.state <> 'delivered' and exists (select 1 from leases l where l.order_id = o.id and l.state <> 'released')
        then 'holds addresses'
      when o.state <> 'delivered' and exists (select 1 from ${agentUsers} u where u.order_id = o.id) then 'has users' end as wrong
    from ${orders} o order by o.id`)
  expect(rows.filter(row => row.wrong)).toEqual([])
  expect(rows.filter(row => row.task)).toEqual([])
  const states = Map.groupBy(rows, row => row.state)
  // All were paid: each is delivered, ended, or waits for addresses.
  expect([...states.keys()].every(state => ['delivered', 'expired', 'failed'].includes(state))).toBe(true)
  expect(states.get('delivered')?.length).toBeGreaterThan(5)
  expect(states.get('expired')?.length).toBeGreaterThan(0)

  // The agents hold just the delivered orders' users, with just their addresses.
  for (const [at, runner] of [stack, ...others].entries()) {
    const state = await fetch(`http://127.0.0.1:${runner.agent.port}/api/state`, {
      headers: { authorization: `Bearer ${runner.agent.token}` }
    })
    const { users } = (await state.json()) as { users: { user: string; prefixes: string[] }[] }
    const wanted = await db.execute<{ name: string; addresses: number }>(sql`
      select o.proxy_username as name, count(*) as addresses from ${proxies} p join ${orders} o on o.id = p.order_id
      where p.state = 'live' and p.server_id = ${serverIds.toSorted((a, b) => a - b)[at]} group by 1`)
    const sizes = users.map(user => ({
      name: user.user,
      addresses: user.prefixes.reduce((sum, prefix) => sum + 2 ** (32 - Number(prefix.split('/')[1])), 0)
    }))
    const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1)
    expect(sizes.toSorted(byName)).toEqual(wanted.rows.toSorted(byName))
  }
}, 120_000)

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
  // As `converge` notes it.
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
  // The history keeps the agent's words, once: looking again is no news.
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
  await settleDown([])
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
  // Its events are worded another way, or are not there at all.
  await db.delete(orderEvents).where(eq(orderEvents.orderId, order.id))
  await runTasks()
  expect(await row()).toMatchObject({ task: 'reset', proxyPassword: begun.proxyPassword })
  await settleDown([])
  expect(await row()).toMatchObject({ task: null, taskBegunAt: null, proxyPassword: begun.proxyPassword })
})

test('a task whose job is gone is taken up by the sweep, once it must be lost', async () => {
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
  const later = { ...ctx, now: () => new Date(Date.now() + 2 * MINUTE) }
  await sweep(later)
  await sweep(later)
  const [job, ...more] = await jobs()
  expect(more).toEqual([])
  await runTask(ctx, deliveryPorts, job ?? { orderId: 0, taskId: '' })
  await settleDown([])
  const [after] = await db.select().from(orders).where(eq(orders.id, order.id))
  expect(after).toMatchObject({ task: null, taskErrorCode: null, state: 'delivered' })
  expect(after?.proxyPassword).not.toBe(order.proxyPassword)
})
