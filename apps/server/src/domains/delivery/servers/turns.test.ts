import { eq } from '../../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MINUTE } from '../../../infra/clock.ts'
import { servers } from '../../servers/tables.ts'
import { rescueOrders } from './index.ts'
import { startServersStack, wrongNow, type ServersStack, type TestServer } from './servers.fixture.ts'

let stack: ServersStack
let silent: TestServer

beforeAll(async () => {
  stack = await startServersStack('127.66.0.0/29')
  silent = await stack.addNamed('127.66.1.0/26')
  await stack.ctx.db.update(servers).set({ status: 'paused' }).where(eq(servers.id, stack.first.id))
}, 120_000)
afterAll(() => stack?.close())

test('orders without room elsewhere do not hold up others: the one tried longest ago comes first', async () => {
  const { ctx, first } = stack
  await silent.agent.stop()
  const stuck = [await stack.paid(16), await stack.paid(16), await stack.paid(16)]
  const fits = await stack.paid(8)
  await stack.health()
  stack.pass(31 * MINUTE)
  await stack.health()
  // A slice has time for one order.
  const slices = async (count: number) => {
    for (let run = 0; run < count; run++) await rescueOrders(ctx, { sliceMs: 0 })
  }
  await slices(3)
  await ctx.db.update(servers).set({ status: 'active' }).where(eq(servers.id, first.id))
  await slices(1)
  await stack.settle()
  expect(await stack.order(fits)).toMatchObject({ state: 'delivered', deliveryNum: 8 })
  for (const id of stuck) expect(await stack.order(id)).toMatchObject({ failCode: 'server_unreachable' })

  // Orders that wait and orders that must leave a server take turns too.
  expect((await stack.admin.post(`/api/servers/servers/${first.id}/drain/`, {})).code).toBe(2000)
  await slices(3)
  const second = await stack.addNamed('127.66.2.0/29')
  await slices(1)
  await stack.settle()
  expect(await stack.live(fits)).toEqual({ [second.id]: 8 })
  expect(await wrongNow(ctx.db)).toEqual([])
}, 60_000)
