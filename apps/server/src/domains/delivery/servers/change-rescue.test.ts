import { and, eq, ne } from '../../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MINUTE } from '../../../infra/clock.ts'
import { deliveryPorts } from '../../../workers.ts'
import { writeSettings } from '../../settings/index.ts'
import { proxies } from '../tables.ts'
import { runTask } from '../tasks.ts'
import { rescueOrders } from './index.ts'
import { startServersStack, wrongNow, type ServersStack } from './servers.fixture.ts'

let stack: ServersStack

beforeAll(async () => {
  stack = await startServersStack('127.70.0.0/28')
  await writeSettings(stack.ctx, { customer_changes_per_term: 5 })
}, 120_000)
afterAll(() => stack?.close())

async function change(id: number): Promise<void> {
  const asked = await stack.buyer.post<{ task_id: string }>(`/api/orders/order_list/${id}/reset_proxy/`, {})
  expect(asked.code, asked.msg).toBe(2000)
  await runTask(stack.ctx, deliveryPorts, { orderId: id, taskId: asked.data.task_id })
}

async function ipsOf(id: number): Promise<string[]> {
  const rows = await stack.ctx.db
    .select({ ip: proxies.ip })
    .from(proxies)
    .where(and(eq(proxies.orderId, id), ne(proxies.state, 'retired')))
  return rows.map(({ ip }) => ip)
}

test('a rescue of what a change waits for gives back nothing that the order gave away, while there is something else', async () => {
  const { ctx, first } = stack
  const id = await stack.delivered(8)
  const given = await ipsOf(id)
  await change(id)
  await stack.settle()
  const kept = await ipsOf(id)
  expect(await stack.live(id)).toEqual({ [first.id]: 8 })

  const silent = await stack.addNamed('127.70.1.0/29')
  await silent.agent.stop()
  await change(id)
  expect((await ipsOf(id)).filter(ip => ip.startsWith('127.70.1.'))).toHaveLength(8)
  const spare = await stack.addNamed('127.70.2.0/28')
  await stack.health()
  stack.pass(31 * MINUTE)
  await rescueOrders(ctx)
  await stack.settle()
  expect(await stack.live(id)).toEqual({ [spare.id]: 8 })
  const now = await ipsOf(id)
  expect(now.filter(ip => [...given, ...kept].includes(ip))).toEqual([])
  expect(await stack.order(id)).toMatchObject({ task: null, taskErrorCode: null, changesUsed: 2 })
  expect(await wrongNow(ctx.db)).toEqual([])
}, 60_000)
