import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../infra/clock.ts'
import type { TestShop } from '../../testing/shop.ts'
import { convergeHealthy } from './converge-retries.ts'
import { addTestServer, noOrders, serverRow, startFleetShop, startTestAgent, type TestAgent } from './fleet.fixture.ts'
import { checkServers } from './check-servers.ts'
import { accessProofs } from '../proofs/tables.ts'
import { serverOutages, servers } from '../servers/tables.ts'
import { addRow, addRows } from '../../testing/rows.ts'

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

const jobsOf = async (id: number) => {
  const { rows } = await world.ctx.db.execute<{ key: string; seconds: number }>(sql`
    select singleton_key as key, extract(epoch from start_after - created_on)::int as seconds from pgboss.job
    where name = 'converge-failing-server' and data ->> 'serverId' = ${String(id)} and state = 'created'`)
  return rows
}

/** The clock goes on while the test runs. */
function expectToLast(outage: { startedAt: Date; endedAt: Date | null } | undefined, milliseconds: number) {
  const lasted = (outage?.endedAt?.getTime() ?? 0) - (outage?.startedAt.getTime() ?? 0)
  expect(lasted).toBeGreaterThanOrEqual(milliseconds)
  expect(lasted).toBeLessThan(milliseconds + 5 * MINUTE)
}

test('a server that died while the clock was ahead sells nothing after unreachable_after, as any other', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'ahead', { agent, ranges: ['10.91.0.0/28'] })
  await checkServers(ctx)
  await agent.stop()
  world.advance(3 * DAY)
  await convergeHealthy(ctx, id, noOrders(ctx))
  await checkServers(ctx)
  world.advance(-3 * DAY)

  await checkServers(ctx)
  const now = ctx.now()
  const row = await serverRow(ctx, id)
  const [open] = await ctx.db.select().from(serverOutages).where(eq(serverOutages.serverId, id))
  expect(open?.endedAt).toBeNull()
  for (const since of [row.unreachableSince, row.failingSince, open?.startedAt]) {
    expect(since?.getTime()).toBeLessThanOrEqual(now.getTime())
    expect(since?.getTime()).toBeGreaterThan(now.getTime() - MINUTE)
  }
  expect((await jobsOf(id)).map(({ key }) => key)).toContain(`${id}:now`)

  world.advance(11 * MINUTE)
  await checkServers(ctx)
  expect(await serverRow(ctx, id)).toMatchObject({ offline: true })
  await agent.start()
  world.advance(2 * HOUR)
  await checkServers(ctx)
  const [outage] = await ctx.db.select().from(serverOutages).where(eq(serverOutages.serverId, id))
  expectToLast(outage, 2 * HOUR + 11 * MINUTE)
})

test('an outage that ended while the clock was ahead does not keep later ones from being counted', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'back', { agent, ranges: ['10.92.0.0/28'] })
  await checkServers(ctx)
  const later = new Date(ctx.now().getTime() + 3 * DAY)
  await addRow(ctx, serverOutages, { serverId: id, startedAt: later, endedAt: new Date(later.getTime() + 1) })
  await agent.stop()
  await checkServers(ctx)
  world.advance(HOUR)
  await agent.start()
  await checkServers(ctx)
  const [outage, ...more] = await ctx.db.select().from(serverOutages).where(eq(serverOutages.serverId, id))
  expect(more).toEqual([])
  expectToLast(outage, HOUR)
})

test('old credentials are tried at once if a clock that ran ahead had postponed their next try', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'tried', { agent, ranges: ['10.94.0.0/28'] })
  const at = (milliseconds: number) => new Date(ctx.now().getTime() + milliseconds)
  const asked = (nextAt: Date) => ({
    kind: 'revocation' as const,
    cause: 'removed' as const,
    orderId: 1,
    serverId: id,
    username: 'u',
    password: 'secret1',
    prefixes: ['10.94.0.1/32'],
    nextAt
  })
  const soon = at(HOUR)
  await addRows(ctx, accessProofs, [asked(at(3 * DAY)), asked(soon)])
  await ctx.db
    .update(servers)
    .set({ nextProofAt: at(3 * DAY) })
    .where(eq(servers.id, id))
  await checkServers(ctx)
  expect(await serverRow(ctx, id)).toMatchObject({ nextProofAt: null })
  const [late, other] = await ctx.db
    .select()
    .from(accessProofs)
    .where(eq(accessProofs.serverId, id))
    .orderBy(accessProofs.id)
  expect(late?.nextAt?.getTime()).toBeLessThanOrEqual(ctx.now().getTime())
  expect(other?.nextAt).toEqual(soon)
})

test("the next try waits by the database's clock, however the shop's differs from it", async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'behind', { agent, ranges: ['10.93.0.0/28'] })
  world.advance(-90_000)
  const nextTryAt = new Date(ctx.now().getTime() + MINUTE)
  await ctx.db.update(servers).set({ failingSince: ctx.now(), nextTryAt }).where(eq(servers.id, id))
  await convergeHealthy(ctx, id, noOrders(ctx))
  const [job] = await jobsOf(id)
  expect(job?.key).toBe(String(id))
  expect(job?.seconds).toBeGreaterThan(50)
})
