import type { AbuseAlarm, LiveConnections, Server } from '@netlet/contract'
import type { AgentAlarm, AgentLogLines } from '@netlet/contract/agent-live'
import { eq } from '../../infra/db/drizzle.ts'
import { connect, createServer, type AddressInfo } from 'node:net'
import { beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { eventually } from '../../testing/test-stack.ts'
import { reportOf } from '../servers/agent-report.ts'
import { countOpenAlarms, recordAlarms } from './abuse-alarms.ts'
import { convergeServer } from './converge.ts'
import {
  addTestServer,
  audited,
  noOrders,
  openTunnel,
  startFleetShop,
  startTestAgent,
  wantTestUsers
} from './fleet.fixture.ts'
import { checkServers } from './check-servers.ts'
import { serversHealth } from '../servers/routes.ts'
import { abuseAlarms } from './tables.ts'
import { serverReports } from '../servers/tables.ts'
import { useStarted } from '../../testing/use-started.ts'

const world = useStarted(startFleetShop)
const agent = useStarted(startTestAgent)
const admin = useStarted(() => world.admin())
let serverId = 0
let user = ''
const ORDER = 4711

beforeAll(async () => {
  serverId = await addTestServer(world.ctx, 'live', { agent, ranges: ['127.33.0.0/24'] })
  ;[user = ''] = await wantTestUsers(world.ctx, serverId, { count: 1, base: '127.33.0', orderId: ORDER })
  await convergeServer(world.ctx, serverId, noOrders(world.ctx))
}, 60_000)

const one = (call: string, id = serverId) => `/api/servers/servers/${id}/${call}`

const tunnel = (port: number) =>
  openTunnel({ host: '127.33.0.0', port: agent.proxyPort, login: `${user}:secret0` }, port)

test('open connections are shown with their orders, ended one by one or together, and it is written down', async () => {
  const target = createServer(socket => socket.on('error', () => {}))
  await new Promise<void>(resolve => target.listen(0, '127.0.0.1', resolve))
  const { port } = target.address() as AddressInfo
  const sockets = await Promise.all([tunnel(port), tunnel(port), tunnel(port)])
  const all = await admin.get<LiveConnections>(one('live/'))
  expect(all.data).toMatchObject({ users: [{ user, count: 3 }], orders: { [user]: ORDER }, connections: [] })
  const { data } = await admin.get<LiveConnections>(one(`live/?user=${user}`))
  expect(data.connections).toHaveLength(3)
  expect(data.connections[0]).toMatchObject({ ip: '127.33.0.0', target: `127.0.0.1:${port}`, client: '127.0.0.1' })
  const connection = data.connections[0]?.id
  expect((await admin.post(one('end_connections/'), { user, connection })).data).toEqual({ ended: 1 })
  expect((await admin.post(one('end_connections/'), { user })).data).toEqual({ ended: 2 })
  await eventually('the tunnels to be gone', () => Promise.resolve(sockets.every(socket => socket.destroyed)))
  const [last, first] = await audited(world.ctx, 'server.end_connections')
  expect([last?.after, first?.after]).toEqual([
    { user, connection: null },
    { user, connection }
  ])
  expect((await admin.post(one('end_connections/'), { user: '' })).status).toBe(400)
  expect((await admin.get(one('live/', 999_999))).status).toBe(404)
  target.close()
})

test('the log is followed with a filter; an agent that is away is said to be', async () => {
  const follow = async (query: string) => (await admin.get<AgentLogLines>(one(`follow_log/?${query}`))).data
  const { next } = await follow('after_line=0')
  const socket = connect({ host: '127.33.0.0', port: agent.proxyPort })
  socket.on('error', () => {})
  socket.write('GET http://198.51.100.9/ HTTP/1.1\r\nHost: x\r\n\r\n')
  const line = await eventually('the line', async () => (await follow(`after_line=${next}&http_status=407`)).lines[0])
  socket.destroy()
  expect(line).toContain('198.51.100.9:80 407')
  expect((await follow(`after_line=${next}&http_status=403`)).lines).toEqual([])
  const nobody = await addTestServer(world.ctx, 'nobody there')
  expect(await admin.get(one('follow_log/', nobody))).toMatchObject({ data: { reason: 'agent_unreachable' } })
})

const alarm = (more: Partial<AgentAlarm> = {}): AgentAlarm => ({
  kind: 'scan',
  user,
  subject: '203.0.113.9:22',
  count: 400,
  since: '2026-01-01T10:00:00.000Z',
  last: '2026-01-01T10:05:00.000Z',
  ...more
})
const record = (...alarms: AgentAlarm[]) => command(world.ctx, SYSTEM, unit => recordAlarms(unit, serverId, alarms))
const listed = async (query = '') =>
  (await admin.get<{ alarms: AbuseAlarm[] }>(`/api/servers/alarms/${query}`)).data.alarms

test('an alarm is one notice with its order, until it starts again; repeating it costs no write', async () => {
  const { db } = world.ctx
  await record(alarm(), alarm({ kind: 'guessing', user: 'nobody', subject: '192.0.2.1' }))
  expect(await countOpenAlarms(db)).toBe(2)
  const [first] = await listed(`?order_id=${ORDER}`)
  expect(first).toMatchObject({ kind: 'scan', server: 'live', username: user, order_id: ORDER, count: 400 })
  const versions = () => db.select({ at: abuseAlarms.lastAt, xmin: abuseAlarms.count }).from(abuseAlarms)
  const before = await versions()
  await record(alarm({ count: 9 }))
  expect(await versions()).toEqual(before)

  const path = `/api/servers/alarms/${first?.id}/acknowledge/`
  expect((await admin.post<AbuseAlarm>(path)).data.acknowledged_by).not.toBeNull()
  expect((await admin.post<AbuseAlarm>(path)).data.acknowledged_by).not.toBeNull()
  expect(await audited(world.ctx, 'server.acknowledge_alarm')).toHaveLength(1)
  expect(await listed()).toMatchObject([{ kind: 'guessing', order_id: null }])
  expect(await listed(`?server_id=${serverId}`)).toHaveLength(2)

  // It goes on, even over a restart of the agent, so it raises no new notice.
  await record(alarm({ since: '2026-01-01T10:12:00.000Z', last: '2026-01-01T10:30:00.000Z', count: 500 }))
  expect((await listed(`?order_id=${ORDER}`))[0]).toMatchObject({ count: 500, started_at: first?.started_at })
  expect(await countOpenAlarms(db)).toBe(1)
  // Later it starts again.
  await record(alarm({ since: '2026-01-01T12:00:00.000Z', last: '2026-01-01T12:01:00.000Z', count: 300 }))
  expect((await listed(`?order_id=${ORDER}`))[0]).toMatchObject({ count: 300, acknowledged_at: null })
  expect(await countOpenAlarms(db)).toBe(2)
  // An alarm from a clock that ran ahead does not hide later ones.
  await record(alarm({ since: '2126-01-01T12:00:00.000Z', last: '2126-01-01T12:01:00.000Z' }))
  expect(Date.parse((await listed(`?order_id=${ORDER}`))[0]?.last_at ?? '')).toBeLessThan(
    world.ctx.now().getTime() + MINUTE
  )
  expect((await admin.post('/api/servers/alarms/999999/acknowledge/')).status).toBe(404)
})

test('what an agent finds wrong with itself makes it a server in trouble, in the list and in Health', async () => {
  const { ctx } = world
  const state = async () =>
    (await admin.get<{ data: Server[] }>('/api/servers/servers/?state=trouble')).data.data.find(
      server => server.id === serverId
    )
  await checkServers(ctx)
  const [row] = await ctx.db.select().from(serverReports).where(eq(serverReports.serverId, serverId))
  if (!row) throw new Error('it told nothing')
  // On a busy machine its event loop may really be slow.
  expect(row.report.problems).toBeInstanceOf(Array)
  const report = async (problems: string[]) => {
    await ctx.db
      .update(serverReports)
      .set({ report: { ...row.report, problems } })
      .where(eq(serverReports.serverId, serverId))
  }
  await report([])
  expect(await state()).toBeUndefined()
  await report(['dns_failing', 'of_a_newer_agent'])
  expect((await state())?.agent?.problems).toEqual(['dns_failing', 'of_a_newer_agent'])
  const troubled = (await serversHealth(ctx.db, ctx.now())).troubled.find(server => server.id === serverId)
  expect(troubled?.message).toBe('Name servers do not respond; of_a_newer_agent')
})

test('a clock that is a minute off is seen by the console alone', () => {
  const now = new Date('2026-01-01T10:00:00Z')
  const health = { status: 'ok' as const, version: '1', workers: 1, uptime_seconds: 1, problems: ['loop_slow'] }
  const told = (time: string) =>
    reportOf({ epoch: 'e', version: 1, proxy_port: 1, cidr: [], health: { ...health, time } }, null, now)?.report
      .problems
  expect(told('2026-01-01T10:00:59.000Z')).toEqual(['loop_slow'])
  expect(told('2026-01-01T09:58:59.000Z')).toEqual(['loop_slow', 'clock_off'])
})
