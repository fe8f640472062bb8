import type { OrderTask } from '@netlet/contract'
import { and, eq, inArray, isNotNull, sql } from '../../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../../infra/actor.ts'
import { DAY, MINUTE } from '../../../infra/clock.ts'
import { command } from '../../../infra/command.ts'
import { deliveryPorts } from '../../../workers.ts'
import { changeStatus, lockServer } from '../../servers/index.ts'
import { agentUsers, servers } from '../../servers/tables.ts'
import { lockInventory } from '../../inventory/index.ts'
import { timeOutOrders } from '../../orders/index.ts'
import { orderEvents, orders } from '../../orders/tables.ts'
import { advance, expireOrders } from '../index.ts'
import { sweep } from '../advance.ts'
import { requestTask, runTask } from '../tasks.ts'
import { proxies } from '../tables.ts'
import { users } from '../../accounts/tables.ts'
import { compareFigures, wrongBooks } from '../../statements/books-check.ts'
import { createUser } from '../../accounts/index.ts'
import { storeEvent } from '../../commerce/index.ts'
import { platformEvents } from '../../commerce/tables.ts'
import { moveOffServer } from './move-off-server.ts'
import { rescueOrders } from './index.ts'
import { startServersStack, wrongNow, type ServersStack, type TestServer } from './servers.fixture.ts'
import { deliveryRefusal } from '../../payments/index.ts'
import { payments } from '../../payments/tables.ts'
import { fromNow } from '../../../testing/later.ts'

/** No jobs run by themselves: the test does the work of all workers, at once and in any order. */
let stack: ServersStack
let all: TestServer[]

beforeAll(async () => {
  stack = await startServersStack('127.65.0.0/26')
  all = [stack.first]
  for (const n of [1, 2, 3]) all.push(await stack.addNamed(`127.65.${n}.0/26`))
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

async function runTasks(): Promise<void> {
  const { ctx } = stack
  const waiting = await ctx.db.select().from(orders).where(isNotNull(orders.task))
  for (const { id, taskId } of waiting) await runTask(ctx, deliveryPorts, { orderId: id, taskId: taskId ?? '' })
}

const setStatus = (serverId: number, status: 'active' | 'paused' | 'draining' | 'given_up') =>
  command(stack.ctx, SYSTEM, async unit => {
    const server = await lockServer(unit, serverId)
    if (!server || server.status === 'given_up') return
    if (status === 'given_up') await lockInventory(unit.tx)
    await changeStatus(unit, server, status)
  })

/** An agent goes away and comes back, one call after the other. */
function switches() {
  const last = new Map<TestServer, Promise<unknown>>()
  const up = new Map(all.map(server => [server, true]))
  const change = async (server: TestServer, on: boolean, before?: Promise<unknown>) => {
    await before
    if (up.get(server) === on) return
    await (on ? server.agent.start() : server.agent.stop())
    up.set(server, on)
  }
  return (server: TestServer, on: boolean) => {
    const next = change(server, on, last.get(server))
    last.set(server, next)
    return next
  }
}

test('servers go away, come back, are paused, drained and given up while orders are paid, changed, renewed, refunded and end', async () => {
  const { ctx } = stack
  const { db } = ctx
  // The buyer's inviter earns coins with each payment.
  const person = { username: 'inviter1', email: 'inviter1@example.com', password: 'Harbour#2026' }
  const inviter = await createUser(ctx, SYSTEM, person)
  if (!inviter.ok) throw new Error(inviter.reason)
  await db.update(users).set({ invitedBy: inviter.data.id }).where(eq(users.username, 'buyer1'))
  const placed = []
  // 22 blocks of the 24 that three of the four servers have.
  for (let n = 0; n < 11; n++) placed.push(await stack.place(8 * (1 + (n % 3))))
  const ids = placed.map(order => order.id)
  const events: string[] = []
  for (const { publicId } of placed) events.push(await stack.report(publicId, false))
  for (const { publicId } of placed.slice(0, 4)) events.push(await stack.report(publicId, true))
  const turn = switches()
  const [silent, doomed] = all
  if (!silent || !doomed) throw new Error('no server')
  // All of the first order's money is refunded, and a part of another's. Each refund is reported several times.
  const refunds = [
    { order: ids[0] ?? 0, amount: '1000.00' },
    { order: ids[4] ?? 0, amount: '400.00' }
  ]
  const giveBack = async ({ order, amount }: { order: number; amount: string }) => {
    const { platformOrderId } = await stack.order(order)
    if (platformOrderId === null) return
    const transactions = [{ kind: 'refund', status: 'success', amount }]
    const payload = { id: order, order_id: Number(platformOrderId), transactions }
    const eventId = `refund-${order}`
    await command(ctx, SYSTEM, unit => storeEvent(unit, { eventId, topic: 'refunds/create', payload }))
    await stack.handle(eventId)
  }
  // The first orders wait for it, because it has been away for a long time.
  await db
    .update(orders)
    .set({ reservedUntil: fromNow(ctx, DAY) })
    .where(inArray(orders.id, ids.slice(0, 8)))
  await turn(silent, false)
  for (const event of events.slice(0, 3)) await stack.handle(event)
  const others = all.slice(1)
  const worker = async (seed: number) => {
    const random = seededRandom(seed)
    const some = <T>(list: T[]): T => list[random(list.length)] as T
    const actions: (() => Promise<unknown>)[] = [
      () => stack.handle(some(events)),
      () => stack.handle(some(events)),
      () => stack.converge(some(all).id),
      () => stack.converge(some(all).id),
      () => stack.converge(some(all).id),
      () => sweep(ctx),
      () => stack.health(),
      () => turn(some(others), false),
      () => turn(some(others), true),
      () => turn(some(others), true),
      async () => stack.pass(7 * MINUTE),
      () => rescueOrders(ctx),
      () => rescueOrders(ctx),
      () => setStatus(some(others).id, some(['active', 'active', 'paused', 'draining'])),
      () => command(ctx, SYSTEM, unit => moveOffServer(unit, some(ids), { serverId: some(others).id })),
      () =>
        requestTask(ctx, SYSTEM, some(ids), some<OrderTask>(['change', 'reset', 'deliver']), {
          userId: null,
          deliveryRefusal
        }).then(runTasks),
      runTasks,
      () => command(ctx, SYSTEM, unit => advance(unit, ids.toSorted(() => random(3) - 1).slice(0, 4))),
      () => timeOutOrders(ctx),
      () => giveBack(some(refunds)),
      () =>
        db
          .update(orders)
          .set({ expiredAt: new Date(0) })
          .where(sql`${orders.id} = ${ids[random(2)]} and ${orders.expiredAt} is not null`),
      () => expireOrders(ctx)
    ]
    for (let step = 0; step < 30; step++) {
      // In the middle of the storm.
      if (seed === 11 && step === 12) await setStatus(doomed.id, 'given_up')
      await some(actions)()
    }
  }
  // Any error, including a deadlock that retries do not resolve, fails the test here.
  await Promise.all([11, 22, 33, 44, 55, 66].map(worker))

  // First the other servers behave again, so that there is room for what waits for the silent one.
  for (const server of others.filter(server => server !== doomed)) {
    await turn(server, true)
    await setStatus(server.id, 'active')
  }
  for (const minutes of [0, 31]) {
    stack.pass(minutes * MINUTE)
    await stack.health()
  }
  await rescueOrders(ctx)
  // Then the rest of the outside world, except for the server that is gone permanently.
  for (const server of all) await turn(server, server !== doomed)
  for (const server of all) if (server !== doomed) await setStatus(server.id, 'active')
  for (const event of events) await stack.handle(event)
  for (const refund of refunds) await giveBack(refund)
  for (let round = 0; round < 8; round++) {
    stack.pass(31 * MINUTE)
    await stack.health()
    // Drained again, as far as there is room, and used again.
    if (round === 2 || round === 5) await setStatus(others.at(-1)?.id ?? 0, round === 2 ? 'draining' : 'active')
    await rescueOrders(ctx)
    await timeOutOrders(ctx)
    await expireOrders(ctx)
    for (const { id } of await db.select({ id: orders.id }).from(orders).where(eq(orders.state, 'failed')))
      await requestTask(ctx, SYSTEM, id, 'deliver', { userId: null, deliveryRefusal })
    await runTasks()
    for (const server of all) if (server !== doomed) await stack.converge(server.id)
    await sweep(ctx)
  }

  // No lease is left on the server that was given up.
  const [gone] = await db.select({ status: servers.status }).from(servers).where(eq(servers.id, doomed.id))
  expect(gone).toEqual({ status: 'given_up' })
  expect(await wrongNow(db)).toEqual([])
  // Every paid order is delivered.
  const unpaid = sql`${orders.paidAt} is null`
  expect(await db.select({ id: orders.id }).from(orders).where(unpaid)).toEqual([])
  const { rows } = await db.execute(sql`
    select o.id, o.state, o.task, o.fail_code, o.delivery_num, o.quantity,
      (select count(*)::int from ${proxies} p where p.order_id = o.id and p.state = 'live') as live,
      (select coalesce(sum(b.length), 0)::int from leases l join lease_blocks b on b.lease_id = l.id
        where l.order_id = o.id and b.released_at is null) as held,
      (select count(*)::int from ${agentUsers} u where u.order_id = o.id and (not u.wanted or o.state <> 'delivered')) as stale
    from ${orders} o
    where not (o.state = 'delivered' and o.delivery_num = o.quantity) and o.state not in ('expired', 'refunded')
      or o.task is not null or o.fail_code is not null
      or (select count(*) from ${proxies} p where p.order_id = o.id and p.state = 'live') <> case when o.state = 'delivered' then o.quantity else 0 end
      or (select coalesce(sum(b.length), 0) from leases l join lease_blocks b on b.lease_id = l.id
        where l.order_id = o.id and b.released_at is null) <> case when o.state = 'delivered' then o.quantity else 0 end
      or exists (select 1 from ${agentUsers} u where u.order_id = o.id and (not u.wanted or o.state <> 'delivered'))`)
  expect(rows).toEqual([])
  const states = await db.select({ state: orders.state }).from(orders)
  expect(states.filter(({ state }) => state === 'delivered').length).toBeGreaterThanOrEqual(9)
  expect(await stack.order(ids[0] ?? 0)).toMatchObject({ state: 'refunded', refundedAmount: '1000.00' })
  expect(await stack.order(ids[4] ?? 0)).toMatchObject({ state: 'delivered', refundedAmount: '400.00' })
  // Every coin and every point has a cause.
  expect(await wrongBooks(db)).toEqual([])
  expect(await compareFigures(db)).toEqual([])
  // A renewal that was paid after its order had ended is held for an administrator.
  const held = await db.select().from(payments).where(eq(payments.accepted, false))
  for (const { kind, orderId, platformOrderId } of held) {
    expect([kind, ids.slice(0, 2)]).toEqual(['renewal', expect.arrayContaining([orderId])])
    const waiting = and(eq(platformEvents.platformOrderId, platformOrderId), platformEvents.needsResolution)
    expect(await db.select({ id: platformEvents.id }).from(platformEvents).where(waiting)).toHaveLength(1)
  }
  const [earner] = await db.select().from(users).where(eq(users.id, inviter.data.id))
  // 5 % of 11 purchases and 4 renewals, without what is held or was refunded: all of one, and 400.00 of another.
  expect(earner).toMatchObject({ coins: (14 - held.length) * 50 - 20, coinsOwed: 0, levelPoints: 10 })
  const renewed = await db
    .select()
    .from(orders)
    .where(inArray(orders.id, ids.slice(2, 4)))
  for (const order of renewed)
    expect((order.expiredAt?.getTime() ?? 0) - (order.paidAt?.getTime() ?? 0)).toBeGreaterThan(order.proxyTime * DAY)

  const moves = await db.select({ detail: orderEvents.detail }).from(orderEvents).where(eq(orderEvents.kind, 'moved'))
  expect(moves.map(move => move.detail['cause'])).toContain('rescue')

  // Each agent holds exactly what the console wants. The server that was given up does not count.
  for (const server of all) {
    const [row] = await db.select().from(servers).where(eq(servers.id, server.id))
    const wanted = (await stack.usersOn(server.id)).map(user => user.username)
    if (server === doomed) {
      expect(wanted).toEqual([])
      continue
    }
    const reply = await fetch(`http://127.0.0.1:${row?.agentPort}/api/state`, {
      headers: { authorization: `Bearer ${stack.agent.token}` }
    })
    const { users } = (await reply.json()) as { users: { user: string }[] }
    expect(users.map(user => user.user).toSorted()).toEqual(wanted)
  }
}, 120_000)
