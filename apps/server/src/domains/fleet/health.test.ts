import { once } from 'node:events'
import { createServer } from 'node:http'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { TestShop } from '../../testing/shop.ts'
import { recordReport } from './agent-report.ts'
import { addTestServer, serverRow, startFleetShop, startTestAgent, type TestAgent } from './fleet.fixture.ts'
import { ALARM_AFTER, checkServers } from './health.ts'
import { serverReports, servers } from './tables.ts'

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
    expect(await waiting('raise-notice', id)).toBe(round < ALARM_AFTER ? 0 : 1)
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
    await expect.poll(() => heard.has(id)).toBe(true)
    heard.clear()
    await agent.start()
    await checkServers(ctx)
    await expect.poll(() => heard.has(id)).toBe(true)
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

/** What answers on an agent's port, whatever that is. */
async function startStranger() {
  const reply = { status: 503, body: '' }
  const server = createServer((_request, response) => response.writeHead(reply.status).end(reply.body))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return { reply, port: typeof address === 'object' && address ? address.port : 0, close: () => server.close() }
}

test('an agent whose refusal the database cannot hold as it came is away all the same', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'behind a proxy', { agent })
  await checkServers(ctx)
  const stranger = await startStranger()
  await ctx.db.update(servers).set({ agentPort: stranger.port }).where(eq(servers.id, id))
  const said = async (body: string) => {
    stranger.reply.body = body
    await checkServers(ctx)
    const { connected, trouble, troubleParams } = await serverRow(ctx, id)
    return { connected, trouble, message: troubleParams?.['message'] }
  }
  const away = { connected: false, trouble: 'unreachable' }
  const refusal = (msg: string) => `{"status":503,"reason":"internal","msg":"${msg}"}`
  try {
    expect(await said(refusal(String.raw`full\u0000 disk`))).toEqual({ ...away, message: 'full disk' })
    expect(await said(refusal(String.raw`half \ud83d`))).toEqual({ ...away, message: 'half \ufffd' })
    // Cut after 200, or 500: amid the character.
    expect(await said(`${'x'.repeat(199)}😀`)).toEqual({ ...away, message: 'x'.repeat(199) })
    expect(await said(refusal(`${'x'.repeat(499)}😀`))).toEqual({ ...away, message: 'x'.repeat(499) })
    expect(await said('a page\0')).toEqual({ ...away, message: 'a page' })
    expect((await serverRow(ctx, id)).failures).toBe(5)
    expect(await waiting('raise-notice', id)).toBe(1)
  } finally {
    stranger.close()
  }
})

test('a version that the database cannot hold as it came keeps no agent from being there', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'of another version', { agent })
  const stranger = await startStranger()
  await ctx.db.update(servers).set({ agentPort: stranger.port }).where(eq(servers.id, id))
  const told = async (version: string) => {
    const health = { version, status: 'ok', workers: 1, uptime_seconds: 5 }
    const data = { epoch: 'e', version: 1, proxy_port: 1, cidr: [], health }
    stranger.reply.status = 200
    stranger.reply.body = JSON.stringify({ status: 200, data })
    await checkServers(ctx)
    const [report] = await ctx.db.select().from(serverReports).where(eq(serverReports.serverId, id))
    return { connected: (await serverRow(ctx, id)).connected, version: report?.report.version }
  }
  try {
    expect(await told('1.0\0')).toEqual({ connected: true, version: '1.0' })
    expect(await told(`${'1'.repeat(49)}😀`)).toEqual({ connected: true, version: '1'.repeat(49) })
  } finally {
    stranger.close()
  }
})

test('figures that cannot be right are no report: the last one stays and says since when, and the agent is there', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'a liar', { agent })
  const stranger = await startStranger()
  await ctx.db.update(servers).set({ agentPort: stranger.port }).where(eq(servers.id, id))
  const health = { version: '1', status: 'ok', workers: 1, uptime_seconds: 5 }
  const load = { connections: 1, up: 1, down: 1, requests: 1, errors: 0 }
  const told = async (more: object) => {
    const data = { epoch: 'e', version: 1, proxy_port: 1, cidr: [], health, load, ...more }
    stranger.reply.status = 200
    stranger.reply.body = JSON.stringify({ status: 200, data })
    await checkServers(ctx)
    const [row] = await ctx.db.select().from(serverReports).where(eq(serverReports.serverId, id))
    expect((await serverRow(ctx, id)).connected).toBe(true)
    return row?.report
  }
  try {
    expect(await told({ health: { ...health, workers: -1.5 } })).toBeUndefined()
    const { refused_since: none, ...good } = (await told({})) ?? {}
    expect(none).toBeUndefined()
    const lies = [
      { load: { ...load, up: 1e308 } },
      { load: { ...load, down: -1 } },
      { load: { ...load, connections: 0.5 } },
      { health: { ...health, workers: -1.5 } },
      { health: { ...health, uptime_seconds: -1e300 } },
      { health: { ...health, uptime_seconds: 1e15 } },
      { num_of_users: 1e300 }
    ]
    const since = (await told(lies[0] ?? {}))?.refused_since
    expect(since).toMatch(/^\d{4}-\d\d-\d\dT/)
    for (const lie of lies) expect(await told(lie)).toEqual({ ...good, refused_since: since })
    expect(await told({ load: { ...load, up: 2 } })).not.toHaveProperty('refused_since')
  } finally {
    stranger.close()
  }
})

test('what was asked before the report that is there, and comes late, is dropped', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'late')
  const health = { status: 'ok' as const, version: '2', workers: 1, uptime_seconds: 5 }
  const info = { epoch: 'e', version: 1, proxy_port: 3128, cidr: [], num_of_users: 0, health }
  const askedAt = ctx.now()
  const record = (version: string, asked: number) =>
    command(ctx, SYSTEM, unit =>
      recordReport(unit, id, { ...info, health: { ...health, version } }, new Date(askedAt.getTime() + asked))
    )
  const version = async () => {
    const [row] = await ctx.db.select().from(serverReports).where(eq(serverReports.serverId, id))
    return row?.report.version
  }
  await record('new', 0)
  await record('old', -4000)
  expect(await version()).toBe('new')
  await record('newer', 1000)
  expect(await version()).toBe('newer')
  // A clock that was set back keeps nothing from being written down.
  await record('after', -3_600_000)
  expect(await version()).toBe('after')
})

test('an agent that serves another port than customers are shown says so, with both', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'of another port', { agent })
  await ctx.db.update(servers).set({ proxyPort: 7149 }).where(eq(servers.id, id))
  await checkServers(ctx)
  const params = { theirs: agent.proxyPort, ours: 7149 }
  expect(await serverRow(ctx, id)).toMatchObject({
    connected: true,
    trouble: 'other_port',
    troubleParams: params,
    offline: true
  })
  await ctx.db.update(servers).set({ proxyPort: agent.proxyPort }).where(eq(servers.id, id))
  await checkServers(ctx)
  expect(await serverRow(ctx, id)).toMatchObject({ trouble: null, offline: false, unservedSince: null })
  // Any other trouble says more.
  const trouble = { trouble: 'prefixes_waiting', troubleParams: {} } as const
  await ctx.db
    .update(servers)
    .set({ ...trouble, proxyPort: 7149 })
    .where(eq(servers.id, id))
  await checkServers(ctx)
  expect(await serverRow(ctx, id)).toMatchObject({ trouble: 'prefixes_waiting', offline: true })
  await ctx.db
    .update(servers)
    .set({ trouble: null, troubleParams: null, proxyPort: agent.proxyPort, unservedSince: null })
    .where(eq(servers.id, id))
})
