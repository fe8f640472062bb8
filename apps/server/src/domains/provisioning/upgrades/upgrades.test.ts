// Upgrades of several servers. The test sets the results of installations; real ones are in the tests beside.
import type { AgentReport, Page, Upgrade, UpgradePlan, UpgradeServer } from '@netlet/contract'
import { eq, sql } from '../../../infra/db/drizzle.ts'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { iso, MINUTE } from '../../../infra/clock.ts'
import { users } from '../../accounts/tables.ts'
import { addTestServer, audited, serverRow, startFleetShop, wantTestUsers } from '../../convergence/fleet.fixture.ts'
import { agentVersion } from '../../../integrations/agent/bundle.ts'
import { serviceFingerprint } from '../machine-settings.ts'
import { layoutOf, serviceFileOf } from '../layout.ts'
import { contentOf } from '../machine.ts'
import { serverReports, servers } from '../../servers/tables.ts'
import { upgrades } from '../tables.ts'
import { advanceUpgrades, nextBatchSize } from './advance-upgrade.ts'
import { raisedNotices } from '../../../testing/raised-notices.ts'
import { useStarted } from '../../../testing/use-started.ts'

const PATH = '/api/servers/upgrades/'
const world = useStarted(startFleetShop)
const admin = useStarted(() => world.admin())
let version: string
let count = 0

beforeAll(async () => {
  version = await agentVersion()
})
// Only one runs at a time, so the one of a failed test must not stay.
beforeEach(() => world.ctx.db.update(upgrades).set({ state: 'ended', endedAt: world.ctx.now() }))

const set = (id: number, columns: Partial<typeof servers.$inferInsert>) =>
  world.ctx.db.update(servers).set(columns).where(eq(servers.id, id))

async function tell(id: number, version: string, more: Partial<AgentReport> = {}): Promise<void> {
  const report = { version, at: iso(world.ctx.now()), ...more } as typeof serverReports.$inferInsert.report
  await world.ctx.db
    .insert(serverReports)
    .values({ serverId: id, report })
    .onConflictDoUpdate({ target: serverReports.serverId, set: { report } })
}

async function addServers(total: number, more: Partial<typeof servers.$inferInsert> = {}): Promise<number[]> {
  const ids: number[] = []
  for (let n = 0; n < total; n++) {
    count += 1
    const id = await addTestServer(world.ctx, `upgraded ${count}`)
    await set(id, { ip: `198.51.100.${count}`, connected: true, sshPassword: world.ctx.secrets.seal('root'), ...more })
    await tell(id, '0.0.1+00000000')
    ids.push(id)
  }
  return ids
}

const start = (ids: number[], first = ids[0] ?? 0) => admin.post<Upgrade>(PATH, { ids, first_id: first, version })
async function begun(ids: number[], first?: number): Promise<number> {
  const { code, data } = await start(ids, first)
  expect(code).toBe(2000)
  await advance()
  return data.id
}
const advance = () => advanceUpgrades(world.ctx)
const rowsOf = async (id: number) => (await admin.get<UpgradeServer[]>(`${PATH}${id}/servers/`)).data
const inState = async (id: number, state: UpgradeServer['state']) =>
  (await rowsOf(id)).filter(row => row.state === state).map(row => row.id)
const find = async (id: number) => {
  const { data } = await admin.get<Page<Upgrade>>(`${PATH}?id=${id}`)
  return data.data.find(one => one.id === id)
}

/** Ends the installation of a server. */
async function finish(
  id: number,
  { status = 'done', said = [], tells = version }: { status?: string; said?: object[]; tells?: string } = {}
): Promise<void> {
  const end = JSON.stringify({ status, said, message: 'It broke' })
  await world.ctx.db.execute(sql`update servers set provisioning = provisioning || ${end}::jsonb where id = ${id}`)
  if (status === 'done') await tell(id, tells)
}

test('the plan names who is upgraded, and who is left out and why', async () => {
  const [old = 0, same = 0, sources = 0] = await addServers(3)
  await tell(same, version)
  await tell(sources, '0.1.0+source')
  const [paused = 0, over = 0, foreign = 0, silent = 0, locked = 0, waits = 0, installing = 0, gone = 0] = [
    ...(await addServers(1, { status: 'paused' })),
    ...(await addServers(1, { status: 'given_up' })),
    ...(await addServers(1, { trouble: 'foreign_console', troubleParams: {} })),
    ...(await addServers(1, { connected: false })),
    ...(await addServers(1, { sshPassword: null })),
    ...(await addServers(1, { trouble: 'older_console', troubleParams: {} })),
    ...(await addServers(1)),
    ...(await addServers(1, { deletedAt: world.ctx.now() }))
  ]
  expect((await admin.post(`/api/servers/servers/${installing}/provision/`, { run_init: 1 })).code).toBe(2000)
  const ids = [old, same, sources, paused, over, foreign, silent, locked, waits, installing, gone]
  const plan = (selection: object) => admin.post<UpgradePlan>(`${PATH}plan/`, { selection })
  const { data } = await plan({ ids })
  expect(data).toMatchObject({ version, servers: [{ id: old, version: '0.0.1+00000000', orders: 0 }], is_free: true })
  expect(Object.fromEntries(data.left_out.map(({ id, reason }) => [id, reason]))).toEqual({
    [same]: 'upgrade_not_needed',
    [sources]: 'upgrade_not_needed',
    [paused]: 'upgrade_paused',
    [over]: 'server_given_up',
    [foreign]: 'upgrade_foreign',
    [silent]: 'upgrade_no_answer',
    [locked]: 'upgrade_no_login',
    [waits]: 'upgrade_unapproved',
    [installing]: 'server_installing'
  })
  // Exactly the servers that the list's filter shows.
  const { data: older } = await plan({ query: { state: 'older' } })
  expect([...older.servers, ...older.left_out].map(({ id }) => id)).toContain(old)
  for (const id of [same, sources]) expect([...older.servers, ...older.left_out].map(one => one.id)).not.toContain(id)
  expect((await plan({ query: { nonsense: '1' } })).code).toBe(400)
  expect((await start([same, paused])).code).toBe(409)
  expect((await start([old, paused], paused)).code).toBe(400)
})

test('after the first one, those with the fewest orders come first, as the plan says', async () => {
  const [most = 0, some = 0, none = 0] = await addServers(3)
  for (const [orderId, id] of [most, most, some].entries())
    await wantTestUsers(world.ctx, id, { count: 1, base: `127.60.${orderId}`, orderId })
  const ids = [most, some, none]
  const { data } = await admin.post<UpgradePlan>(`${PATH}plan/`, { selection: { ids } })
  expect(data.servers.map(server => server.id)).toEqual([none, some, most])
  const upgrade = await start(ids, some)
  expect((await rowsOf(upgrade.data.id)).map(row => row.id)).toEqual([some, none, most])
})

test('the plan says of each server whether its tunnels go on, and how many connections are cut', async () => {
  const [hands = 0, alone = 0, older = 0, unknown = 0] = await addServers(4)
  const current = serviceFingerprint(true, contentOf(serviceFileOf(layoutOf(''))).sha256)
  await set(hands, { agentService: current })
  await tell(hands, '0.0.1', { hands_over: true, connections: 12 })
  await set(alone, { agentService: serviceFingerprint(false, 'any') })
  await tell(alone, '0.0.1', { hands_over: true, connections: 3 })
  await set(older, { agentService: current })
  await tell(older, '0.0.1', { hands_over: false })
  await tell(unknown, '0.0.1', { hands_over: true, connections: 5 })
  const { data } = await admin.post<UpgradePlan>(`${PATH}plan/`, { selection: { ids: [hands, alone, older, unknown] } })
  expect(data.servers.map(({ id, effect, connections }) => [id, effect, connections])).toEqual([
    [hands, 'hands_over', 12],
    [alone, 'restarts', 3],
    [older, 'restarts', null],
    [unknown, 'unknown', 5]
  ])
})

test('one server begins, then two, then a quarter, and each is written down with its versions', async () => {
  const ids = await addServers(12)
  const [, second = 0] = ids
  const id = await begun(ids, second)
  expect(await inState(id, 'installing')).toEqual([second])
  // Repeated calls, even at once by several processes, begin nothing more.
  await Promise.all([advance(), advance()])
  expect(await inState(id, 'installing')).toEqual([second])
  // Only programs are replaced. Settings that were saved and not applied stay as they are there.
  const { rows: jobs } = await world.ctx.db.execute<{ data: object }>(
    sql`select data from pgboss.job where name = 'provision-server' and (data ->> 'serverId')::int = ${second}`
  )
  expect(jobs.map(({ data }) => data)).toMatchObject([{ init: true, asApplied: true }])
  const sizes: number[] = []
  for (;;) {
    const installing = await inState(id, 'installing')
    if (installing.length === 0) break
    sizes.push(installing.length)
    for (const [n, server] of installing.entries()) {
      await finish(server)
      await advance()
      // The next ones wait until all of these are done.
      if (n < installing.length - 1) expect((await inState(id, 'installing')).length).toBe(installing.length - n - 1)
    }
  }
  expect(sizes).toEqual([1, 2, 3, 3, 3])
  expect(await find(id)).toMatchObject({ state: 'done', version, servers: { upgraded: 12, failed: 0 } })
  const [entry] = await audited(world.ctx, 'server.upgrade')
  expect(entry).toMatchObject({ before: { agent_version: '0.0.1+00000000' }, after: { agent_version: version } })
  expect(entry?.actorName).not.toBe('system')
  expect((await audited(world.ctx, 'upgrade.start'))[0]).toMatchObject({ targetId: String(id), after: { servers: 12 } })
  expect([nextBatchSize(0, 1000), nextBatchSize(2, 1000), nextBatchSize(3, 1000), nextBatchSize(3, 4)]).toEqual([
    1, 2, 4, 2
  ])
})

test('an installation that is asked for during an upgrade of its server is done after it, with the settings that waited', async () => {
  const [id = 0] = await addServers(1)
  await begun([id])
  const install = () => admin.post(`/api/servers/servers/${id}/provision/`, { run_init: true })
  const jobsOf = async () => {
    const { rows } = await world.ctx.db.execute<{ data: { asApplied?: boolean } }>(
      sql`select data from pgboss.job where name = 'provision-server' and (data ->> 'serverId')::int = ${id} order by data ->> 'asApplied' nulls first`
    )
    return rows.map(({ data }) => data.asApplied ?? false)
  }
  await install()
  expect(await jobsOf()).toEqual([false, true])
  const audits = async () =>
    (await audited(world.ctx, 'server.provision')).filter(({ targetId }) => targetId === String(id))
  expect(await audits()).toHaveLength(1)
  // From then on it shows its own steps, and it is requested once.
  await set(id, { provisioning: null })
  await install()
  await install()
  expect(await jobsOf()).toEqual([false, true])
  expect(await audits()).toHaveLength(2)
})

test('it stops at a server that fails, notifies the administrators, and goes on or ends on request', async () => {
  const ids = await addServers(4)
  const [first = 0] = ids
  const id = await begun(ids)
  await finish(first, { status: 'failed' })
  await advance()
  await advance()
  expect(await find(id)).toMatchObject({
    state: 'stopped',
    reason: 'upgrade_failed',
    msg: 'It broke',
    servers: { failed: 1, installing: 0, waiting: 3 }
  })
  const raised = await raisedNotices(world.ctx.db)
  expect(raised.map(({ title }) => title)).toContain(`The server upgrade to ${version} stopped`)
  const attention = await admin.get<{ what: string; count: number }[]>('/api/home/attention/')
  expect(attention.data.find(({ what }) => what === 'upgrades')?.count).toBe(1)
  // Nothing has succeeded yet, so it is one server again.
  expect((await admin.post(`${PATH}${id}/continue/`)).code).toBe(2000)
  await advance()
  const next = await inState(id, 'installing')
  expect(next).toHaveLength(1)
  expect(next).not.toContain(first)
  // Ended between servers: the one under way is finished.
  expect((await admin.post<Upgrade>(`${PATH}${id}/end/`)).data.state).toBe('ending')
  expect((await admin.post(`${PATH}${id}/continue/`)).code).toBe(409)
  await finish(next[0] ?? 0)
  await advance()
  expect(await find(id)).toMatchObject({ state: 'ended', servers: { upgraded: 1, failed: 1, waiting: 2 } })
  expect((await admin.post(`${PATH}${id}/end/`)).code).toBe(2000)
  expect((await admin.post(`${PATH}${id}/continue/`)).code).toBe(409)
})

const showStepAt = (id: number, at: string) =>
  world.ctx.db.execute(
    sql`update servers set provisioning = provisioning || ${JSON.stringify({ at })}::jsonb where id = ${id}`
  )

test('a silent proxy, another version, a cancelled or a lost installation is a failure, too', async () => {
  const ids = await addServers(7)
  const id = await begun(ids)
  const untried = [{ code: 'proxy_not_tried', params: { address: '2001:db8::1' } }]
  const ends: [string, (server: number) => Promise<unknown>][] = [
    ['upgrade_silent', server => finish(server, { said: [{ code: 'proxy_silent', params: { port: 1 } }] })],
    ['upgrade_not_tried', server => finish(server, { said: untried })],
    ['upgrade_is_other', server => finish(server, { tells: '0.0.2+1' })],
    ['upgrade_cancelled', server => admin.post(`/api/servers/servers/${server}/provision/cancel/`, {})],
    ['upgrade_lost', server => set(server, { provisioning: null })],
    // Its worker died, after it had shown its step by a clock that ran ahead.
    ['upgrade_lost', server => showStepAt(server, '2999-01-01T00:00:00.000Z')],
    ['upgrade_lost', server => set(server, { deletedAt: world.ctx.now(), provisioning: null })]
  ]
  for (const [reason, endIt] of ends) {
    const [server = 0] = await inState(id, 'installing')
    await endIt(server)
    await advance()
    expect(await find(id)).toMatchObject({ state: 'stopped', reason })
    await admin.post(`${PATH}${id}/continue/`)
    await advance()
  }
  expect(await find(id)).toMatchObject({ state: 'done', servers: { failed: 7 } })
})

test('a report from before the end of an installation stops nothing; a newer one is awaited, but not forever', async () => {
  const ids = await addServers(2)
  const [first = 0, second = 0] = ids
  const id = await begun(ids)
  const { provisioning } = await serverRow(world.ctx, first)
  world.advance(10_000)
  await finish(first, { tells: '0.0.1+00000000' })
  // It is over now, and a report asked for a second before its end is stored last.
  await set(first, {
    provisioning: provisioning && { ...provisioning, status: 'done', said: [], at: iso(world.ctx.now()) }
  })
  await tell(first, '0.0.1+00000000', { at: iso(new Date(world.ctx.now().getTime() - 1000)) })
  await advance()
  expect(await inState(id, 'installing')).toEqual([first])
  world.advance(MINUTE)
  await tell(first, version)
  await advance()
  expect(await inState(id, 'upgraded')).toEqual([first])
  expect(await inState(id, 'installing')).toEqual([second])
  // A server that reports nothing new has three minutes.
  const last = (await serverRow(world.ctx, second)).provisioning
  await set(second, { provisioning: last && { ...last, status: 'done', said: [], at: iso(world.ctx.now()) } })
  world.advance(2 * MINUTE)
  await advance()
  expect(await find(id)).toMatchObject({ state: 'running' })
  world.advance(2 * MINUTE)
  await advance()
  expect(await find(id)).toMatchObject({ state: 'stopped', reason: 'upgrade_is_other' })
})

test('one at a time, by those who may, and of what was shown', async () => {
  const ids = await addServers(2)
  const twice = await Promise.all([start(ids), start(ids)])
  expect(twice.map(({ code }) => code).toSorted((a, b) => a - b)).toEqual([409, 2000])
  expect(twice.find(({ code }) => code === 409)?.data).toMatchObject({ reason: 'upgrade_running' })
  await world.ctx.db.update(upgrades).set({ state: 'ended', endedAt: world.ctx.now() })
  expect((await admin.post(PATH, { ids, first_id: ids[0], version: 'another' })).code).toBe(409)
  expect((await admin.post(PATH, { ids, first_id: 1, version })).code).toBe(400)
  const customer = await world.customer()
  expect((await customer.post(PATH, { ids, first_id: ids[0], version })).code).toBe(403)
  expect((await customer.get(PATH)).code).toBe(403)
  expect((await admin.get(`${PATH}999999/servers/`)).code).toBe(404)
})

test('what changed since it was shown is looked at again before each server begins', async () => {
  const ids = await addServers(3)
  const [first = 0, second = 0, third = 0] = ids
  const id = await begun(ids)
  await set(second, { status: 'paused' })
  await set(third, { sshPassword: null })
  await finish(first)
  await advance()
  expect(await find(id)).toMatchObject({ state: 'done', servers: { upgraded: 1, left_out: 2 } })
  expect((await rowsOf(id)).map(({ reason }) => reason)).toEqual([null, 'upgrade_paused', 'upgrade_no_login'])
})

test('if the server that was chosen as the first is gone, no other one takes its place', async () => {
  const ids = await addServers(2)
  const { data } = await start(ids)
  await set(ids[0] ?? 0, { status: 'paused' })
  await advance()
  expect(await find(data.id)).toMatchObject({
    state: 'stopped',
    reason: 'upgrade_paused',
    servers: { left_out: 1, waiting: 1, installing: 0 }
  })
  expect((await admin.post(`${PATH}${data.id}/continue/`)).code).toBe(2000)
  await advance()
  expect(await inState(data.id, 'installing')).toEqual([ids[1]])
  // A failure after the end of the upgrade is reported too.
  await admin.post(`${PATH}${data.id}/end/`)
  await finish(ids[1] ?? 0, { status: 'failed' })
  await advance()
  expect(await find(data.id)).toMatchObject({ state: 'ended' })
  const { rows: mails } = await world.ctx.db.execute(
    sql`select data from pgboss.job where data::text like ${`%upgrade-stopped:${data.id}:upgrade_failed%`}`
  )
  expect(mails.length).toBeGreaterThan(0)
})

test('it stops if another console version runs now, or the person who began it no longer has the permission', async () => {
  const ids = await addServers(3)
  const id = await begun(ids)
  await world.ctx.db.update(upgrades).set({ version: '0.0.9+9' }).where(eq(upgrades.id, id))
  await finish(ids[0] ?? 0, { tells: '0.0.9+9' })
  await advance()
  expect(await find(id)).toMatchObject({ state: 'stopped', reason: 'upgrade_other_version' })
  expect((await admin.post(`${PATH}${id}/continue/`)).code).toBe(409)
  await admin.post(`${PATH}${id}/end/`)

  const other = await addServers(2)
  const { data } = await start(other)
  const [row] = await world.ctx.db.select({ by: upgrades.actorId }).from(upgrades).where(eq(upgrades.id, data.id))
  const me = eq(users.id, row?.by ?? 0)
  await world.ctx.db.update(users).set({ operatorRole: 'viewer' }).where(me)
  await advance()
  await world.ctx.db.update(users).set({ operatorRole: 'owner' }).where(me)
  expect(await find(data.id)).toMatchObject({ state: 'stopped', reason: 'bulk_not_allowed' })
  expect((await serverRow(world.ctx, other[0] ?? 0)).provisioning).toBeNull()
})
