import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AgentTrafficChanges } from '@netlet/contract/agent'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { convergeServer } from '../convergence/converge.ts'
import {
  addTestServer,
  noOrders,
  startFleetShop,
  startTestAgent,
  untold,
  wantTestUsers
} from '../convergence/fleet.fixture.ts'
import { serverTrafficQueue, collectServerTraffic, collectTraffic } from './collect.ts'
import { agentUsers } from '../servers/tables.ts'
import {
  orderTrafficDays,
  orderTrafficHours,
  serverTrafficDays,
  serverTrafficHours,
  trafficCursors,
  trafficDays,
  trafficHours,
  trafficMarks
} from './tables.ts'
import { readOrdersTraffic, readServerTraffic } from './read.ts'
import { recordPage } from './record.ts'
import { useStarted } from '../../testing/use-started.ts'

const world = useStarted(startFleetShop)
const agent = useStarted(startTestAgent)
const target = createServer((_request, response) => response.end('x'.repeat(1000)))
beforeAll(async () => {
  await new Promise<void>(resolve => target.listen(0, '127.0.0.1', resolve))
}, 120_000)
afterAll(async () => {
  target.close()
})

/** A request through a proxy; its status. */
const visit = (ip: string, username: string, password = 'secret0'): Promise<number> =>
  new Promise((resolve, reject) => {
    const credentials = Buffer.from(`${username}:${password}`).toString('base64')
    get({
      host: ip,
      port: agent.proxyPort,
      path: `http://127.0.0.1:${(target.address() as AddressInfo).port}/`,
      headers: { 'proxy-authorization': `Basic ${credentials}` },
      agent: false
    })
      .on('response', response => response.resume().on('end', () => resolve(response.statusCode ?? 0)))
      .on('error', reject)
  })

const hoursOf = (serverId: number) =>
  world.ctx.db.select().from(trafficHours).where(eq(trafficHours.serverId, serverId)).orderBy(trafficHours.username)
const requestsOf = async (serverId: number) =>
  (await hoursOf(serverId)).reduce((sum, { requests }) => sum + requests, 0)

test('an agent’s counters are added up for its order, hour, day and server, once, even if they are fetched repeatedly and at once', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'counted', { agent, ranges: ['127.71.0.0/24'] })
  const [name = ''] = await wantTestUsers(ctx, id, { count: 1, base: '127.71.0', orderId: 7001 })
  await convergeServer(ctx, id, noOrders(ctx))
  expect(await visit('127.71.0.0', name)).toBe(200)
  expect(await visit('127.71.0.0', name, 'wrong')).toBe(407)
  expect(await collectServerTraffic(ctx, id, untold)).toBe(1)
  const [row] = await hoursOf(id)
  expect(row).toMatchObject({ username: name, ip: '127.71.0.0', orderId: 7001, requests: 1, connections: 1 })
  expect(row?.down).toBeGreaterThan(1000)
  expect(row?.codes).toEqual({ 'no-auth': 1 })
  expect(await collectServerTraffic(ctx, id, untold)).toBe(0)
  expect(await visit('127.71.0.0', name)).toBe(200)
  const atOnce = await Promise.all(Array.from({ length: 4 }, () => collectServerTraffic(ctx, id, untold)))
  expect(atOnce.reduce((sum, taken) => sum + taken, 0)).toBe(1)
  expect(await requestsOf(id)).toBe(2)
  const [day] = await ctx.db.select().from(trafficDays).where(eq(trafficDays.serverId, id))
  expect(day).toMatchObject({ orderId: 7001, requests: 2 })

  const now = ctx.now()
  const traffic = await readOrdersTraffic(ctx.db, order => sql`${order} = 7001`, { by: 'hour', last: 48, now })
  expect(traffic.steps).toHaveLength(48)
  expect(traffic.total).toMatchObject({ requests: 2, connections: 2, refused: 1, failed: 0 })
  expect(traffic.refusals).toEqual([{ code: 'no-auth', count: 1 }])
  const ofServer = await readServerTraffic(ctx.db, id, { by: 'day', last: 30, now })
  expect(ofServer.steps.at(-1)).toMatchObject({ requests: 2 })
  expect(ofServer.total).toEqual(traffic.total)
  expect(ofServer.as_of).not.toBeNull()

  // The agent loses its disk. Its counters start again, and count from there.
  await agent.stop()
  await agent.wipe()
  await agent.start()
  await ctx.db.execute(sql`update agent_users set generation = nextval('agent_generation') where server_id = ${id}`)
  await convergeServer(ctx, id, noOrders(ctx))
  expect(await visit('127.71.0.0', name)).toBe(200)
  await collectServerTraffic(ctx, id, untold)
  expect(await requestsOf(id)).toBe(3)
}, 60_000)

const since = '2026-05-01T10:00:00.000Z'
const row = (user: string, up: number, more: Partial<AgentTrafficChanges['rows'][number]> = {}) => ({
  user,
  ip: '10.9.0.1',
  since,
  changed: since,
  up,
  down: 0,
  requests: 1,
  errors: 0,
  connections: 1,
  codes: {},
  ...more
})
const page = (cursor: number, rows: AgentTrafficChanges['rows'], epoch = 'e') => ({ epoch, cursor, more: false, rows })
const start = { epoch: '', cursor: 0 }
/** Records one page as if an agent had sent it. */
const record = (
  serverId: number,
  asked: { epoch: string; cursor: number },
  told: AgentTrafficChanges,
  ports = untold
) => command(world.ctx, SYSTEM, unit => recordPage(unit, { serverId, asked, page: told }, ports))
const upOf = async (serverId: number) => (await hoursOf(serverId)).reduce((sum, { up }) => sum + up, 0)
/** A server that was read before, so that nothing is a baseline. */
async function readBefore(name: string, users: string[], orderId: number | null = null): Promise<number> {
  const id = await addTestServer(world.ctx, name)
  await world.ctx.db.insert(trafficCursors).values({ serverId: id, epoch: 'e', cursor: 1, readAt: world.ctx.now() })
  await know(id, users, orderId)
  return id
}
async function know(serverId: number, users: string[], orderId: number | null = null): Promise<void> {
  const known = { serverId, orderId, password: 'x', prefixes: ['10.0.0.0/8'], rules: [1] }
  if (users.length > 0) await world.ctx.db.insert(agentUsers).values(users.map(username => ({ ...known, username })))
}

test('pieces that come late, twice or out of order count nothing', async () => {
  const id = await readBefore('late', ['late1'])
  expect(await record(id, { epoch: 'e', cursor: 1 }, page(2, [row('late1', 10)]))).toBe(true)
  expect(await record(id, { epoch: 'e', cursor: 1 }, page(2, [row('late1', 10)]))).toBe(false)
  expect(await record(id, { epoch: 'e', cursor: 2 }, page(3, [row('late1', 25)]))).toBe(true)
  expect(await record(id, { epoch: 'e', cursor: 1 }, page(2, [row('late1', 10)]))).toBe(false)
  expect(await upOf(id)).toBe(25)
  // Twice in one page, and again by an agent that starts again with the same counters.
  expect(await record(id, { epoch: 'e', cursor: 3 }, page(4, [row('late1', 30), row('late1', 31)]))).toBe(true)
  expect(await record(id, { epoch: 'e', cursor: 4 }, page(1, [row('late1', 31)]))).toBe(true)
  expect(await upOf(id)).toBe(31)
})

test('a restored database counts on from what it knew: nothing twice, nothing lost', async () => {
  const id = await readBefore('restored', ['r1'])
  await record(id, { epoch: 'e', cursor: 1 }, page(5, [row('r1', 10)]))
  const tables = [trafficCursors, trafficMarks, trafficHours, trafficDays, serverTrafficHours, serverTrafficDays]
  const backup = await Promise.all(
    tables.map(async table => (await world.ctx.db.select().from(table).where(eq(table.serverId, id))) as never[])
  )
  await record(id, { epoch: 'e', cursor: 5 }, page(9, [row('r1', 70)]))
  for (const [n, table] of tables.entries()) {
    await world.ctx.db.delete(table).where(eq(table.serverId, id))
    await world.ctx.db.insert(table).values(backup[n] ?? [])
  }
  expect(await upOf(id)).toBe(10)
  expect(await record(id, { epoch: 'e', cursor: 5 }, page(12, [row('r1', 90)]))).toBe(true)
  expect(await upOf(id)).toBe(90)
})

test('users that are gone from the agent still belong to their order; counters of unknown users are dropped', async () => {
  const id = await addTestServer(world.ctx, 'gone', { ranges: ['10.9.0.0/24'] })
  await world.ctx.db.insert(trafficCursors).values({ serverId: id, epoch: 'e', cursor: 1, readAt: world.ctx.now() })
  const ports = { ...untold, ordersOf: () => Promise.resolve(new Map([['ended', 7002]])) }
  await record(
    id,
    { epoch: 'e', cursor: 1 },
    page(2, [row('ended', 5), row('stranger', 7), row('-', 0, { ip: '-', codes: { 'no-auth': 3 } })]),
    ports
  )
  expect(await hoursOf(id)).toMatchObject([{ username: 'ended', orderId: 7002, up: 5 }])
  const { total } = await readServerTraffic(world.ctx.db, id, { by: 'hour', last: 720, now: world.ctx.now() })
  expect(total).toMatchObject({ up: 5, refused: 3 })
  const marks = await world.ctx.db.select().from(trafficMarks).where(eq(trafficMarks.serverId, id))
  expect(marks.map(({ username }) => username).toSorted()).toEqual(['-', 'ended'])
})

test('an agent cannot report addresses that are not its server’s, nor codes of its own', async () => {
  const id = await readBefore('elsewhere', [])
  await world.ctx.db.execute(sql`insert into agent_users (server_id, username, order_id, password, prefixes, rules)
    values (${id}, 'here', 7003, 'x', '{10.9.0.8/29}', '{1}')`)
  const told = [
    row('here', 5, { ip: '10.9.0.9', codes: { quota: 1, constructor: 2, made: 3, 'made-up': 4 } }),
    row('here', 7, { ip: '10.9.0.16' }),
    row('here', 7, { ip: '10.9.0.9/29' }),
    row('here', 7, { ip: '-' }),
    row('-', 7, { ip: '10.9.0.9' })
  ]
  await record(id, { epoch: 'e', cursor: 1 }, page(2, told))
  expect(await hoursOf(id)).toMatchObject([{ ip: '10.9.0.9', up: 5, codes: { quota: 1, other: 9 } }])
  await record(id, { epoch: 'e', cursor: 2 }, page(3, [row('here', 6, { ip: '10.9.0.9', codes: { constructor: 9 } })]))
  expect((await hoursOf(id))[0]?.codes).toEqual({ quota: 1, other: 9 })
})

test('traffic from long before a server was first read is only the baseline, in all its pages', async () => {
  const id = await addTestServer(world.ctx, 'baseline')
  await know(id, ['old', 'new', 'late'])
  const young = world.ctx.now().toISOString()
  const first = [row('old', 1000), row('new', 5, { since: young, changed: young })]
  await record(id, start, { ...page(2, first), more: true })
  await record(id, { epoch: 'e', cursor: 2 }, page(3, [row('old', 1010), row('late', 2000)]))
  await record(id, { epoch: 'e', cursor: 3 }, page(4, [row('late', 2003)]))
  const { total } = await readServerTraffic(world.ctx.db, id, { by: 'hour', last: 720, now: world.ctx.now() })
  expect(total.up).toBe(18)
})

test('an agent that reports false numbers spoils no sum permanently', async () => {
  const id = await readBefore('liar', ['liar1'])
  const most = Number.MAX_SAFE_INTEGER
  for (let n = 0; n < 12; n++) {
    const told = row('liar1', most, { since: `2026-05-0${1 + (n % 9)}T1${n % 10}:00:00.000Z`, codes: { quota: most } })
    await record(id, { epoch: n === 0 ? 'e' : String(n - 1), cursor: 1 }, page(1, [told], String(n)))
  }
  // Never more than a line carries, and no sum beyond what a number holds.
  expect(await upOf(id)).toBeLessThan(20 * 12.5e9 * 60)
  await world.ctx.db.execute(sql`update traffic_hours set up = 8999999999999999 where server_id = ${id}`)
  await record(
    id,
    { epoch: '11', cursor: 1 },
    page(2, [row('liar1', 9e15, { since: '2026-06-01T10:00:00.000Z' })], '12')
  )
  expect(await upOf(id)).toBe(9e15)
})

test('an order of hundreds of addresses is read by its own sums, as of its own servers', async () => {
  const { ctx } = world
  const [read, unread] = [await readBefore('of-order', ['wide'], 7005), await addTestServer(ctx, 'never read')]
  const rows = Array.from({ length: 500 }, (_, n) =>
    row('wide', 1, { ip: `10.9.${n >> 8}.${n & 255}`, codes: { quota: 1 } })
  )
  await record(read, { epoch: 'e', cursor: 1 }, page(2, rows))
  expect(await ctx.db.select().from(orderTrafficHours).where(eq(orderTrafficHours.orderId, 7005))).toMatchObject([
    { serverId: read, up: 500, codes: { quota: 500 } }
  ])
  expect(await ctx.db.$count(orderTrafficDays, eq(orderTrafficDays.orderId, 7005))).toBe(1)
  const of = () => readOrdersTraffic(ctx.db, order => sql`${order} = 7005`, { by: 'hour', last: 720, now: ctx.now() })
  expect(await of()).toMatchObject({ total: { up: 500, refused: 500 }, as_of: expect.any(String) })
  // The server of another order says nothing about it, and one that was never read leaves it open.
  await ctx.db.execute(sql`insert into agent_users (server_id, username, order_id, password, prefixes, rules)
    values (${unread}, 'wide', 7005, 'x', '{10.8.0.0/16}', '{1}')`)
  expect((await of()).as_of).toBeNull()
  const nobody = await readOrdersTraffic(ctx.db, order => sql`${order} = 7999`, { by: 'day', last: 1, now: ctx.now() })
  expect(nobody.as_of).toBeNull()
})

test.each([
  [
    'of an order',
    sql`select sum(up) from traffic_hours where order_id = 1 and at >= now() - interval '2 days'`,
    'order'
  ],
  [
    'that is too old',
    sql`select ctid from traffic_hours where at < now() - interval '30 days' limit 1000`,
    'at_server_id_username_ip_pk'
  ]
])('among many, traffic %s is found by an index', async (_, query, index) => {
  const { db } = world.ctx
  const id = await readBefore(`many ${index}`, [])
  await db.execute(sql`insert into traffic_hours (at, server_id, username, ip, order_id, up, down, requests, connections, codes)
    select now() - n * interval '1 minute', ${id}, 'm', '10.0.0.1', n, 1, 1, 1, 1, '{}' from generate_series(1, 1000) n`)
  await db.execute(sql`analyze traffic_hours`)
  const { rows } = await db.execute<{ 'QUERY PLAN': string }>(sql`explain ${query}`)
  expect(rows.map(line => line['QUERY PLAN']).join('\n')).toContain(`traffic_hours_${index}`)
})

test('an agent that is slow, or not there, is left after its time', async () => {
  expect(await collectServerTraffic(world.ctx, await addTestServer(world.ctx, 'silent'), untold)).toBe(0)
  const slow = createServer(() => {})
  await new Promise<void>(resolve => slow.listen(0, '127.0.0.1', resolve))
  const id = await addTestServer(world.ctx, 'slow')
  await world.ctx.db.execute(
    sql`update servers set agent_port = ${(slow.address() as AddressInfo).port} where id = ${id}`
  )
  expect(await collectServerTraffic(world.ctx, id, untold, { runMs: 200 })).toBe(0)
  slow.closeAllConnections()
  slow.close()
})

test('each server that answers has its own job, spread over the minute', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'connected')
  await ctx.db.execute(sql`update servers set connected = true where id = ${id}`)
  await collectTraffic(ctx)
  await collectTraffic(ctx)
  const { rows } = await ctx.db.execute<{ wait: number }>(sql`
    select extract(epoch from start_after - created_on)::float8 as wait from pgboss.job
    where name = ${serverTrafficQueue.name} and singleton_key = ${String(id)}`)
  expect(rows).toHaveLength(1)
  expect(rows[0]?.wait).toBeLessThan(46)
})
