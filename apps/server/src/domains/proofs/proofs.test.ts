import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SEEN_FROM_PATH, type TimelineEntry } from '@netlet/contract'
import { asc, eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { startTestShop } from '../../testing/shop.ts'
import { addRule } from '../inventory/inventory.fixture.ts'
import { release } from '../inventory/index.ts'
import { orderEvents } from '../orders/tables.ts'
import { convergeServer } from '../convergence/converge.ts'
import { removeDesiredUsers } from '../servers/desired/desired-users.ts'
import { dropDesiredUser, setDesiredUsers } from '../convergence/manage-users.ts'
import { addTestServer, audited, leaseOn, noOrders, serverRow, startTestAgent } from '../convergence/fleet.fixture.ts'
import { repairServer } from '../convergence/repair.ts'
import { accessProofs } from './tables.ts'
import { agentUsers, orderAccess, servers } from '../servers/tables.ts'
import { countOpenProofs, renewWithheld } from './failed-proofs.ts'
import { proveAccess, proveDue } from './prove.ts'
import { useStarted } from '../../testing/use-started.ts'
import { addRows } from '../../testing/rows.ts'
import { meanwhile } from '../../testing/one-connection.ts'

const agent = useStarted(startTestAgent)
const world = useStarted(() => startTestShop({}))
let ctx: AppContext
const sites: Server[] = []

beforeAll(async () => {
  ctx = withSite(`${world.url}${SEEN_FROM_PATH}`)
})
afterAll(async () => {
  for (const site of sites) {
    site.closeAllConnections()
    site.close()
  }
})

const withSite = (egressSite: string | null): AppContext => ({
  ...world.ctx,
  config: { ...world.ctx.config, egressSite }
})

/** A check site of its own, which knows the address that asks. */
async function startSite(answer: (from: string) => string, path = '/ip'): Promise<AppContext> {
  const site = createServer((request, response) => response.end(answer(request.socket.remoteAddress ?? '')))
  sites.push(site)
  site.listen(0, '127.0.0.1')
  await once(site, 'listening')
  return withSite(`http://127.0.0.1:${(site.address() as AddressInfo).port}${path}`)
}

let count = 0
type Lease = { serverId: number; orderId: number; username: string; address: string; prefix: string; rule: number }

/** An order of one address on a server of its own of the one agent; it is not served yet. */
async function addLease(): Promise<Lease> {
  count += 1
  const prefix = `127.90.${count}.8/32`
  const serverId = await addTestServer(world.ctx, `proofs ${count}`, { agent, ranges: [prefix] })
  const rule = await addRule(world.ctx.db, `Proofs ${count}`)
  const orderId = await leaseOn(world.ctx, serverId, rule)
  return { serverId, orderId, username: `lease${count}`, address: `127.90.${count}.8`, prefix, rule }
}

const want = ({ serverId, orderId, username, prefix }: Lease, password = 'secret1', prefixes = [prefix]) =>
  command(ctx, SYSTEM, unit => setDesiredUsers(unit, [{ serverId, orderId, username, password, prefixes, rules: [] }]))
const end = ({ orderId }: Lease) => command(ctx, SYSTEM, unit => removeDesiredUsers(unit, orderId))

/** The agent takes what is wanted. All servers of these tests share one agent, so ranges of others are kept. */
async function converge(lease: Lease, by = ctx) {
  await convergeServer(by, lease.serverId, noOrders(by))
}
async function serve(lease: Lease, password?: string, by = ctx) {
  await want(lease, password)
  await converge(lease, by)
}
/** A lease that was served until it ended, as its agent has confirmed. */
async function addEnded(): Promise<Lease> {
  const lease = await addLease()
  await serve(lease)
  await end(lease)
  await converge(lease)
  return lease
}
const proofsOf = ({ orderId }: Lease, kind: 'revocation' | 'hand_over' = 'revocation') =>
  ctx.db
    .select()
    .from(accessProofs)
    .where(sql`${accessProofs.orderId} = ${orderId} and ${accessProofs.kind} = ${kind}`)
    .orderBy(asc(accessProofs.id))
const answersOf = (row: { tries: { answer: string }[] } | undefined) => row?.tries.map(({ answer }) => answer)
/** Restores a user without the console, as an agent does whose folder was restored. */
const putBack = ({ username, prefix }: Lease, password = 'secret1') =>
  agent.client.putUser(username, { password, prefixes: [prefix], denied_domains: [] })
const stockOf = async ({ serverId, rule }: Lease) => {
  const { rows } = await ctx.db.execute<{ stock: number }>(sql`
    select inventory.stock(m.group_id, 1, array[${rule}]::int[], '{}') as stock from server_group_servers m
    where m.server_id = ${serverId}`)
  return rows[0]?.stock ?? 0
}
const freeLease = ({ orderId }: Lease) => ctx.db.transaction(tx => release(tx, { orderId }))
/** Lets the pause between two runs pass, and everything that is tried again become due. */
const later = (ms: number) => world.advance(ms)

test('once its agent has confirmed the end of a lease, the old credentials are tried and the refusal is kept', async () => {
  const lease = await addLease()
  await serve(lease)
  await end(lease)
  expect(await proofsOf(lease)).toEqual([])
  await converge(lease)
  const [asked] = await proofsOf(lease)
  expect(asked).toMatchObject({ state: 'waiting', cause: 'removed', prefixes: [lease.prefix], password: 'secret1' })
  const { rows: jobs } = await ctx.db.execute<{ data: object }>(
    sql`select data from pgboss.job where name = 'prove-access'`
  )
  expect(jobs.map(({ data }) => data)).toContainEqual({ serverId: lease.serverId })
  expect(JSON.stringify(jobs)).not.toContain('secret1')
  await proveAccess(ctx, lease.serverId)
  const [row] = await proofsOf(lease)
  expect(row).toMatchObject({ state: 'proved', password: null, nextAt: null, attempts: 1 })
  expect(row?.tries).toMatchObject([{ address: lease.address, answer: 'refused' }])
  expect(row?.tries[0]?.took).toBeGreaterThanOrEqual(0)
  // When it is asked again, nothing is tried.
  later(MINUTE)
  await proveAccess(ctx, lease.serverId)
  expect((await proofsOf(lease))[0]).toEqual(row)

  const admin = await world.admin()
  const timeline = await admin.get<{ data: TimelineEntry[] }>(`/api/orders/order_list/${lease.orderId}/timeline/`)
  expect(timeline.data.data.filter(({ source }) => source === 'proof')).toMatchObject([
    { kind: 'revocation.proved', detail: { answer: 'refused', address: lease.address, cause: 'removed' } },
    { kind: 'hand_over.proved', detail: { answer: 'own_address', seen: lease.address } }
  ])
  const holders = await admin.get<{ held: { proof: unknown }[] }>(`/api/servers/addresses/?address=${lease.address}`)
  expect(holders.data.held).toMatchObject([{ proof: { state: 'proved', answer: 'refused' } }])
  expect(JSON.stringify([timeline, holders])).not.toContain('secret1')
})

test('an old password, and addresses that were given back, are tried once the agent has confirmed the change', async () => {
  const lease = await addLease()
  await want(lease, 'secret1')
  await converge(lease)
  await want(lease, 'secret2')
  expect(await proofsOf(lease)).toMatchObject([{ cause: 'password', state: 'waiting', nextAt: null }])
  await proveAccess(ctx, lease.serverId)
  expect((await proofsOf(lease))[0]).toMatchObject({ attempts: 0 })
  later(MINUTE)
  await converge(lease)
  await proveAccess(ctx, lease.serverId)
  expect(await proofsOf(lease)).toMatchObject([{ cause: 'password', state: 'proved', password: null }])
  // The same again asks for nothing, but an address that goes does.
  await want(lease, 'secret2')
  await want(lease, 'secret2', [])
  await converge(lease)
  later(MINUTE)
  await proveAccess(ctx, lease.serverId)
  expect(await proofsOf(lease)).toMatchObject([{}, { cause: 'addresses', prefixes: [lease.prefix], state: 'proved' }])
})

test('old credentials that still work are an alarm: repaired, withheld from stock, and mended once they are refused', async () => {
  const lease = await addEnded()
  await freeLease(lease)
  expect(await stockOf(lease)).toBe(1)
  await putBack(lease)
  later(MINUTE)
  await proveAccess(ctx, lease.serverId)
  const [failed] = await proofsOf(lease)
  expect(failed).toMatchObject({ state: 'failed', settledAt: null, password: 'secret1' })
  expect(answersOf(failed)).toEqual(['accepted'])
  expect(await stockOf(lease)).toBe(0)
  expect(await countOpenProofs(ctx.db)).toBe(1)
  const { rows } = await ctx.db.execute(sql`
    select 1 from pgboss.job where name = 'repair-server' and data ->> 'serverId' = ${String(lease.serverId)}`)
  expect(rows).toHaveLength(1)
  const admin = await world.admin()
  const shown = await admin.get<{ proofs: object[] }>('/api/servers/proofs/')
  expect(shown.data.proofs).toMatchObject([{ id: failed?.id, order_id: lease.orderId, state: 'failed' }])
  expect(JSON.stringify(shown)).not.toContain('secret1')
  // Still open after three minutes, it stays open. A repair removes the user, and the next try finds that.
  later(4 * MINUTE)
  await proveAccess(ctx, lease.serverId)
  expect((await proofsOf(lease))[0]).toMatchObject({ state: 'failed', attempts: 2 })
  const repair = await repairServer(ctx, lease.serverId)
  expect(repair.kind === 'compared' && repair.removed).toContain(lease.username)
  later(4 * MINUTE)
  await proveDue(ctx)
  await proveAccess(ctx, lease.serverId)
  expect((await proofsOf(lease))[0]).toMatchObject({ state: 'mended', password: null, nextAt: null })
  expect(await stockOf(lease)).toBe(1)
  expect(await countOpenProofs(ctx.db)).toBe(0)
})

test('acknowledging it returns the addresses to stock, once, and is in the audit log', async () => {
  const lease = await addEnded()
  await freeLease(lease)
  await putBack(lease)
  await proveAccess(ctx, lease.serverId)
  const [failed] = await proofsOf(lease)
  expect((await serverRow(ctx, lease.serverId)).withheldRanges).toEqual([lease.prefix.replace('8/32', '0/24')])
  const admin = await world.admin()
  const path = `/api/servers/proofs/${failed?.id}/acknowledge/`
  const [first, again] = await Promise.all([admin.post(path), admin.post(path)])
  expect([first.code, again.code]).toEqual([2000, 2000])
  expect(await stockOf(lease)).toBe(1)
  expect((await proofsOf(lease))[0]).toMatchObject({ state: 'failed', password: null, nextAt: null })
  expect(await audited(ctx, 'server.acknowledge_proof')).toHaveLength(1)
  expect(await admin.post('/api/servers/proofs/999999/acknowledge/')).toMatchObject({ status: 404 })
  await agent.client.deleteUser(lease.username)
})

test('a proxy that is silent proves nothing, blocks no stock, and is not asked for ever', async () => {
  const lease = await addEnded()
  await freeLease(lease)
  await ctx.db.update(servers).set({ proxyPort: 9 }).where(eq(servers.id, lease.serverId))
  for (const wait of [0, MINUTE, 6 * MINUTE, 2 * HOUR]) {
    later(wait)
    await proveAccess(ctx, lease.serverId)
  }
  const [row] = await proofsOf(lease)
  expect(row).toMatchObject({ state: 'not_proved', password: null, nextAt: null, attempts: 4 })
  expect(answersOf(row)).toEqual(['silent', 'silent', 'silent', 'silent'])
  expect(await stockOf(lease)).toBe(1)
})

test('an order that was renewed before its old credentials were tried is no failure', async () => {
  const lease = await addEnded()
  await serve(lease)
  await proveAccess(ctx, lease.serverId)
  const [row] = await proofsOf(lease)
  expect(row).toMatchObject({ state: 'not_proved', password: null })
  expect(answersOf(row)).toEqual(['wanted_again'])
})

test('a server that was given up counts as not proved', async () => {
  const lease = await addLease()
  await serve(lease)
  await want(lease, 'secret2')
  await command(ctx, SYSTEM, unit => dropDesiredUser(unit, lease.serverId, lease.orderId))
  expect((await proofsOf(lease)).map(({ state, password }) => [state, password])).toEqual([
    ['not_proved', null],
    ['not_proved', null]
  ])
})

/** A former password from 5 s ago, or an ended lease, to be tried now. */
const asked = ({ orderId, serverId, prefix }: Lease, cause: 'password' | 'removed', username: string) => ({
  kind: 'revocation' as const,
  cause,
  orderId,
  serverId,
  username,
  password: 'secret1',
  prefixes: [prefix],
  nextAt: new Date(ctx.now().getTime() - (cause === 'password' ? 5000 : 0))
})

test('many leases that end at once are tried a few at a time, so that the console is not taken for guessing', async () => {
  const lease = await addLease()
  await addRows(
    ctx,
    accessProofs,
    Array.from({ length: 30 }, (_, n) => asked(lease, 'removed', `gone${n}`))
  )
  await Promise.all([proveAccess(ctx, lease.serverId), proveAccess(ctx, lease.serverId)])
  const states = async () => (await proofsOf(lease)).map(({ state }) => state).toSorted()
  expect((await states()).filter(state => state === 'proved')).toHaveLength(20)
  await proveAccess(ctx, lease.serverId)
  expect((await states()).filter(state => state === 'waiting')).toHaveLength(10)
  later(MINUTE)
  await proveAccess(ctx, lease.serverId)
  expect(await states()).toEqual(Array.from({ length: 30 }, () => 'proved'))
})

test('before a hand-over the check site is asked, once for each new password', async () => {
  const lease = await addLease()
  await serve(lease)
  const [first] = await proofsOf(lease, 'hand_over')
  expect(first).toMatchObject({ state: 'proved', cause: 'served', password: null })
  expect(first?.tries).toMatchObject([{ address: lease.address, answer: 'own_address', seen: lease.address }])
  // Other limits or rules are no hand-over.
  await ctx.db
    .update(agentUsers)
    .set({ generation: sql`nextval('agent_generation')` })
    .where(eq(agentUsers.orderId, lease.orderId))
  await converge(lease)
  expect(await proofsOf(lease, 'hand_over')).toHaveLength(1)
  await serve(lease, 'secret2')
  expect(await proofsOf(lease, 'hand_over')).toHaveLength(2)
})

test('a request that leaves from another address is an alarm', async () => {
  const wrong = await addLease()
  await serve(wrong, 'secret1', await startSite(from => (from.startsWith('127.90.') ? '192.0.2.9' : from)))
  const [row] = await proofsOf(wrong, 'hand_over')
  expect(row).toMatchObject({ state: 'failed' })
  expect(row?.tries).toMatchObject([{ answer: 'other_address', seen: '192.0.2.9' }])
  expect((await serverRow(ctx, wrong.serverId)).withheldRanges).toEqual([])
  // The order goes on. The next try finds it mended.
  later(10_000)
  await proveAccess(ctx, wrong.serverId)
  expect((await proofsOf(wrong, 'hand_over'))[0]).toMatchObject({ state: 'mended' })
})

const isServed = async ({ orderId }: Lease) =>
  (await ctx.db.$count(agentUsers, sql`order_id = ${orderId} and generation = applied_generation`)) === 1

test.each([
  ['sees everybody alike', () => '{"ip":"203.0.113.5"}', '/ip', 'not_proved', 'site_blind'],
  ['answers no address', () => 'an\u0000address', '/ip', 'waiting', 'site_unreached'],
  [
    'has the shop’s path, and not its signature',
    (from: string) => JSON.stringify({ code: 2000, data: { address: from, signature: 'forged' } }),
    SEEN_FROM_PATH,
    'waiting',
    'site_unreached'
  ]
])('a check site that %s proves nothing, and does not stop a delivery', async (_what, says, path, state, answer) => {
  const lease = await addLease()
  await serve(lease, 'secret1', await startSite(says, path))
  expect(await isServed(lease)).toBe(true)
  expect((await proofsOf(lease, 'hand_over'))[0]).toMatchObject({ state, tries: [{ answer }] })
})

test('a check site that never answers delays no order: tries that had no time are made afterwards', async () => {
  const silent = createServer(() => {})
  sites.push(silent)
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const lease = await addLease()
  const by = withSite(`http://127.0.0.1:${(silent.address() as AddressInfo).port}/`)
  await want(lease)
  await converge(lease, by)
  // The next change of this server does not dial it again either.
  await serve(lease, 'secret2', by)
  const rows = await proofsOf(lease, 'hand_over')
  expect(rows.map(answersOf)).toEqual([['site_unreached'], ['no_time']])
  expect(await isServed(lease)).toBe(true)
  later(10_000)
  await proveAccess(ctx, lease.serverId)
  expect((await proofsOf(lease, 'hand_over')).map(({ state }) => state)).toEqual(['proved', 'proved'])
})

const letInListedOnly = ({ orderId }: Lease) =>
  ctx.db.insert(orderAccess).values({
    orderId,
    access: 'password_and_address',
    clientIps: ['192.0.2.1/32'],
    attemptsSince: ctx.now()
  })

test('without a check site, or if only listed clients are let in, nothing is tried', async () => {
  const without = await addLease()
  await serve(without, 'secret1', withSite(null))
  const listed = await addLease()
  await letInListedOnly(listed)
  await serve(listed)
  for (const [lease, answer] of [
    [without, 'no_site'],
    [listed, 'listed_only']
  ] as const)
    expect((await proofsOf(lease, 'hand_over'))[0]).toMatchObject({ state: 'not_proved', tries: [{ answer }] })
})

test('a refusal proves nothing if only listed clients are let in', async () => {
  const lease = await addLease()
  await serve(lease)
  await letInListedOnly(lease)
  await end(lease)
  await converge(lease)
  await proveAccess(ctx, lease.serverId)
  expect((await proofsOf(lease))[0]).toMatchObject({ state: 'not_proved', tries: [{ answer: 'listed_only' }] })
})

test('ends of leases are tried before former passwords, because a customer can make many of those', async () => {
  const lease = await addLease()
  const resets = Array.from({ length: 25 }, (_, n) => asked(lease, 'password', `reset${n}`))
  await addRows(ctx, accessProofs, [...resets, asked(lease, 'removed', 'ended')])
  await proveAccess(ctx, lease.serverId)
  const rows = await proofsOf(lease)
  expect(rows.find(({ username }) => username === 'ended')).toMatchObject({ state: 'proved' })
  expect(rows.filter(({ state }) => state === 'waiting')).toHaveLength(6)
})

test('a proof belongs to the term that it was made for: an order that came back shows none until it ends again', async () => {
  const [lease, admin] = [await addLease(), await world.admin()]
  const path = `/api/servers/addresses/?address=${lease.address}`
  const shown = async () => (await admin.get<{ held: { proof: unknown }[] }>(path)).data.held[0]?.proof
  for (const password of ['secret1', 'secret2']) {
    await serve(lease, password)
    expect(await shown()).toBeNull()
    await end(lease)
    await converge(lease)
    later(MINUTE)
    await proveAccess(ctx, lease.serverId)
    expect(await shown()).toMatchObject({ state: 'proved' })
    later(MINUTE)
    await ctx.db.insert(orderEvents).values({ orderId: lease.orderId, kind: 'revive', at: ctx.now() })
  }
})

test('two proofs of one server that fail at the same time both withhold their addresses', async () => {
  const { serverId, orderId } = await addLease()
  const fail = (prefixes: string[], before = async () => {}) =>
    command(ctx, SYSTEM, async unit => {
      const failed = {
        kind: 'revocation',
        cause: 'removed',
        state: 'failed',
        username: 'old',
        askedAt: unit.now
      } as const
      await unit.tx.insert(accessProofs).values({ ...failed, orderId, serverId, prefixes })
      await renewWithheld(unit, serverId)
      await before()
    })
  let second = Promise.resolve()
  await fail(['127.201.1.8/32'], async () => {
    second = meanwhile(() => fail(['127.201.2.8/32']))
    const waits = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await meanwhile(() => expect.poll(async () => (await ctx.db.execute(waits)).rows.length).toBe(1))
  })
  await second
  expect((await serverRow(ctx, serverId)).withheldRanges).toEqual(['127.201.1.0/24', '127.201.2.0/24'])
})
