import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestShop } from '../../testing/shop.ts'
import { addTestServer, serverRow, startFleetShop, startTestAgent, type TestAgent } from './fleet.fixture.ts'
import { ALARM_AFTER, checkServers } from './health.ts'
import { servers } from './tables.ts'

let world: TestShop
let agent: TestAgent

beforeAll(async () => {
  world = await startFleetShop()
  agent = await startTestAgent()
  await world.admin()
})

afterAll(async () => {
  await agent?.close()
  await world?.close()
})

const waiting = async (queue: string, serverId: number) => {
  const { rows } = await world.ctx.db.execute(sql`
    select 1 from pgboss.job where name = ${queue} and state = 'created'
      and (data->>'serverId' = ${String(serverId)} or data->>'key' like ${`server-silent:${serverId}:%`})`)
  return rows.length
}

test('five silences in a row make one alarm; a server that comes back gets what it missed', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'watched', { agent })
  await checkServers(ctx)
  const first = await serverRow(ctx, id)
  expect(first).toMatchObject({ connected: true, failures: 0, unreachableSince: null })
  await ctx.db.execute(sql`delete from pgboss.job`)

  await agent.stop()
  for (let round = 1; round <= ALARM_AFTER + 2; round++) {
    await checkServers(ctx)
    expect(await serverRow(ctx, id)).toMatchObject({ connected: false, failures: round })
    expect(await waiting('send-mail', id)).toBe(round < ALARM_AFTER ? 0 : 1)
  }
  const unreachable = await serverRow(ctx, id)
  expect(unreachable.unreachableSince).not.toBeNull()
  expect(unreachable).toMatchObject({
    trouble: 'unreachable',
    troubleParams: { message: expect.stringMatching(/ECONNREFUSED/) as string }
  })
  expect(await waiting('converge-server', id)).toBe(0)

  await agent.start()
  await checkServers(ctx)
  expect(await serverRow(ctx, id)).toMatchObject({
    connected: true,
    failures: 0,
    trouble: null,
    troubleParams: null,
    unreachableSince: null
  })
  expect(await waiting('converge-server', id)).toBe(1)
  expect(await waiting('repair-server', id)).toBe(1)
})

test('screens hear when an agent goes away and comes back', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'shown', { agent })
  await checkServers(ctx)
  const heard = new Set<number | undefined>()
  const unsubscribe = ctx.changes.subscribe(event => {
    for (const change of event?.changes ?? []) if (change.resource === 'server') heard.add(change.id)
  })
  try {
    await agent.stop()
    await checkServers(ctx)
    await expect.poll(() => heard.has(id), { timeout: 10_000 }).toBe(true)
    heard.clear()
    await agent.start()
    await checkServers(ctx)
    await expect.poll(() => heard.has(id), { timeout: 10_000 }).toBe(true)
  } finally {
    unsubscribe()
  }
})

test('one server that cannot be asked keeps no other from being asked', async () => {
  const { ctx } = world
  const broken = await addTestServer(ctx, 'sealed elsewhere', { agent })
  await ctx.db
    .update(servers)
    .set({ agentToken: Buffer.alloc(40) })
    .where(eq(servers.id, broken))
  const fine = await addTestServer(ctx, 'fine', { agent })
  await checkServers(ctx)
  expect(await serverRow(ctx, broken)).toMatchObject({ trouble: 'token_unreadable', troubleParams: {} })
  expect((await serverRow(ctx, fine)).connected).toBe(true)
})
