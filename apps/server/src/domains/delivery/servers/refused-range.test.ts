import { eq, sql } from '../../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Health } from '@netlet/contract'
import { SYSTEM } from '../../../infra/actor.ts'
import { MINUTE } from '../../../infra/clock.ts'
import { command } from '../../../infra/command.ts'
import { renewPrefixes } from '../../servers/index.ts'
import { servers } from '../../servers/tables.ts'
import { assignCidrs } from '../../inventory/index.ts'
import { readSettings } from '../../settings/index.ts'
import { rescueOrders } from './rescue.ts'
import { startServersStack, wrongNow, type ServersStack } from './servers.fixture.ts'
import { answerWith, standBefore, type Answer } from './sick-agent.fixture.ts'
import { raisedNotices } from '../../../testing/raised-notices.ts'

let stack: ServersStack
beforeAll(async () => {
  stack = await startServersStack('127.63.0.0/28')
})
afterAll(() => stack?.close())

const REFUSED = '127.63.9.0/28'
const refuses =
  (range: string): Answer =>
  ({ method, path, body }, response) =>
    method === 'PUT' &&
    path === '/api/prefixes' &&
    body.includes(range) &&
    answerWith(response, 400, { status: 400, reason: 'badPrefix', msg: `No route for ${range}` })

/** Sets the first server's ranges. Its agent gets them at the next turn. */
const assign = (ranges: string[]) =>
  command(stack.ctx, SYSTEM, async unit => {
    const assigned = await assignCidrs(unit, stack.first.id, ranges)
    if (!assigned.ok) throw new Error(assigned.reason)
    await renewPrefixes(unit, stack.first.id)
  })
const addressesOf = async (orderId: number) => {
  const { rows } = await stack.ctx.db.execute<{ ip: string }>(
    sql`select host(ip) as ip from proxies where order_id = ${orderId} and state <> 'retired' order by ip`
  )
  return rows.map(({ ip }) => ip)
}

test('a range that an agent refuses holds up only the orders that need it, is not sold, and is reported once', async () => {
  const { ctx, first } = stack
  await stack.health()
  await stack.settle()
  const bringBack = await standBefore(stack, first, refuses(REFUSED))
  await assign(['127.63.0.0/28', REFUSED, '127.63.1.0/29', '127.63.2.0/29'])
  // Sold before its agent was asked.
  const early = await stack.paid(48)
  await stack.settle()
  // It waits for the range, so its agent is not asked for what it would only refuse.
  expect(await stack.order(early)).toMatchObject({ state: 'delivering', failCode: null })
  const [row] = await ctx.db.select().from(servers).where(eq(servers.id, first.id))
  expect(row).toMatchObject({ refusedRanges: [REFUSED], trouble: 'prefixes_refused', failingSince: null })

  await assign(['127.63.0.0/28', REFUSED, '127.63.1.0/29', '127.63.2.0/29', '127.63.3.0/28'])
  await stack.converge(first.id)
  expect(await stack.stock()).toBe(16)
  const id = await stack.delivered(8)
  expect(await stack.order(id)).toMatchObject({ state: 'delivered', deliveryNum: 8 })
  for (let n = 0; n < 10; n++) {
    stack.pass(MINUTE)
    await stack.health()
    await stack.converge(first.id)
  }
  const raised = await raisedNotices(ctx.db)
  expect(raised.filter(({ title }) => title.endsWith('refuses its ranges'))).toHaveLength(1)
  const { data } = await stack.admin.get<Health>('/api/settings/health')
  expect(data.servers?.troubled).toMatchObject([
    { id: first.id, message: `The agent refused its ranges: No route for ${REFUSED}` }
  ])
  expect(await stack.stock()).toBe(8)

  await bringBack()
  await stack.settle()
  expect(await stack.order(early)).toMatchObject({ state: 'delivered', deliveryNum: 48 })
  const [mended] = await ctx.db.select().from(servers).where(eq(servers.id, first.id))
  expect(mended).toMatchObject({ refusedRanges: [], trouble: null })
}, 120_000)

test('an order that waits for a refused range gets other addresses for those alone, after rescue_after', async () => {
  const { ctx, first } = stack
  const bringBack = await standBefore(stack, first, refuses('127.63.8.0/28'))
  await assign(['127.63.0.0/28', REFUSED, '127.63.1.0/29', '127.63.2.0/29', '127.63.3.0/28', '127.63.8.0/28'])
  const free = await stack.stock()
  // All that there is, sold before its agent was asked.
  const id = await stack.paid(free)
  await stack.settle()
  const held = await addressesOf(id)
  const refused = held.filter(ip => ip.startsWith('127.63.8.'))
  expect(refused).toHaveLength(16)
  expect(held.length).toBeGreaterThan(16)
  expect((await stack.order(id)).state).toBe('delivering')

  await rescueOrders(ctx)
  expect(await addressesOf(id)).toEqual(held)
  const { rescue_after: minutes } = await readSettings(ctx.db, ctx.secrets)
  stack.pass((minutes + 1) * MINUTE)
  // There is no room, so it says what it waits for.
  await rescueOrders(ctx)
  expect(await stack.order(id)).toMatchObject({ failCode: 'server_unreachable', failParams: { count: 16 } })

  await stack.addNamed('127.64.0.0/28')
  await stack.health()
  await rescueOrders(ctx)
  await stack.settle()
  expect(await stack.order(id)).toMatchObject({ state: 'delivered', deliveryNum: free, failCode: null })
  const now = await addressesOf(id)
  expect(now.filter(ip => ip.startsWith('127.63.8.'))).toEqual([])
  expect(now).toEqual(expect.arrayContaining(held.filter(ip => !refused.includes(ip))))
  expect(await wrongNow(ctx.db)).toEqual([])
  await bringBack()
}, 120_000)
