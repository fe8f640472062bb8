import type { BulkRun } from '@netlet/contract'
import { eq } from '../../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { servers } from '../../servers/tables.ts'
import { rescueOrders } from './index.ts'
import { startServersStack, wrongNow, type ServersStack } from './servers.fixture.ts'

let stack: ServersStack

beforeAll(async () => {
  stack = await startServersStack('127.72.0.0/29')
}, 120_000)
afterAll(() => stack?.close())

test('an order that lost all addresses with a server is not deleted while its paid time runs, and gets others', async () => {
  const { ctx, first, admin } = stack
  const id = await stack.delivered(8)
  await first.agent.stop()
  await ctx.db.update(servers).set({ offline: true }).where(eq(servers.id, first.id))
  const run = await admin.post<BulkRun>(`/api/servers/servers/${first.id}/give_up/`, {})
  await stack.finish(run.data)
  expect(await stack.order(id)).toMatchObject({ state: 'delivered', deliveryNum: 0, failCode: 'addresses_lost' })

  const refused = { status: 409, data: { reason: 'order_runs' } }
  expect(await admin.delete(`/api/orders/order_list/${id}/`)).toMatchObject(refused)
  const plan = await admin.post('/api/bulk/plan/', { action: 'order.delete', selection: { ids: [id] } })
  expect(plan).toMatchObject({ data: { outcomes: { effects: [], refusals: [{ reason: 'order_runs', rows: 1 }] } } })

  const other = await stack.addNamed('127.72.1.0/29')
  await rescueOrders(ctx)
  await stack.settle()
  expect(await stack.live(id)).toEqual({ [other.id]: 8 })
  expect(await stack.order(id)).toMatchObject({ deliveryNum: 8, failCode: null, deletedAt: null })
  expect(await wrongNow(ctx.db)).toEqual([])
}, 60_000)
