import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { expect, test, onTestFinished } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { recordReport } from '../servers/agent-report.ts'
import { addTestServer, serverRow, startFleetShop, startTestAgent } from './fleet.fixture.ts'
import { ALARM_AFTER } from '../servers/agent-health.ts'
import { checkServers } from './check-servers.ts'
import { serverReports, servers } from '../servers/tables.ts'
import { useStarted } from '../../testing/use-started.ts'
import type { Provisioning } from '@netlet/contract'
import { countTroubledServers } from '../servers/index.ts'
import { serversHealth } from '../servers/routes.ts'

const world = useStarted(startFleetShop)
const agent = useStarted(startTestAgent)

const admin = useStarted(() => world.admin())

const waiting = async (queue: string, serverId: number) => {
  const { rows } = await world.ctx.db.execute(sql`
    select 1 from pgboss.job where name = ${queue} and state = 'created'
      and (data->>'serverId' = ${String(serverId)} or data->>'key' like ${`server-silent:${serverId}:%`})`)
  return rows.length
}

test('five silences in a row make one alarm; a server that comes back gets the changes that it missed', async () => {
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
  onTestFinished(
    ctx.changes.subscribe(event => {
      for (const change of event?.changes ?? []) if (change.resource === 'server') heard.add(change.id)
    })
  )
  for (const change of ['stop', 'start'] as const) {
    // It arrives after everything that was published before.
    ctx.changes.publish([{ resource: 'server', id: 0 }])
    await expect.poll(() => heard.has(0)).toBe(true)
    heard.clear()
    await agent[change]()
    await checkServers(ctx)
    await expect.poll(() => heard.has(id)).toBe(true)
  }
})

test('what was asked before the report that is there, and comes late, is dropped', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'late')
  const askedAt = ctx.now().getTime()
  const told = async (version: string, ms: number) => {
    const health = { status: 'ok' as const, version, workers: 1, uptime_seconds: 5 }
    const info = { epoch: 'e', version: 1, proxy_port: 3128, cidr: [], num_of_users: 0, health }
    await command(ctx, SYSTEM, unit => recordReport(unit, id, info, new Date(askedAt + ms)))
    const [row] = await ctx.db.select().from(serverReports).where(eq(serverReports.serverId, id))
    return row?.report.version
  }
  expect(await told('new', 0)).toBe('new')
  expect(await told('old', -4000)).toBe('new')
  // A clock that was set back does not keep reports from being stored.
  expect(await told('after', -3_600_000)).toBe('after')
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

/** A server with something else than an agent at its agent's port. */
async function addStrange(name: string) {
  const reply = { status: 503, body: '' }
  const server = createServer((_request, response) => response.writeHead(reply.status).end(reply.body))
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const id = await addTestServer(world.ctx, name, { agent })
  const { port } = server.address() as AddressInfo
  await world.ctx.db.update(servers).set({ agentPort: port }).where(eq(servers.id, id))
  return {
    id,
    answers: async (status: number, body: string) => {
      Object.assign(reply, { status, body })
      await checkServers(world.ctx)
      const [row] = await world.ctx.db.select().from(serverReports).where(eq(serverReports.serverId, id))
      return { ...(await serverRow(world.ctx, id)), report: row?.report }
    }
  }
}

test('an agent whose answers the database cannot store unchanged still counts as away or reachable', async () => {
  const { id, answers } = await addStrange('behind a proxy')
  const refusal = (msg: string) => `{"status":503,"reason":"internal","msg":"${msg}"}`
  for (const [body, message] of [
    [refusal(String.raw`full\u0000 disk`), 'full disk'],
    [refusal(String.raw`half \ud83d`), 'half \ufffd'],
    // Cut after 200 or 500, within the character.
    [`${'x'.repeat(199)}😀`, 'x'.repeat(199)],
    [refusal(`${'x'.repeat(499)}😀`), `${'x'.repeat(499)}…`],
    ['a page\0', 'a page']
  ] as const)
    expect(await answers(503, body)).toMatchObject({
      connected: false,
      trouble: 'unreachable',
      troubleParams: { message }
    })
  expect(await waiting('raise-notice', id)).toBe(1)
  for (const [version, kept] of [
    ['1.0\0', '1.0'],
    [`${'1'.repeat(49)}😀`, '1'.repeat(49)]
  ] as const) {
    const health = { version, status: 'ok', workers: 1, uptime_seconds: 5 }
    const data = { epoch: 'e', version: 1, proxy_port: 1, cidr: [], health }
    const there = { connected: true, report: { version: kept } }
    expect(await answers(200, JSON.stringify({ status: 200, data }))).toMatchObject(there)
  }
})

test('figures that cannot be right are no report: the last one stays and says since when, and the agent is there', async () => {
  const { answers } = await addStrange('a liar')
  const health = { version: '1', status: 'ok', workers: 1, uptime_seconds: 5 }
  const load = { connections: 1, up: 1, down: 1, requests: 1, errors: 0 }
  const told = async (more: object) => {
    const data = { epoch: 'e', version: 1, proxy_port: 1, cidr: [], health, load, ...more }
    const { connected, report } = await answers(200, JSON.stringify({ status: 200, data }))
    expect(connected).toBe(true)
    return report
  }
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

type Row = Partial<typeof servers.$inferInsert>
const AT = '2026-03-01T12:00:00.000Z'
const failed: Omit<Provisioning, 'cancelling'> = {
  status: 'failed',
  step: 'start',
  message: 'no space',
  at: AT,
  run_init: true,
  steps: []
}
const well: Row = {
  status: 'active',
  connected: true,
  trouble: null,
  troubleParams: null,
  failingSince: null,
  refusedRanges: [],
  provisioning: null
}
const silent: Row = { ...well, connected: false, unreachableSince: new Date(AT) }

test.each<[string, Row, string | null]>([
  ['a server that answers', well, null],
  ['one that is silent', silent, 'unreachable'],
  ['one that is silent and was given up', { ...silent, status: 'given_up' }, null],
  [
    'one whose token cannot be read',
    { ...well, trouble: 'token_unreadable', troubleParams: {} },
    'cannot decrypt the stored agent token'
  ],
  ['one whose changes fail', { ...well, failingSince: new Date(AT) }, 'The agent does not accept changes'],
  ['one that refuses a range', { ...well, refusedRanges: ['127.90.0.0/28'] }, 'refused its ranges: 127.90.0.0/28'],
  ['one whose installation failed', { ...well, provisioning: failed }, 'The last installation failed: no space'],
  ['one that was given up after a failed installation', { ...well, provisioning: failed, status: 'given_up' }, null]
])(
  '%s is in trouble for the list, for the first screen and for the health page, or for none of them',
  async (_, row, why) => {
    const { db } = world.ctx
    await db.update(servers).set({ deletedAt: world.ctx.now() })
    const id = await addTestServer(world.ctx, 'one')
    await db.update(servers).set(row).where(eq(servers.id, id))
    const listed = await admin.get<{ total: number }>('/api/servers/servers/?state=trouble')
    const health = await serversHealth(db, world.ctx.now())
    const told = [...health.unreachable.map(() => 'unreachable'), ...health.troubled.map(({ message }) => message)]
    expect(told).toEqual(why === null ? [] : [expect.stringContaining(why) as string])
    expect([listed.data.total, await countTroubledServers(db)]).toEqual([told.length, told.length])
    expect(health.total).toBe(row.status === 'given_up' ? 0 : 1)
  }
)
