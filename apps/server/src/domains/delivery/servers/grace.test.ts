import { and, eq, inArray, sql } from '../../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../../infra/actor.ts'
import { MINUTE } from '../../../infra/clock.ts'
import { command } from '../../../infra/command.ts'
import { proveAccess } from '../../proofs/prove.ts'
import { accessProofs } from '../../proofs/tables.ts'
import { agentUsers, servers } from '../../servers/tables.ts'
import { orders } from '../../orders/tables.ts'
import { writeSettings } from '../../settings/index.ts'
import { advance, endGraces, expireOrders } from '../index.ts'
import { rescueOrders } from './index.ts'
import { startServersStack, wrongNow, type ServersStack, type TestServer } from './servers.fixture.ts'

let stack: ServersStack
let second: TestServer

beforeAll(async () => {
  stack = await startServersStack('127.67.0.0/28')
  second = await stack.addNamed('127.67.1.0/28')
  await pause(second)
  await writeSettings(stack.ctx, { grace_hours: 24 })
}, 120_000)
afterAll(() => stack?.close())

const pause = (server: TestServer, status: 'paused' | 'active' = 'paused') =>
  stack.ctx.db.update(servers).set({ status }).where(eq(servers.id, server.id))

async function expire(...ids: number[]): Promise<void> {
  await stack.ctx.db.update(orders).set({ expiredAt: stack.ctx.now() }).where(inArray(orders.id, ids))
  expect(await expireOrders(stack.ctx)).toBe(ids.length)
  await stack.settle()
}

/** @returns the result of the payment */
async function renew(id: number) {
  const { publicId } = await stack.order(id)
  return stack.handle(await stack.report(publicId, true))
}

test('an order renewed in its grace on a silent server gets other addresses, and its customer is told', async () => {
  const { ctx, first } = stack
  const id = await stack.delivered(8)
  await expire(id)
  await first.agent.stop()
  await stack.health()
  await renew(id)
  expect(await stack.order(id)).toMatchObject({ state: 'delivering', deliveryNum: 0 })
  await pause(second, 'active')
  stack.pass(31 * MINUTE)
  await stack.health()
  await Promise.all([rescueOrders(ctx), rescueOrders(ctx)])
  await stack.settle()
  expect(await stack.order(id)).toMatchObject({ state: 'delivered', deliveryNum: 8 })
  expect(await stack.live(id)).toEqual({ [second.id]: 8 })
  expect(await stack.mails('addresses-changed')).toHaveLength(1)
  await first.agent.start()
  await stack.health()
  await stack.settle()
  expect(await wrongNow(ctx.db)).toEqual([])
}, 60_000)

test('old credentials are tried after the expiry, and again when the grace ends, on agents that have confirmed', async () => {
  const { ctx } = stack
  await pause(second)
  const [ended, waiting] = [await stack.delivered(8), await stack.delivered(8)]
  await expire(ended, waiting)
  const of = (id: number) =>
    ctx.db
      .select()
      .from(accessProofs)
      .where(and(eq(accessProofs.orderId, id), eq(accessProofs.kind, 'revocation')))
  expect(await of(ended)).toMatchObject([{ cause: 'removed' }])
  // One agent has not confirmed, so its users are not known to be gone.
  const [proof] = await of(waiting)
  await ctx.db.insert(agentUsers).values({ ...proof!, rules: [], password: 'x', wanted: false, generation: 9 })
  stack.pass(25 * 60 * MINUTE)
  expect(await endGraces(ctx)).toBe(2)
  expect((await of(ended)).map(({ cause }) => cause)).toEqual(['removed', 'grace_ended'])
  expect((await of(waiting)).map(({ cause }) => cause)).toEqual(['removed'])
  await ctx.db.delete(agentUsers).where(eq(agentUsers.orderId, waiting))
  await proveAccess(ctx, stack.first.id)
  expect((await of(ended)).map(({ state }) => state)).toEqual(['proved', 'proved'])
  await command(ctx, SYSTEM, unit => advance(unit, [waiting]))
}, 60_000)

test('renewed in the grace while its server is given up, an order is delivered from others, or not renewed at all', async () => {
  const { ctx, first } = stack
  await pause(second)
  const [moved, stuck] = [await stack.delivered(8), await stack.delivered(8)]
  expect(await stack.live(moved)).toEqual({ [first.id]: 8 })
  await expire(moved, stuck)
  const told = (await stack.mails('addresses-changed')).length
  await pause(second, 'active')
  // Its orders have not been worked on yet.
  expect((await stack.admin.post(`/api/servers/servers/${first.id}/give_up/`, {})).code).toBe(2000)
  await renew(moved)
  const users = await ctx.db.select().from(agentUsers).where(eq(agentUsers.orderId, moved))
  expect(users.map(user => user.serverId)).toEqual([second.id])
  await stack.settle()
  expect(await stack.order(moved)).toMatchObject({ state: 'delivered', deliveryNum: 8, failCode: null })
  expect(await stack.live(moved)).toEqual({ [second.id]: 8 })
  // The mail of the renewal says how many addresses are new.
  expect(await stack.mails('addresses-changed')).toHaveLength(told)
  const { rows } = await ctx.db.execute(
    sql`select data -> 'data' -> 'changed' as changed from pgboss.job where data ->> 'template' = 'renewal-confirmed'
      and data -> 'data' ->> 'order_id' = ${(await stack.order(moved)).publicId}`
  )
  expect(rows).toEqual([{ changed: 8 }])

  // Both blocks of the other server are leased now.
  const before = await stack.order(stuck)
  await renew(stuck)
  expect(await stack.order(stuck)).toMatchObject({
    state: 'expired',
    expiredAt: before.expiredAt,
    payAmount: before.payAmount
  })
  const inbox = await stack.admin.get<{ data: { order_id: number; outcome: string }[] }>(
    '/api/payments/inbox/?unresolved=1'
  )
  expect(inbox.data.data).toMatchObject([{ order_id: stuck, outcome: 'too_late' }])
  await rescueOrders(ctx)
  await stack.settle()
  expect(await wrongNow(ctx.db)).toEqual([])
}, 60_000)
