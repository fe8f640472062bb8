import { routes, type Server } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { addGroup, addOrders, addRule } from '../inventory/inventory.fixture.ts'
import { stockByRule, stockForRules, reserve, reserveOther } from '../inventory/index.ts'
import { addTestServer, serverRow, startFleetShop, startTestAgent } from './fleet.fixture.ts'
import { checkServers } from './check-servers.ts'
import { markFailing } from '../servers/agent-health.ts'
import { serverOutages, servers } from '../servers/tables.ts'
import { useStarted } from '../../testing/use-started.ts'

const world = useStarted(startFleetShop)
const agent = useStarted(startTestAgent)
const admin = useStarted(() => world.admin())
let rule = 0

beforeAll(async () => {
  rule = await addRule(world.ctx.db, 'selling')
})

async function sellingServer(name: string, range: string) {
  const { ctx } = world
  const serverId = await addTestServer(ctx, name, { agent, ranges: [range] })
  const groupId = await addGroup(ctx.db, name, [serverId])
  const orderIds = await addOrders(ctx.db, groupId, 3)
  const figures = async () => [
    await stockForRules(ctx.db, { groupId, step: 8, rules: [rule] }),
    (await stockByRule(ctx.db, { groupId, step: 8 })).find(({ ruleId }) => ruleId === rule)?.stock
  ]
  const wanted = (orderId: number) => ({ orderId, groupId, step: 8, rules: [rule], quantity: 8 })
  return { serverId, orderIds, figures, wanted }
}

const shown = async (id: number): Promise<Server | undefined> =>
  (await admin.get<{ data: Server[] }>(routes.fleet.servers.path)).data.data.find(server => server.id === id)

test('a server that has not answered for unreachable_after sells nothing, and sells again when it answers', async () => {
  const { ctx } = world
  const { serverId, orderIds, figures, wanted } = await sellingServer('silent', '10.81.0.0/28')
  const [first = 0, second = 0, third = 0] = orderIds
  await checkServers(ctx)
  expect((await reserve(ctx.db, wanted(first))).ok).toBe(true)
  await agent.stop()
  await checkServers(ctx)
  world.advance(9 * MINUTE)
  await checkServers(ctx)
  expect(await figures()).toEqual([8, 8])
  const heard: string[] = []
  const stop = ctx.changes.subscribe(event => heard.push(...(event?.changes ?? []).map(({ resource }) => resource)))
  world.advance(2 * MINUTE)
  await checkServers(ctx)
  expect(await figures()).toEqual([0, 0])
  // The other ways to addresses, a change of proxies and a late payment, are refused too.
  expect(await reserve(ctx.db, wanted(second))).toEqual({ ok: false, reason: 'out_of_stock' })
  expect(await reserveOther(ctx.db, wanted(first))).toEqual({ ok: false, reason: 'out_of_stock' })
  expect(await shown(serverId)).toMatchObject({ status: 'active', sells: false })
  await expect.poll(() => heard).toContain('server_group')
  stop()

  await agent.start()
  await checkServers(ctx)
  expect(await figures()).toEqual([8, 8])
  expect(await shown(serverId)).toMatchObject({ sells: true })
  expect((await reserve(ctx.db, wanted(third))).ok).toBe(true)
})

test('a new server sells at once, but no longer if it never answers', async () => {
  const { ctx } = world
  const { serverId, figures } = await sellingServer('never', '10.81.1.0/28')
  await ctx.db.execute(`update servers set agent_port = 9 where id = ${serverId}`)
  await checkServers(ctx)
  expect(await figures()).toEqual([16, 16])
  world.advance(11 * MINUTE)
  await checkServers(ctx)
  expect(await figures()).toEqual([0, 0])
})

test('a server that may not serve sells nothing', async () => {
  const { ctx } = world
  const { serverId, orderIds, figures, wanted } = await sellingServer('unserved', '10.81.12.0/28')
  const mark = (unservedSince: Date | null) =>
    ctx.db.update(servers).set({ unservedSince }).where(eq(servers.id, serverId))
  const views = async () =>
    (await admin.get<{ data: Server[] }>(`${routes.fleet.servers.path}?state=selling`)).data.data.map(({ id }) => id)
  await mark(ctx.now())
  expect(await figures()).toEqual([0, 0])
  expect(await reserve(ctx.db, wanted(orderIds[0] ?? 0))).toEqual({ ok: false, reason: 'out_of_stock' })
  expect(await shown(serverId)).toMatchObject({ status: 'active', sells: false })
  expect(await views()).not.toContain(serverId)
  await mark(null)
  expect(await figures()).toEqual([16, 16])
  expect(await views()).toContain(serverId)
})

test('a paused server sells nothing until it is resumed, even if it answers', async () => {
  const { ctx } = world
  const { serverId, figures } = await sellingServer('paused', '10.81.2.0/28')
  const call = (action: string) => admin.post<Server>(`/api/servers/servers/${serverId}/${action}/`, {})
  expect((await call('pause')).data).toMatchObject({ status: 'paused', sells: false })
  expect((await call('pause')).code).toBe(2000)
  await checkServers(ctx)
  expect(await figures()).toEqual([0, 0])
  expect((await call('take_back')).code).toBe(409)
  expect((await call('resume')).data).toMatchObject({ status: 'active', sells: true })
  expect(await figures()).toEqual([16, 16])
})

test('a pause is undone only by its own count of changes, not after another operator has paused the server again', async () => {
  const { serverId } = await sellingServer('counted', '10.81.10.0/28')
  const call = (action: string, body: object = {}) =>
    admin.post<Server & { changes: number | null }>(`/api/servers/servers/${serverId}/${action}/`, body)
  const { changes } = (await call('pause')).data
  expect((await call('pause')).data.changes).toBeNull()
  await call('resume')
  await call('pause')
  const undo = (count: number | null) => call('resume', { expected: 'paused', changes: count })
  expect(await undo(changes)).toMatchObject({ status: 409, data: { reason: 'stale' } })
  expect(await undo(Number(changes) + 2)).toMatchObject({ code: 2000, data: { status: 'active' } })
})

test('each time without an answer is recorded once, from its first moment to its last', async () => {
  const { ctx } = world
  const { serverId } = await sellingServer('recorded', '10.81.3.0/28')
  const outages = () => ctx.db.select().from(serverOutages).where(eq(serverOutages.serverId, serverId))
  await checkServers(ctx)
  // One silence that a job meets is no outage yet.
  await command(ctx, SYSTEM, unit => markFailing(unit, serverId, 'timed out'))
  expect(await outages()).toEqual([])
  await checkServers(ctx)
  await agent.stop()
  await Promise.all([checkServers(ctx), checkServers(ctx)])
  const since = (await serverRow(ctx, serverId)).unreachableSince
  expect(await outages()).toMatchObject([{ startedAt: since, endedAt: null, byHand: false }])
  world.advance(5 * MINUTE)
  await checkServers(ctx)
  await agent.start()
  await Promise.all([checkServers(ctx), checkServers(ctx)])
  const [outage, ...more] = await outages()
  expect(more).toEqual([])
  expect((outage?.endedAt?.getTime() ?? 0) - (since?.getTime() ?? 0)).toBeGreaterThanOrEqual(5 * MINUTE)
})

test('an outage that is entered by hand overlaps no other, and lies in the past', async () => {
  const { serverId } = await sellingServer('by hand', '10.81.4.0/28')
  const now = world.ctx.now().getTime()
  await addedAt(serverId, now - 400 * DAY)
  const enter = (from: number, to: number) =>
    admin.post(`/api/servers/servers/${serverId}/outages/`, {
      started_at: new Date(now + from * MINUTE).toISOString(),
      ended_at: new Date(now + to * MINUTE).toISOString()
    })
  expect((await enter(-10, -20)).code).toBe(400)
  expect((await enter(-10, 10)).code).toBe(400)
  const both = await Promise.all([enter(-20, -10), enter(-15, -5)])
  expect(both.map(reply => reply.code).toSorted((a, b) => a - b)).toEqual([409, 2000])
  expect((await enter(-30, -20)).code).toBe(2000)
  const list = await admin.get<{ total: number }>(`/api/servers/servers/${serverId}/outages/`)
  expect(list.data.total).toBe(2)
})

const addedAt = (serverId: number, at: number) =>
  world.ctx.db
    .update(servers)
    .set({ createdAt: new Date(at) })
    .where(eq(servers.id, serverId))

test('an outage that cannot have been is refused: years ago, before its server was added, or at no date', async () => {
  const { serverId } = await sellingServer('slip', '10.81.5.0/28')
  const now = world.ctx.now().getTime()
  const enter = (started_at: string) =>
    admin.post(`/api/servers/servers/${serverId}/outages/`, { started_at, ended_at: new Date(now).toISOString() })
  await addedAt(serverId, now - 400 * DAY)
  for (const years of ['1970-01-01', '0001-01-01', '0000-01-01', '-000001-01-01'])
    expect((await enter(`${years}T00:00:00Z`)).code, years).toBe(400)
  expect(await enter(new Date(now - 367 * DAY).toISOString())).toMatchObject({ data: { reason: 'outage_times' } })
  await addedAt(serverId, now - 2 * DAY)
  expect(await enter(new Date(now - 3 * DAY).toISOString())).toMatchObject({ data: { reason: 'outage_times' } })
  expect((await enter(new Date(now - DAY).toISOString())).code).toBe(2000)
})

test('an outage that was entered wrongly is deleted, and the real one can be entered; one of the health checks stays', async () => {
  const { ctx } = world
  const { serverId } = await sellingServer('taken back', '10.81.6.0/28')
  const now = ctx.now().getTime()
  await addedAt(serverId, now - 40 * DAY)
  const enter = (days: number) =>
    admin.post<{ id: number }>(`/api/servers/servers/${serverId}/outages/`, {
      started_at: new Date(now - days * DAY).toISOString(),
      ended_at: new Date(now).toISOString()
    })
  const remove = (id: number) => admin.delete(`/api/servers/outages/${id}/`)
  const { id } = (await enter(30)).data
  expect((await enter(1)).code).toBe(409)
  const both = await Promise.all([remove(id), remove(id)])
  expect(both.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([404, 2000])
  const { rows } = await ctx.db.execute(
    sql`select before ->> 'id' as id from audit_log where action = 'server.remove_outage' and target_id = ${String(serverId)}`
  )
  expect(rows).toEqual([{ id: String(id) }])
  const real = (await enter(1)).data.id
  await ctx.db.update(serverOutages).set({ byHand: false }).where(eq(serverOutages.id, real))
  expect(await remove(real)).toMatchObject({ code: 409, data: { reason: 'outage_recorded' } })
})

test('a pause or a resume that expects another state than the server is in changes nothing', async () => {
  const { serverId } = await sellingServer('expected', '10.81.9.0/28')
  const call = (action: string, expected: string) =>
    admin.post<Server>(`/api/servers/servers/${serverId}/${action}/`, { expected })
  expect(await call('resume', 'paused')).toMatchObject({ status: 409, data: { reason: 'stale' } })
  expect((await call('pause', 'active')).data.status).toBe('paused')
  expect(await call('pause', 'draining')).toMatchObject({ status: 409, data: { reason: 'stale' } })
  expect((await call('resume', 'paused')).data.status).toBe('active')
  expect((await call('pause', 'asleep')).status).toBe(400)
})
