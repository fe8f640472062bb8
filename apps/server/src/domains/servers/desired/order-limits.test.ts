import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { and, eq, sql } from '../../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { SYSTEM } from '../../../infra/actor.ts'
import { command, type Unit } from '../../../infra/command.ts'
import { createAgentClient } from '../../../integrations/agent/index.ts'
import { applyUser } from '../../convergence/apply-user.ts'
import { convergeServer } from '../../convergence/converge.ts'
import {
  addTestServer,
  noOrders,
  startFleetShop,
  startTestAgent,
  usersOf,
  wantTestUsers
} from '../../convergence/fleet.fixture.ts'
import { repairServer } from '../../convergence/repair.ts'
import { agentUsers, orderTraffic } from '../tables.ts'
import {
  addTraffic,
  beginOrderLimits,
  type QuotaNews,
  renewOrderLimits,
  returnTraffic,
  takeTraffic,
  useTraffic
} from './order-limits.ts'
import { useStarted } from '../../../testing/use-started.ts'

const world = useStarted(startFleetShop)
const agent = useStarted(startTestAgent)

const GB = 1_000_000_000
const run = <T>(work: (unit: Unit) => Promise<T>): Promise<T> => command(world.ctx, SYSTEM, work)
const noLimits = { traffic_gb: null, mbps: null, connections: null, connections_per_second: null }
const told: (QuotaNews & { orderId: number })[] = []
const tell = (_unit: Unit, orderId: number, news: QuotaNews): Promise<void> => {
  told.push({ orderId, ...news })
  return Promise.resolve()
}
const use = (serverId: number, orderId: number, username: string, bytes: number) =>
  run(unit => useTraffic(unit, serverId, [{ orderId, username, bytes }], tell))
const trafficOf = async (orderId: number) =>
  (await world.ctx.db.select().from(orderTraffic).where(eq(orderTraffic.orderId, orderId)))[0]
const behind = async (serverId: number) =>
  (await usersOf(world.ctx, serverId))
    .filter(user => user.generation !== user.appliedGeneration)
    .map(user => user.username)
const grantOf = async (serverId: number, username: string) => {
  const [user] = await world.ctx.db
    .select()
    .from(agentUsers)
    .where(and(eq(agentUsers.serverId, serverId), eq(agentUsers.username, username)))
  return user?.quotaBytes
}

test('limits of an order reach its agent as a part of its user; what is left stays the same when it is sent again', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'limited', { agent, ranges: ['127.72.0.0/24'] })
  await run(unit =>
    beginOrderLimits(unit, 8001, { limits: { ...noLimits, traffic_gb: 2, mbps: 50, connections: 9 }, quantity: 8 })
  )
  const [name = ''] = await wantTestUsers(ctx, id, { count: 1, base: '127.72.0', orderId: 8001 })
  await convergeServer(ctx, id, noOrders(ctx))
  const [user] = await usersOf(ctx, id)
  expect(user).toMatchObject({ quotaBytes: 16 * GB, quotaUntil: 16 * GB, quotaGeneration: user?.generation })
  const withoutLimits = await agent.client.putUser(name, { password: 'secret0', prefixes: ['127.72.0.0/32'] })
  expect(withoutLimits.ok && withoutLimits.data.hash).not.toBe(user?.digest)
  // The agent held something else. The repair sends it again, and the agent counts for the new number.
  expect(await repairServer(ctx, id)).toMatchObject({ renewed: 1 })
  await use(id, 8001, name, 3 * GB)
  await convergeServer(ctx, id, noOrders(ctx))
  expect(await grantOf(id, name)).toBe(13 * GB)
  expect(await repairServer(ctx, id)).toMatchObject({ renewed: 0 })
  // A delivery that is retried gives nothing twice.
  await run(unit => beginOrderLimits(unit, 8001, { limits: { ...noLimits, traffic_gb: 2 }, quantity: 8 }))
  expect(await trafficOf(8001)).toMatchObject({ allowed: 16 * GB, used: 3 * GB, mbps: 50 })
})

/** An order with one user on each of two servers, whose agents are in step. */
async function onTwoServers(orderId: number, traffic: number): Promise<{ ids: [number, number]; name: string }> {
  const name = `q${orderId}`
  const ids = [await addTestServer(world.ctx, `${name} a`), await addTestServer(world.ctx, `${name} b`)] as [
    number,
    number
  ]
  await run(unit => beginOrderLimits(unit, orderId, { limits: { ...noLimits, traffic_gb: traffic }, quantity: 1 }))
  for (const id of ids) {
    await world.ctx.db.execute(sql`
      insert into agent_users (server_id, username, order_id, password, prefixes, rules, generation, applied_generation,
        quota_generation, quota_bytes, quota_until)
      values (${id}, ${name}, ${orderId}, 'x', '{10.9.0.1/32}', '{1}', 5, 5, 5, ${traffic * GB}, ${traffic * GB})`)
  }
  return { ids, name }
}

test('an agent gets less when other servers have used its share; a single server only at the end', async () => {
  const { ids, name } = await onTwoServers(8002, 100)
  await use(ids[0], 8002, name, 4 * GB)
  // Less than a twentieth is not worth a change.
  expect([await behind(ids[0]), await behind(ids[1])]).toEqual([[], []])
  await use(ids[0], 8002, name, 16 * GB)
  expect([await behind(ids[0]), await behind(ids[1])]).toEqual([[], [name]])

  const alone = await onTwoServers(8003, 100)
  await world.ctx.db.execute(sql`delete from agent_users where server_id = ${alone.ids[1]}`)
  await use(alone.ids[0], 8003, alone.name, 99 * GB)
  expect(await behind(alone.ids[0])).toEqual([])
  await use(alone.ids[0], 8003, alone.name, GB)
  expect(await behind(alone.ids[0])).toEqual([alone.name])
  await world.ctx.db.execute(
    sql`update agent_users set applied_generation = generation, quota_bytes = 0 where server_id = ${alone.ids[0]}`
  )
  await use(alone.ids[0], 8003, alone.name, GB)
  expect(await behind(alone.ids[0])).toEqual([])
})

test('customers are notified once at 80 and once at 100 percent; another term starts again, and owes nothing', async () => {
  const { ids, name } = await onTwoServers(8004, 10)
  told.length = 0
  for (const bytes of [7.9 * GB, 0.2 * GB, GB, 0.5 * GB, 3 * GB, GB]) await use(ids[0], 8004, name, bytes)
  expect(told.map(({ share, allowed }) => [share, allowed])).toEqual([
    [80, 10 * GB],
    [100, 10 * GB]
  ])
  told.length = 0
  await run(unit => addTraffic(unit, 8004, { limits: { ...noLimits, traffic_gb: 10 }, quantity: 1 }))
  await renewOrderLimits(world.ctx, 8004)
  expect(await trafficOf(8004)).toMatchObject({ allowed: 10 * GB, used: 0, toldOf: 0 })
  expect([await behind(ids[0]), await behind(ids[1])]).toEqual([[name], [name]])
  await use(ids[1], 8004, name, 10 * GB)
  // Straight to the end: one mail is enough.
  expect(told.map(({ share }) => share)).toEqual([100])
})

test('a term that is given back takes its unused traffic; a plan without a quota takes none, and one with it begins whole', async () => {
  await onTwoServers(8005, 10)
  const plan = (traffic_gb: number | null) => ({ limits: { ...noLimits, traffic_gb }, quantity: 2 })
  const add = (gb: number | null) => run(unit => addTraffic(unit, 8005, plan(gb)))
  const take = (gb: number | null) => run(unit => takeTraffic(unit, 8005, plan(gb)))
  const giveBack = (gb: number | null, taken: number | null) => run(unit => returnTraffic(unit, 8005, plan(gb), taken))
  const use7 = () =>
    world.ctx.db
      .update(orderTraffic)
      .set({ used: 7 * GB })
      .where(eq(orderTraffic.orderId, 8005))
  await add(10)
  expect((await trafficOf(8005))?.allowed).toBe(30 * GB)
  expect(await take(10)).toBe(20 * GB)
  expect((await trafficOf(8005))?.allowed).toBe(10 * GB)
  await use7()
  expect(await take(10)).toBe(3 * GB)
  expect(await take(10)).toBe(0)
  expect(await trafficOf(8005)).toMatchObject({ allowed: 7 * GB, used: 7 * GB })
  await giveBack(10, 3 * GB)
  expect(await trafficOf(8005)).toMatchObject({ allowed: 10 * GB, used: 7 * GB })
  // A refund from before the bytes were stored.
  await giveBack(10, null)
  expect(await trafficOf(8005)).toMatchObject({ allowed: 30 * GB, used: 7 * GB })
  expect(await take(null)).toBeNull()
  await giveBack(null, null)
  expect(await trafficOf(8005)).toMatchObject({ allowed: null, used: 7 * GB })
  await add(10)
  expect(await trafficOf(8005)).toMatchObject({ allowed: 20 * GB, used: 0 })
})

test('what servers count at once adds up', async () => {
  const { ids, name } = await onTwoServers(8006, 1000)
  await Promise.all(Array.from({ length: 8 }, (_, n) => use(ids[n % 2] ?? 0, 8006, name, GB)))
  expect((await trafficOf(8006))?.used).toBe(8 * GB)
})

test('an agent that is too old for limits is known by its answer, so that it gets them once it is not', async () => {
  const reply = { proxies: [], hash: 'digest', deny_set: 'none', version: 1 }
  const old = createServer((_request, response) => response.end(JSON.stringify(reply)))
  await new Promise<void>(resolve => old.listen(0, '127.0.0.1', resolve))
  const { port } = old.address() as AddressInfo
  const client = createAgentClient({ host: '127.0.0.1', port, token: 'token', certificate: null })
  const { ids, name } = await onTwoServers(8007, 1)
  const [user] = await usersOf(world.ctx, ids[0])
  if (!user) throw new Error(`${name} is missing`)
  const nothing = { denied: [], allowed: [] }
  const byPassword = { ...user, access: 'password' as const, clientIps: [] }
  expect(await applyUser(client, byPassword, nothing, { mbps: 1 })).toMatchObject({
    kind: 'applied',
    digest: 'digest!'
  })
  expect(await applyUser(client, byPassword, nothing)).toMatchObject({ kind: 'applied', digest: 'digest' })
  old.closeAllConnections()
  old.close()
})

test('counting locks the users of all servers in the one order, so that an edit of the rules never deadlocks with it', async () => {
  const { ctx } = world
  const [first, second] = [await addTestServer(ctx, 'locks 1'), await addTestServer(ctx, 'locks 2')]
  await run(unit => beginOrderLimits(unit, 8090, { limits: { ...noLimits, traffic_gb: 1 }, quantity: 1 }))
  const [one = ''] = await wantTestUsers(ctx, first, { count: 1, base: '127.91.0', orderId: 8090 })
  const [two = ''] = await wantTestUsers(ctx, second, { count: 1, base: '127.91.1', orderId: 8090 })
  await ctx.db.update(agentUsers).set({ quotaBytes: GB, quotaUntil: GB }).where(eq(agentUsers.orderId, 8090))
  let counting: Promise<void> | undefined
  await ctx.db.transaction(async tx => {
    const lock = (name: string) => tx.select().from(agentUsers).where(eq(agentUsers.username, name)).for('update')
    await lock(one)
    counting = use(second, 8090, two, 2 * GB)
    await expect
      .poll(async () => {
        const { rows } = await ctx.db.execute(sql`
          select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
        return rows.length
      })
      .toBeGreaterThan(0)
    await tx.execute(sql`set local lock_timeout = '500ms'`)
    await lock(two)
  })
  await counting
  expect(await trafficOf(8090)).toMatchObject({ used: 2 * GB })
  expect((await behind(first)).concat(await behind(second)).toSorted()).toEqual([one, two].toSorted())
})
