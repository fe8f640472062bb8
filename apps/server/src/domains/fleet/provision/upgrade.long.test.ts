// A real installation on this machine, below a folder of its own: upgrades, an operator's settings, and the way back.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFile, copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startTestMachine, type TestMachine } from '../../../integrations/ssh/machine.fixture.ts'
import { freePort } from '../../../testing/free-ports.ts'
import { startTestShop, type TestShop } from '../../../testing/shop.ts'
import { agentOf } from '../agents.ts'
import { removeUsersByHand } from '../by-hand.ts'
import { convergeServer } from '../converge.ts'
import { bumpPrefixes } from '../desired.ts'
import { assignCidrs } from '../../inventory/index.ts'
import { SYSTEM } from '../../../infra/actor.ts'
import { command } from '../../../infra/command.ts'
import { addTestServer, audited, noOrders, serverRow, wantTestUsers } from '../fleet.fixture.ts'
import { servers } from '../tables.ts'
import { bundleAgent, type Bundle } from './bundle.ts'
import { layoutOf, type Layout } from './layout.ts'
import { provisionServer } from './provision.ts'

let world: TestShop
let machine: TestMachine
let root: string
let layout: Layout
let id: number
let users: string[]

beforeAll(async () => {
  // No proxy reaches them, and each says so at once.
  const site = 'http://127.0.0.1:9'
  world = await startTestShop({ config: { checkSites: { google: site, bing: site, amazon: site } } })
  machine = await startTestMachine({ shell: true })
  root = await mkdtemp(join(tmpdir(), 'netlet-upgrade-'))
  layout = layoutOf(root)
  // The runtime is there already, as after an earlier installation: it is large to send.
  await mkdir(dirname(layout.node), { recursive: true })
  await copyFile(process.execPath, layout.node)
  id = await addTestServer(world.ctx, 'machine', { ranges: ['127.97.0.0/24'] })
  await world.ctx.db
    .update(servers)
    .set({
      agentPort: await freePort(),
      proxyPort: await freePort(),
      sshPort: machine.port,
      sshPassword: world.ctx.secrets.seal('root secret')
    })
    .where(eq(servers.id, id))
  await install()
  users = await wantTestUsers(world.ctx, id, { count: 1, base: '127.97.0' })
  await convergeServer(world.ctx, id, noOrders(world.ctx))
}, 120_000)

afterAll(async () => {
  if (layout) await promisify(execFile)(layout.control, ['stop']).catch(() => {})
  machine?.close()
  if (root) await rm(root, { recursive: true, force: true })
  await world?.close()
})

async function install(bundle?: Bundle, waitMs = 30_000) {
  const target = { root, username: 'root', waitMs, ...(bundle ? { bundle } : {}) }
  await provisionServer(world.ctx, { serverId: id, init: true, ranges: false }, target)
  return (await serverRow(world.ctx, id)).provisioning
}

const agent = async () => agentOf(await serverRow(world.ctx, id), world.ctx.secrets)
/** What runs, and whom it serves. */
async function running() {
  const client = await agent()
  const [info, state] = [await client.info(), await client.state()]
  return { version: info.ok && info.data.health?.version, users: state.ok && state.data.users.map(({ user }) => user) }
}
async function programOf(change: (code: string) => string): Promise<Bundle> {
  const code = Buffer.from(change((await bundleAgent()).code.toString()))
  return { code, sha256: createHash('sha256').update(code).digest('hex'), version: '9.9.9' }
}

test('an installation keeps what works, checks its proxy, and leaves no user behind', async () => {
  const { provisioning } = await serverRow(world.ctx, id)
  expect(provisioning).toMatchObject({ status: 'done' })
  expect(provisioning?.steps.find(({ step }) => step === 'check')?.output).toMatch(
    /Through the proxy: (serves|reaches)/
  )
  expect((await running()).users).toEqual(users)
  const admin = await world.admin()
  const { data } = await admin.get<{ version: string }>('/api/servers/agent_version/')
  expect(data.version).toMatch(/^\d+\.\d+\.\d+\+[0-9a-f]{8}$/)
  expect((await running()).version).toBe(data.version)
  expect(await readFile(join(layout.good, 'agent.mjs'), 'utf8')).toBe(await readFile(layout.agent, 'utf8'))
  expect((await stat(layout.good)).mode & 0o777).toBe(0o700)
  // One runtime, though it is kept twice.
  expect((await stat(join(layout.good, 'node'))).ino).toBe((await stat(layout.node)).ino)
  expect(await readFile(layout.kernel, 'utf8')).toContain('net.core.somaxconn')
  expect(provisioning?.steps.find(({ step }) => step === 'configure')?.output).toMatch(/net\.core\.somaxconn = \d+/)
})

test('a first installation leaves the management open to the console alone, as a setting that the console shows', async () => {
  const list = { AGENT_ALLOW_CLIENTS: '198.51.100.9/32' }
  const { agentSettings, agentSettingsApplied } = await serverRow(world.ctx, id)
  expect([agentSettings, agentSettingsApplied]).toEqual([list, list])
  expect(await readFile(layout.environment, 'utf8')).toMatch(/^AGENT_ALLOW_CLIENTS=198\.51\.100\.9\/32$/m)
  expect(await audited(world.ctx, 'server.agent_settings')).toMatchObject([{ before: {}, after: list }])
  // Who opens it finds it open after every other installation.
  await world.ctx.db.update(servers).set({ agentSettings: {} }).where(eq(servers.id, id))
  expect(await install()).toMatchObject({ status: 'done' })
  expect(await serverRow(world.ctx, id)).toMatchObject({ agentSettings: {}, agentSettingsApplied: {} })
  expect(await readFile(layout.environment, 'utf8')).not.toContain('ALLOW_CLIENTS')
})

test('the settings of an operator are made once, outlive every installation, and win', async () => {
  expect(await readFile(layout.local, 'utf8')).toContain('# AGENT_ALLOW_CLIENTS=198.51.100.9')
  await appendFile(layout.local, 'AGENT_WORKERS=2\n')
  const before = await readFile(layout.local, 'utf8')
  await world.ctx.db
    .update(servers)
    .set({ proxyPort: await freePort() })
    .where(eq(servers.id, id))
  expect(await install()).toMatchObject({ status: 'done' })
  expect(await readFile(layout.local, 'utf8')).toBe(before)
  const info = await (await agent()).info()
  expect(info.ok && info.data.health?.workers).toBe(2)
})

test('a program that does not start gives way to the one of before, by itself', async () => {
  const before = await running()
  const provisioning = await install(await programOf(() => 'process.exit(3)'), 500)
  expect(provisioning).toMatchObject({ status: 'failed', step: 'wait', said: [{ code: 'rolled_back' }] })
  await expect.poll(running).toEqual(before)
  expect(await readFile(layout.agent, 'utf8')).toBe((await bundleAgent()).code.toString())
})

test('so does one that answers the console and serves no customer', async () => {
  const before = await running()
  // It listens where no leased address is.
  const deaf = await programOf(code => `process.env.PROXY_HOST = '127.0.0.1'\n${code}`)
  const provisioning = await install(deaf)
  expect(provisioning).toMatchObject({ status: 'failed', step: 'check', said: [{ code: 'rolled_back' }] })
  expect(provisioning?.message).toContain('and now: silent')
  await expect.poll(running).toEqual(before)
})

const set = (columns: Partial<typeof servers.$inferInsert>) =>
  world.ctx.db.update(servers).set(columns).where(eq(servers.id, id))
/** By what the agent is reached, as the row has it. */
async function reached() {
  const { agentPort, proxyPort, agentCertificate, agentToken } = await serverRow(world.ctx, id)
  return { agentPort, proxyPort, agentCertificate, token: world.ctx.secrets.open(agentToken ?? Buffer.alloc(0)) }
}
test('after going back the row names ports, token and certificate of the agent that runs', async () => {
  const [before, { users: held }] = [await reached(), await running()]
  const audits = await audited(world.ctx, 'server.agent_restored')
  // One that was installed by hand has no certificate. It is a copy: what is edited is this one alone.
  const file = join(layout.good, 'agent.env')
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll(/^AGENT_TLS_.*\n/gm, ''))
  expect(await readFile(layout.environment, 'utf8')).toContain('AGENT_TLS_CERT=')
  await set({
    proxyPort: await freePort(),
    agentPort: await freePort(),
    agentToken: world.ctx.secrets.seal('another-token-of-the-console')
  })
  const dead = await programOf(() => 'process.exit(3)')
  expect(await install(dead, 500)).toMatchObject({ status: 'failed', said: [{ code: 'rolled_back' }] })
  expect(await reached()).toEqual({ ...before, agentCertificate: null })
  await expect.poll(async () => (await running()).users).toEqual(held)
  const [entry, ...others] = await audited(world.ctx, 'server.agent_restored')
  expect(others).toEqual(audits)
  const after = { proxy_port: before.proxyPort, agent_port: before.agentPort, certificate: null }
  expect(entry).toMatchObject({ actorName: 'system', after })
  // No secret of the settings that were read is in the steps.
  expect(JSON.stringify((await serverRow(world.ctx, id)).provisioning)).not.toContain(before.token)
  expect(await install()).toMatchObject({ status: 'done' })
  expect(await reached()).toEqual(before)
})

test("another console's agent is left as it is, and shown whose it is", async () => {
  const file = join(layout.state, 'agent/owner.json')
  const ours = await readFile(file, 'utf8')
  const before = {
    settings: await readFile(layout.environment, 'utf8'),
    row: await reached(),
    pid: await readFile(layout.pid, 'utf8')
  }
  const owner = { id: 'console-9', name: 'Other shop', server: '1', mark: 'x' }
  await writeFile(file, JSON.stringify(owner))
  await set({ agentToken: null })
  const provisioning = await install(await programOf(code => `// theirs\n${code}`))
  expect(provisioning).toMatchObject({
    status: 'failed',
    step: 'examine',
    said: [{ code: 'foreign_console', params: { name: 'Other shop', owner: 'console-9' } }]
  })
  expect(await serverRow(world.ctx, id)).toMatchObject({ trouble: 'foreign_console', agentToken: null })
  expect(await readFile(layout.environment, 'utf8')).toBe(before.settings)
  expect(await readFile(layout.agent, 'utf8')).not.toMatch(/^\/\/ theirs/)
  expect(await readFile(layout.pid, 'utf8')).toBe(before.pid)
  await writeFile(file, ours)
  await set({ agentToken: world.ctx.secrets.seal(before.row.token), trouble: null, troubleParams: null })
})

test('settings alone leave the program, win against no file of the operator, and are taken back where nothing starts', async () => {
  const [program, before] = [await stat(layout.agent), await running()]
  const apply = async (agentSettings: Record<string, string>, waitMs = 30_000) => {
    await set({ agentSettings })
    const work = { serverId: id, init: false, ranges: false, settings: true }
    await provisionServer(world.ctx, work, { root, username: 'root', waitMs })
    return serverRow(world.ctx, id)
  }
  const wanted = { AGENT_IDLE_SECONDS: '77' }
  const applied = await apply(wanted)
  expect(applied).toMatchObject({
    provisioning: { status: 'done', run_init: false, settings: true },
    agentSettingsApplied: wanted
  })
  expect(applied.provisioning?.steps.map(({ step }) => step)).not.toContain('upload')
  // The agent was cut, and says so; it was not handed over to, as it has no systemd.
  expect(applied.provisioning?.said).toContainEqual({ code: 'restarted', params: {} })
  expect(applied.agentLocalNames).toBeInstanceOf(Array)
  expect(await readFile(layout.environment, 'utf8')).toMatch(/^AGENT_IDLE_SECONDS=77$/m)
  expect((await stat(layout.agent)).ino).toBe(program.ino)
  expect(await running()).toEqual(before)
  // The console comes from 198.51.100.9 there: a list without that is refused before anything is written.
  const pid = await readFile(layout.pid, 'utf8')
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
  expect(await readFile(layout.pid, 'utf8')).toBe(pid)
  const failed = await apply({ AGENT_IDLE_SECONDS: 'nonsense' }, 500)
  expect(failed).toMatchObject({ provisioning: { status: 'failed', said: [{ code: 'rolled_back' }] } })
  expect(failed.agentSettingsApplied).toEqual(wanted)
  expect(await readFile(layout.environment, 'utf8')).toMatch(/^AGENT_IDLE_SECONDS=77$/m)
  await expect.poll(running).toEqual(before)
  await set({ agentSettings: {} })
})

test('a silent program is not kept, also where the installation died before it was checked', async () => {
  const before = await running()
  const good = await readFile(join(layout.good, 'agent.mjs'), 'utf8')
  expect(await readFile(join(layout.good, 'level'), 'utf8')).toMatch(/^(serves|reaches)\n$/)
  // It listens where no leased address is.
  const deaf = await programOf(code => `process.env.PROXY_HOST = '127.0.0.1'\n${code}`)
  // What a process leaves that died between start and check: the deaf program runs.
  await writeFile(layout.agent, deaf.code)
  await writeFile(
    layout.manifest,
    `${JSON.stringify({ name: 'netlet-agent', version: deaf.version, type: 'module' })}\n`
  )
  await promisify(execFile)(layout.control, ['restart'])
  await expect.poll(async () => (await running()).version).toBe('9.9.9')
  const provisioning = await install(deaf)
  expect(provisioning).toMatchObject({ status: 'failed', step: 'check', said: [{ code: 'rolled_back' }] })
  expect(await readFile(join(layout.good, 'agent.mjs'), 'utf8')).toBe(good)
  await expect.poll(running).toEqual(before)
})

test('a newer program replaces the older one, with all that it served', async () => {
  const provisioning = await install(await programOf(code => `// newer\n${code}`))
  expect(provisioning).toMatchObject({ status: 'done' })
  expect(await running()).toEqual({ version: '9.9.9', users })
  expect(await readFile(join(layout.good, 'agent.mjs'), 'utf8')).toMatch(/^\/\/ newer/)
})

const IPV6 = '2001:db8:7777::/64'
// Their routes are root's to set.
test.skipIf(process.getuid?.() !== 0)('a server of IPv6 ranges alone is tried through its proxy as well', async () => {
  onTestFinished(async () => {
    await promisify(execFile)('ip', ['-6', 'route', 'del', 'local', IPV6, 'dev', 'lo']).catch(() => {})
  })
  await command(world.ctx, SYSTEM, async unit => {
    await removeUsersByHand(unit, id)
    await assignCidrs(unit, id, [IPV6])
    await bumpPrefixes(unit, id)
  })
  await convergeServer(world.ctx, id, noOrders(world.ctx))
  const good = await readFile(layout.agent, 'utf8')
  const deaf = await install(await programOf(code => `process.env.PROXY_HOST = '127.0.0.1'\n${code}`))
  expect(deaf).toMatchObject({ status: 'failed', step: 'check', said: [{ code: 'rolled_back' }] })
  expect(deaf?.steps.find(({ step }) => step === 'check')?.output).toContain('silent; before: serves')
  expect(await readFile(layout.agent, 'utf8')).toBe(good)
})
