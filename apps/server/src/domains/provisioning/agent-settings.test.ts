import type { AgentSettings, AgentSettingsPlan } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { expect, test } from 'vitest'
import { addTestServer, audited, serverRow, startFleetShop } from '../convergence/fleet.fixture.ts'
import { agentVersion } from '../../integrations/agent/bundle.ts'
import { serviceFingerprint } from './machine-settings.ts'
import { serverReports, servers } from '../servers/tables.ts'
import { useStarted } from '../../testing/use-started.ts'

const world = useStarted(startFleetShop)
const admin = useStarted(() => world.admin())
let count = 0

async function addServer(columns: Partial<typeof servers.$inferInsert> = {}) {
  const id = await addTestServer(world.ctx, `set ${(count += 1)}`)
  const sshPassword = world.ctx.secrets.seal('root')
  await world.ctx.db
    .update(servers)
    .set({ ip: `198.51.100.${count}`, sshPassword, ...columns })
    .where(eq(servers.id, id))
  const path = `/api/servers/servers/${id}/agent_settings/`
  return {
    id,
    read: async () => (await admin.get<AgentSettings>(path)).data,
    plan: (settings: object) => admin.post<AgentSettingsPlan>(`${path}plan/`, { settings }),
    save: (settings: object, more: object = {}) =>
      admin.put<AgentSettings & { reason?: string }>(path, { settings, ...more })
  }
}

test('what differs is kept in one form, with its lines, and stands in the audit log', async () => {
  const { id, read, save } = await addServer({ agentLocalNames: ['AGENT_WORKERS'] })
  expect(await read()).toMatchObject({
    settings: {},
    applied: null,
    local: ['AGENT_WORKERS'],
    can_apply: true,
    lines: ''
  })
  const typed = {
    AGENT_WORKERS: ' 4 ',
    AGENT_IDLE_SECONDS: '300',
    AGENT_DENY_PORTS: 'none',
    AGENT_ALLOW_CLIENTS: '203.0.113.7\n 2001:DB8::/32',
    AGENT_UDP: ''
  }
  const { code, data } = await save(typed)
  expect(code).toBe(2000)
  const settings = { AGENT_WORKERS: '4', AGENT_DENY_PORTS: '', AGENT_ALLOW_CLIENTS: '203.0.113.7/32,2001:db8::/32' }
  expect(data.settings).toEqual(settings)
  expect(data.lines.split('\n').toSorted()).toEqual([
    '',
    'AGENT_ALLOW_CLIENTS=203.0.113.7/32,2001:db8::/32',
    'AGENT_DENY_PORTS=',
    'AGENT_WORKERS=4'
  ])
  expect((await serverRow(world.ctx, id)).provisioning).toBeNull()
  expect((await audited(world.ctx, 'server.agent_settings'))[0]).toMatchObject({
    targetId: String(id),
    after: settings
  })
})

test('a client list that shuts this console out is refused, and doubtful if the console’s address is unknown', async () => {
  const LIST = 'AGENT_ALLOW_CLIENTS'
  const { plan, save, read } = await addServer({ consoleAddress: '203.0.113.9' })
  const refused = {
    code: 400,
    data: {
      reason: 'setting_shuts_out',
      errors: { [LIST]: expect.stringContaining('does not include 203.0.113.9') as string }
    }
  }
  const without = { [LIST]: '198.51.100.0/24' }
  for (const apply of [true, false]) expect(await save(without, { apply })).toMatchObject(refused)
  expect(await plan(without)).toMatchObject(refused)
  expect((await read()).settings).toEqual({})
  const within = { [LIST]: '198.51.100.0/24, 203.0.113.0/28' }
  expect(await plan(within)).toMatchObject({ code: 2000, data: { may_shut_out: false } })
  expect((await plan({})).data).toMatchObject({ may_shut_out: false })
  const unknown = await addServer()
  expect(await unknown.plan(without)).toMatchObject({ code: 2000, data: { may_shut_out: true } })
  // The operator's own file decides, so this list has no effect.
  const local = await addServer({ consoleAddress: '203.0.113.9', agentLocalNames: [LIST] })
  expect(await local.plan(without)).toMatchObject({ code: 2000, data: { may_shut_out: false } })
})

test('what no agent takes is refused with the field, and nothing is kept', async () => {
  const { read, save, plan } = await addServer()
  for (const [name, text, reason] of [
    ['AGENT_WORKERS', '65', 'setting_whole'],
    ['AGENT_WORKERS', '1; reboot', 'setting_whole'],
    ['AGENT_DENY_PORTS', '25,70000', 'setting_ports'],
    ['AGENT_ALLOW_CLIENTS', '$(reboot)', 'setting_prefixes'],
    ['AGENT_UDP', 'yes', 'setting_switch'],
    ['AGENT_TOKEN', 'mine', 'setting_unknown']
  ] as const) {
    const refused = { code: 400, data: { reason, errors: { [name]: expect.any(String) as string } } }
    expect(await save({ [name]: text }, { apply: true })).toMatchObject(refused)
    expect(await plan({ [name]: text })).toMatchObject(refused)
  }
  expect((await read()).settings).toEqual({})
})

test('the plan says what changes, what the own file of the operator decides, and that tunnels are cut', async () => {
  const { plan, save } = await addServer({ agentLocalNames: ['AGENT_WORKERS'], agentSettingsApplied: {} })
  expect((await plan({ AGENT_WORKERS: '2' })).data).toMatchObject({
    changes: [{ name: 'AGENT_WORKERS', from: '1', to: '2' }],
    pending: 1,
    effect: 'unknown',
    overridden: ['AGENT_WORKERS']
  })
  expect((await plan({})).data).toMatchObject({ changes: [], pending: 0, effect: 'nothing' })
  await save({ AGENT_WORKERS: '2' })
  expect((await plan({ AGENT_WORKERS: '2' })).data).toMatchObject({ changes: [], pending: 1, effect: 'unknown' })
  // Without systemd it is always restarted.
  const alone = await addServer({ agentService: serviceFingerprint(false, 'digest') })
  expect((await alone.plan({ AGENT_WORKERS: '2' })).data).toMatchObject({ effect: 'restarts' })
})

test('applying asks for an installation of settings alone; two forms, no login and another installation are refused', async () => {
  const { id, read, save } = await addServer()
  const { version } = await read()
  expect((await save({ AGENT_WORKERS: '2' }, { apply: true, version })).code).toBe(2000)
  expect((await serverRow(world.ctx, id)).provisioning).toMatchObject({
    status: 'running',
    run_init: false,
    settings: true
  })
  const { rows } = await world.ctx.db.execute(
    sql`select 1 from pgboss.job where name = 'provision-server' and (data ->> 'serverId')::int = ${id}
      and data @> '{"init": false, "settings": true}'`
  )
  expect(rows).toHaveLength(1)
  expect(await save({ AGENT_WORKERS: '3' }, { version })).toMatchObject({ code: 409, data: { reason: 'stale' } })
  expect(await save({ AGENT_WORKERS: '3' })).toMatchObject({ code: 409, data: { reason: 'server_installing' } })
  const without = await addServer({ sshPassword: null })
  expect(await without.save({ AGENT_WORKERS: '3' }, { apply: true })).toMatchObject({
    data: { reason: 'settings_no_login' }
  })
  expect((await without.read()).settings).toEqual({})
  expect((await without.save({ AGENT_WORKERS: '3' })).data).toMatchObject({
    can_apply: false,
    lines: 'AGENT_WORKERS=3\n'
  })
  const customer = await world.customer()
  expect((await customer.put(`/api/servers/servers/${id}/agent_settings/`, { settings: {} })).code).toBe(403)
})

const told = {
  at: '2026-06-15T08:00:00.000Z',
  version: '0.1.0',
  status: 'ok' as const,
  workers: 1,
  uptime_seconds: 60,
  users: 0,
  connections: 0,
  rate: null,
  hours: []
}

test('a setting that is too new for the agent is refused if the agent would not start with it, and otherwise said to wait', async () => {
  const { id, read, plan, save } = await addServer({ agentSettingsApplied: {} })
  const tells = async (more: object) => {
    const row = { report: { ...told, ...more }, counters: null }
    await world.ctx.db
      .insert(serverReports)
      .values({ serverId: id, ...row })
      .onConflictDoUpdate({ target: serverReports.serverId, set: row })
  }
  const ranges = { AGENT_DENY_PORTS: '25,8000-8999' }
  const version = await agentVersion()
  await tells({ hands_over: true })
  const refused = {
    code: 409,
    data: {
      reason: 'setting_needs_upgrade',
      errors: { AGENT_DENY_PORTS: expect.stringContaining(`Upgrade it to ${version} first`) as string }
    }
  }
  expect(await save(ranges, { apply: true })).toMatchObject(refused)
  expect((await serverRow(world.ctx, id)).provisioning).toBeNull()
  expect((await plan({ ...ranges, AGENT_UDP: 'off' })).data).toMatchObject({
    waiting: ['AGENT_DENY_PORTS'],
    upgrade_to: version
  })
  // Kept for the upgrade, and not among the lines for the installed agent.
  expect(await save({ ...ranges, AGENT_WORKERS: '2' })).toMatchObject({
    code: 2000,
    data: { agent_format: 2, upgrade_to: version, lines: 'AGENT_WORKERS=2\n' }
  })
  expect((await read()).settings).toMatchObject(ranges)
  // What it ignores is written, so that it takes effect with the upgrade.
  expect((await plan({ AGENT_ALLOW_PORTS: '80' })).data).toMatchObject({ waiting: ['AGENT_ALLOW_PORTS'] })
  await tells({ settings_format: 3 })
  expect((await plan({ ...ranges, AGENT_ALLOW_PORTS: '80' })).data).toMatchObject({ waiting: [] })
  expect((await save(ranges, { apply: true })).code).toBe(2000)
  // An agent of the first release knows fewer.
  const first = await addServer()
  await world.ctx.db.insert(serverReports).values({ serverId: first.id, report: told, counters: null })
  expect((await first.plan({ AGENT_UDP: 'off', AGENT_WORKERS: '2' })).data).toMatchObject({ waiting: ['AGENT_UDP'] })
  expect((await first.save({ AGENT_UDP: 'off' }, { apply: true })).code).toBe(2000)
})
