import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { TestShop } from '../../testing/shop.ts'
import { convergeServer } from './converge.ts'
import {
  addTestServer,
  heldBy,
  noOrders,
  startFleetShop,
  startTestAgent,
  wantTestUsers,
  type TestAgent
} from './fleet.fixture.ts'
import { repairServer, SAFE_REMOVALS } from './repair.ts'
import { lockServer } from './server-row.ts'
import { changeStatus } from './server-status.ts'
import { agentUsers } from './tables.ts'

let world: TestShop
let agent: TestAgent

beforeAll(async () => {
  world = await startFleetShop()
  agent = await startTestAgent()
})

afterAll(async () => {
  await agent?.close()
  await world?.close()
})

test.for(['given_up', 'draining'] as const)(
  'a server that is %s keeps no users, whenever a repair comes',
  async status => {
    const { ctx } = world
    const count = SAFE_REMOVALS + 5
    const [range, base] = status === 'given_up' ? ['127.57.0.0/24', '127.57.0'] : ['127.57.1.0/24', '127.57.1']
    const id = await addTestServer(ctx, status, { agent, ranges: [range] })
    const users = await wantTestUsers(ctx, id, { count, base, orderId: 1 })
    await convergeServer(ctx, id, noOrders(ctx))
    expect(await heldBy(agent)).toEqual(users.toSorted())
    await command(ctx, SYSTEM, async unit => {
      const server = await lockServer(unit, id)
      if (server) await changeStatus(unit, server, status)
    })
    // It finds nothing to remove yet: its orders have not left.
    expect(await repairServer(ctx, id)).toMatchObject({ removed: [], waiting: 0 })
    await ctx.db.delete(agentUsers).where(eq(agentUsers.serverId, id))
    expect(await repairServer(ctx, id)).toMatchObject({ waiting: 0 })
    expect(await heldBy(agent)).toEqual([])
  }
)
