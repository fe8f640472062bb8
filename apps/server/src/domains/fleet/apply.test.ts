import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AgentClient } from '../../integrations/agent/index.ts'
import type { TestShop } from '../../testing/shop.ts'
import { recordReport } from './agent-report.ts'
import { applyUser, recordOutcomes } from './apply.ts'
import {
  addTestServer,
  noOrders,
  startFleetShop,
  startTestAgent,
  usersOf,
  wantTestUsers,
  type TestAgent
} from './fleet.fixture.ts'
import { withAccess } from './order-access.ts'
import { agentUsers, orderAccess } from './tables.ts'

let world: TestShop
let agent: TestAgent

beforeAll(async () => {
  ;[world, agent] = await Promise.all([startFleetShop(), startTestAgent()])
})
afterAll(() => Promise.all([world?.close(), agent?.close()]))

test('an agent that cannot let connections leave from other addresses delivers no order that was sold so, until it is another one', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'old', { agent, ranges: ['127.92.0.0/24'] })
  await agent.client.putPrefixes(['127.92.0.0/24'])
  await wantTestUsers(ctx, id, { count: 1, base: '127.92.0' })
  await ctx.db.update(agentUsers).set({ egress: 'session' }).where(eq(agentUsers.serverId, id))
  const [user] = await ctx.db
    .select(withAccess)
    .from(agentUsers)
    .leftJoin(orderAccess, eq(orderAccess.orderId, agentUsers.orderId))
    .where(eq(agentUsers.serverId, id))
  if (!user) throw new Error('it is wanted')
  // Agents of before know nothing of the field, and so say nothing of it.
  const old: AgentClient = {
    ...agent.client,
    putUser: async (name, body) => {
      const known = { ...body }
      delete known.egress
      return agent.client.putUser(name, known)
    }
  }
  const nothing = { denied: [], allowed: [] }
  const outcome = await applyUser(old, user, nothing)
  expect(outcome).toMatchObject({ kind: 'refused', message: expect.stringContaining('too old') as string })
  expect(await applyUser(old, { ...user, egress: 'fixed' }, nothing)).toMatchObject({ kind: 'applied' })
  await recordOutcomes(ctx, [{ user, outcome }], noOrders(ctx))
  const [row] = await usersOf(ctx, id)
  expect(row).toMatchObject({ refusal: expect.stringContaining('too old') as string, appliedGeneration: 0 })

  await ctx.db.execute(sql`delete from pgboss.job`)
  const told = (version: string) => {
    const health = { status: 'ok' as const, version, workers: 1, uptime_seconds: 5 }
    const info = { epoch: 'e', version: 1, proxy_port: 3128, cidr: [], num_of_users: 0, health }
    return command(ctx, SYSTEM, unit => recordReport(unit, id, info))
  }
  await told('1')
  await told('1')
  expect((await usersOf(ctx, id))[0]?.refusal).not.toBeNull()
  await told('2')
  expect((await usersOf(ctx, id))[0]?.refusal).toBeNull()
  const { rows } = await ctx.db.execute(sql`select 1 from pgboss.job where name = 'converge-server'`)
  expect(rows).toHaveLength(1)
})
