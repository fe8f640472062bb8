// A real installation on this machine, below a folder of its own: upgrades, an operator's settings, and rollbacks.
import { exec, execFile } from 'node:child_process'
import { appendFile, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../testing/free-ports.ts'
import { agentOf } from '../servers/server-row.ts'
import { removeUsersByHand, renewPrefixes } from '../servers/desired/desired-users.ts'
import { rotateToken } from '../convergence/rotate-token.ts'
import { convergeServer } from '../convergence/converge.ts'
import { assignCidrs } from '../inventory/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { audited, noOrders, wantTestUsers } from '../convergence/fleet.fixture.ts'
import type { servers } from '../servers/tables.ts'
import { bundleAgent, type Bundle } from '../../integrations/agent/bundle.ts'
import { deafProgram, otherProgram, startInstalledMachine } from './installed.fixture.ts'
import { useStarted } from '../../testing/use-started.ts'

const one = useStarted(() => startInstalledMachine('127.97.0.0/24', { first: true }))
let users: string[]
const install = (bundle?: Bundle, waitMs = 30_000) => one.install({ ...(bundle ? { bundle } : {}), waitMs })
const set = (columns: Partial<typeof servers.$inferInsert>) => one.set(columns)

beforeAll(async () => {
  users = await wantTestUsers(one.world.ctx, one.id, { count: 1, base: '127.97.0' })
  await convergeServer(one.world.ctx, one.id, noOrders(one.world.ctx))
})

const agent = async () => agentOf(await one.row(), one.world.ctx.secrets)
/** What runs, and which tunnels it has. */
async function running() {
  const client = await agent()
  const [info, state] = [await client.info(), await client.state()]
  return { version: info.ok && info.data.health?.version, users: state.ok && state.data.users.map(({ user }) => user) }
}

test('an installation keeps what works, checks its proxy, and leaves no user behind', async () => {
  const { provisioning } = await one.row()
  expect(provisioning).toMatchObject({ status: 'done' })
  expect(provisioning?.steps.find(({ step }) => step === 'check')?.output).toMatch(
    /Through the proxy: (serves|reaches)/
  )
  expect((await running()).users).toEqual(users)
  const admin = await one.world.admin()
  const { data } = await admin.get<{ version: string }>('/api/servers/agent_version/')
  expect(data.version).toMatch(/^\d+\.\d+\.\d+\+[0-9a-f]{8}$/)
  expect((await running()).version).toBe(data.version)
  for (const link of ['current', 'good']) expect(await one.release(link)).toContain(data.version)
  expect(await readFile(join(one.layout.home, 'good/level'), 'utf8')).toMatch(/^(serves|reaches)\n$/)
  expect((await stat(join(one.layout.home, 'current'))).mode & 0o777).toBe(0o700)
  expect(await readFile(one.layout.kernel, 'utf8')).toContain('net.core.somaxconn')
  expect(provisioning?.steps.find(({ step }) => step === 'configure')?.output).toMatch(/net\.core\.somaxconn = \d+/)
})

test('a first installation leaves the management open to the console alone, as a setting that the console shows', async () => {
  const list = { AGENT_ALLOW_CLIENTS: '198.51.100.9/32' }
  const { agentSettings, agentSettingsApplied } = await one.row()
  expect([agentSettings, agentSettingsApplied]).toEqual([list, list])
  expect(await readFile(one.layout.environment, 'utf8')).toMatch(/^AGENT_ALLOW_CLIENTS=198\.51\.100\.9\/32$/m)
  expect(await audited(one.world.ctx, 'server.agent_settings')).toMatchObject([{ before: {}, after: list }])
  // An edit of it is still there after other installations.
  await set({ agentSettings: {} })
  expect(await install()).toMatchObject({ status: 'done' })
  expect(await one.row()).toMatchObject({ agentSettings: {}, agentSettingsApplied: {} })
  expect(await readFile(one.layout.environment, 'utf8')).not.toContain('ALLOW_CLIENTS')
})

test('the settings of an operator are made once, outlive every installation, and win', async () => {
  expect(await readFile(one.layout.local, 'utf8')).toContain('# AGENT_ALLOW_CLIENTS=198.51.100.9')
  await appendFile(one.layout.local, 'AGENT_WORKERS=2\n')
  const before = await readFile(one.layout.local, 'utf8')
  await set({ proxyPort: await freePort() })
  expect(await install()).toMatchObject({ status: 'done' })
  expect(await readFile(one.layout.local, 'utf8')).toBe(before)
  const info = await (await agent()).info()
  expect(info.ok && info.data.health?.workers).toBe(2)
})

test('a program that does not start gives way to the previous one by itself', async () => {
  const before = await running()
  const provisioning = await install(await otherProgram(() => 'process.exit(3)'), 500)
  expect(provisioning).toMatchObject({ status: 'failed', step: 'wait', said: [{ code: 'rolled_back' }] })
  await expect.poll(running).toEqual(before)
  expect(await readFile(one.layout.agent, 'utf8')).toBe((await bundleAgent()).code.toString())
})

test('so does one that answers the console and serves no customer', async () => {
  const before = await running()
  const deaf = await deafProgram()
  const provisioning = await install(deaf)
  expect(provisioning).toMatchObject({ status: 'failed', step: 'check', said: [{ code: 'rolled_back' }] })
  expect(provisioning?.message).toContain('Now the result is: silent')
  await expect.poll(running).toEqual(before)
})

/** How the agent is reached, as the row has it. */
async function reached() {
  const { agentPort, proxyPort, agentCertificate, agentToken } = await one.row()
  return { agentPort, proxyPort, agentCertificate, token: one.world.ctx.secrets.open(agentToken ?? Buffer.alloc(0)) }
}
test('after a rollback the row names ports, token and certificate of the agent that runs', async () => {
  // The agent obeys another token than its settings say, and so does the one that is restored.
  expect(await rotateToken(one.world.ctx, SYSTEM, one.id)).toMatchObject({ ok: true })
  const [before, { users: held }] = [await reached(), await running()]
  const audits = await audited(one.world.ctx, 'server.agent_restored')
  // An agent that was installed by hand has no certificate.
  const settings = await readFile(one.layout.environment, 'utf8')
  await writeFile(one.layout.environment, settings.replaceAll(/^AGENT_TLS_.*\n/gm, ''))
  await set({
    proxyPort: await freePort(),
    agentPort: await freePort(),
    agentToken: one.world.ctx.secrets.seal('another-token-of-the-console')
  })
  const dead = await otherProgram(() => 'process.exit(3)')
  expect(await install(dead, 500)).toMatchObject({ status: 'failed', said: [{ code: 'rolled_back' }] })
  expect(await reached()).toEqual({ ...before, agentCertificate: null })
  await expect.poll(async () => (await running()).users).toEqual(held)
  const [entry, ...others] = await audited(one.world.ctx, 'server.agent_restored')
  expect(others).toEqual(audits)
  const after = { proxy_port: before.proxyPort, agent_port: before.agentPort, certificate: null }
  expect(entry).toMatchObject({ actorName: 'system', after })
  // No secret of the settings that were read is in the steps.
  expect(JSON.stringify((await one.row()).provisioning)).not.toContain(before.token)
  expect(await install()).toMatchObject({ status: 'done' })
  expect(await reached()).toEqual(before)
})

test('another console’s agent is left as it is, and its owner is shown', async () => {
  const file = join(one.layout.state, 'agent/owner.json')
  const ours = await readFile(file, 'utf8')
  const before = {
    settings: await readFile(one.layout.environment, 'utf8'),
    row: await reached(),
    pid: await readFile(one.layout.pid, 'utf8')
  }
  const owner = { id: 'console-9', name: 'Other shop', server: '1', mark: 'x' }
  await writeFile(file, JSON.stringify(owner))
  await set({ agentToken: null })
  const provisioning = await install(await otherProgram(code => `// theirs\n${code}`))
  expect(provisioning).toMatchObject({
    status: 'failed',
    step: 'examine',
    said: [{ code: 'foreign_console', params: { name: 'Other shop', owner: 'console-9' } }]
  })
  expect(await one.row()).toMatchObject({ trouble: 'foreign_console', agentToken: null })
  expect(await readFile(one.layout.environment, 'utf8')).toBe(before.settings)
  expect(await readFile(one.layout.agent, 'utf8')).not.toMatch(/^\/\/ theirs/)
  expect(await readFile(one.layout.pid, 'utf8')).toBe(before.pid)
  await writeFile(file, ours)
  await set({ agentToken: one.world.ctx.secrets.seal(before.row.token), trouble: null, troubleParams: null })
})

test('settings alone leave the program, do not override the operator’s file, and are undone if nothing starts', async () => {
  const [program, before] = [await stat(one.layout.agent), await running()]
  const apply = async (agentSettings: Record<string, string>, waitMs = 30_000) => {
    await set({ agentSettings })
    await one.install({ init: false, settings: true, waitMs })
    return one.row()
  }
  const wanted = { AGENT_IDLE_SECONDS: '77' }
  const applied = await apply(wanted)
  expect(applied).toMatchObject({
    provisioning: { status: 'done', run_init: false, settings: true },
    agentSettingsApplied: wanted
  })
  expect(applied.provisioning?.steps.map(({ step }) => step)).not.toContain('upload')
  // The agent was restarted, and says so. Without systemd it cannot hand over.
  expect(applied.provisioning?.said).toContainEqual({ code: 'restarted', params: {} })
  expect(applied.agentLocalNames).toBeInstanceOf(Array)
  expect(await readFile(one.layout.environment, 'utf8')).toMatch(/^AGENT_IDLE_SECONDS=77$/m)
  expect((await stat(one.layout.agent)).ino).toBe(program.ino)
  expect(await running()).toEqual(before)
  // The console comes from 198.51.100.9 there. A list without that is refused before anything is written.
  const pid = await readFile(one.layout.pid, 'utf8')
  const shut = await apply({ AGENT_ALLOW_CLIENTS: '203.0.113.0/24' })
  const said = [{ code: 'console_shut_out', params: { address: '198.51.100.9' } }]
  expect(shut).toMatchObject({
    provisioning: { status: 'failed', step: 'examine', said },
    agentSettingsApplied: wanted
  })
  expect(shut).toMatchObject({
    consoleAddress: '198.51.100.9',
    agentService: expect.stringMatching(/^alone:/) as string
  })
  expect(await readFile(one.layout.pid, 'utf8')).toBe(pid)
  const failed = await apply({ AGENT_IDLE_SECONDS: 'nonsense' }, 500)
  expect(failed).toMatchObject({ provisioning: { status: 'failed', said: [{ code: 'rolled_back' }] } })
  expect(failed.agentSettingsApplied).toEqual(wanted)
  expect(await readFile(one.layout.environment, 'utf8')).toMatch(/^AGENT_IDLE_SECONDS=77$/m)
  await expect.poll(running).toEqual(before)
  await set({ agentSettings: {} })
})

test('a newer program replaces the older one, with all that it served', async () => {
  const before = await one.release()
  const provisioning = await install(await otherProgram(code => `// newer\n${code}`))
  expect(provisioning).toMatchObject({ status: 'done' })
  expect(await running()).toEqual({ version: '9.9.9', users })
  expect([await one.release('good'), await one.release('previous')]).toEqual([await one.release(), before])
  // One runtime file, although it is kept twice.
  expect((await stat(join(one.layout.home, 'previous/bin/node'))).ino).toBe((await stat(one.layout.node)).ino)
})

test('an operator goes back by switching the link, and the next installation goes on from there', async () => {
  const [newer, older] = [await one.release(), await one.release('previous')]
  await promisify(exec)(`ln -sfn releases/${older} current && bin/control restart`, { cwd: one.layout.home })
  await expect.poll(async () => (await running()).version).not.toBe('9.9.9')
  await install(await otherProgram(() => 'process.exit(3)'), 500)
  expect([await one.release(), await one.release('good')]).toEqual([older, older])
  expect(await readdir(join(one.layout.home, 'releases'))).not.toContain(newer)
})

const IPV6 = '2001:db8:7777::/64'
// Only root can set their routes.
test.skipIf(process.getuid?.() !== 0)('a server of IPv6 ranges alone is tried through its proxy as well', async () => {
  onTestFinished(async () => {
    await promisify(execFile)('ip', ['-6', 'route', 'del', 'local', IPV6, 'dev', 'lo']).catch(() => {})
  })
  await command(one.world.ctx, SYSTEM, async unit => {
    await removeUsersByHand(unit, one.id)
    await assignCidrs(unit, one.id, [IPV6])
    await renewPrefixes(unit, one.id)
  })
  await convergeServer(one.world.ctx, one.id, noOrders(one.world.ctx))
  const good = await readFile(one.layout.agent, 'utf8')
  const deaf = await install(await deafProgram())
  expect(deaf).toMatchObject({ status: 'failed', step: 'check', said: [{ code: 'rolled_back' }] })
  expect(deaf?.steps.find(({ step }) => step === 'check')?.output).toContain('silent; before: serves')
  expect(await readFile(one.layout.agent, 'utf8')).toBe(good)
})
