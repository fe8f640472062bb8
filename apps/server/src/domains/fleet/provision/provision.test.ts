import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Server } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sshdPath, startSshd, type TestSshd } from '../../../integrations/ssh/sshd.fixture.ts'
import { freePort } from '../../../testing/free-ports.ts'
import type { TestShop } from '../../../testing/shop.ts'
import { agentOf } from '../agents.ts'
import { convergeServer } from '../converge.ts'
import {
  addTestServer,
  noOrders,
  serverRow,
  startFleetShop,
  startTestAgent,
  wantTestUsers,
  type TestAgent
} from '../fleet.fixture.ts'
import { servers } from '../tables.ts'
import { layoutOf } from './layout.ts'
import { provisionServer } from './provision.ts'

const run = promisify(execFile)

if (!sshdPath) console.warn('OpenSSH’s server is not installed here: provisioning is not tested')

// The runtime is 100 MB and more, which a busy machine reads slowly.
describe.skipIf(!sshdPath || process.platform !== 'linux')('provisioning over SSH', { timeout: 180_000 }, () => {
  let world: TestShop
  let sshd: TestSshd
  let root: string
  let agents: TestAgent
  let id: number
  const layout = () => layoutOf(root)
  const provision = (work: { init?: boolean; ranges?: boolean }, waitMs = 30_000) =>
    provisionServer(
      world.ctx,
      { serverId: id, init: false, ranges: false, ...work },
      { root, username: sshd.username, waitMs }
    )
  const row = () => serverRow(world.ctx, id)
  const set = (columns: Partial<typeof servers.$inferInsert>) =>
    world.ctx.db.update(servers).set(columns).where(eq(servers.id, id))
  const pid = async () => (await readFile(layout().pid, 'utf8')).trim()

  beforeAll(async () => {
    world = await startFleetShop()
    sshd = await startSshd()
    agents = await startTestAgent()
    root = await mkdtemp(join(tmpdir(), 'netlet-install-'))
    // That the runtime arrives is tested in cancel.test.ts: it is large to send.
    await mkdir(dirname(layout().node), { recursive: true })
    await copyFile(process.execPath, layout().node)
    id = await addTestServer(world.ctx, 'machine', { ranges: ['127.95.0.0/24'] })
    await set({ agentPort: await freePort(), proxyPort: await freePort() })
  })

  afterAll(async () => {
    if (root) {
      await run(layout().control, ['stop']).catch(() => {})
      await rm(root, { recursive: true, force: true })
    }
    await agents?.close()
    await sshd?.close()
    await world?.close()
  })

  beforeEach(() =>
    set({
      sshPort: sshd.port,
      sshPassword: world.ctx.secrets.seal(sshd.key.trim()),
      ip: '127.0.0.1',
      sshHostKey: null
    })
  )

  test('without a password the first step says what to enter', async () => {
    await set({ sshPassword: null })
    await provision({ init: true })
    expect((await row()).provisioning).toMatchObject({
      status: 'failed',
      step: 'connect',
      message: "Enter root's password or private key in the server's form first",
      steps: [
        { step: 'waiting', status: 'done' },
        {
          step: 'connect',
          status: 'failed',
          message: "Enter root's password or private key in the server's form first"
        }
      ]
    })
  })

  test('installs, starts and fills an agent; again changes nothing', async () => {
    const users = await wantTestUsers(world.ctx, id, { count: 1, base: '127.95.0' })
    await provision({ init: true })
    const first = await row()
    expect(first.provisioning).toMatchObject({
      status: 'done',
      message: expect.stringMatching(/^The agent runs without systemd.* 1 range is loaded\.$/) as string
    })
    // Each step stays to be read, with what the machine printed, and no secret in it.
    const { steps = [] } = first.provisioning ?? {}
    expect(steps.map(({ step, status }) => `${step} ${status}`)).toEqual(
      ['waiting', 'connect', 'examine', 'upload', 'configure', 'start', 'wait', 'ranges', 'check', 'done'].map(
        one => `${one} done`
      )
    )
    expect(steps.find(({ step }) => step === 'examine')?.output).toMatch(/uname -s[^]*Linux/)
    const secret = first.agentToken ? world.ctx.secrets.open(first.agentToken) : ''
    expect(JSON.stringify(steps)).not.toContain(secret)
    expect(first).toMatchObject({ connected: true, trouble: null })
    expect(first.sshHostKey).toMatch(/^ssh-ed25519 /)
    expect(first.agentCertificate).toContain('BEGIN CERTIFICATE')
    const token = world.ctx.secrets.open(first.agentToken ?? Buffer.alloc(0))
    expect(token.length).toBeGreaterThan(20)
    expect(JSON.stringify(first.provisioning)).not.toContain(token)
    expect((await stat(layout().environment)).mode & 0o777).toBe(0o600)
    expect((await stat(layout().key)).mode & 0o777).toBe(0o600)

    await convergeServer(world.ctx, id, noOrders(world.ctx))
    const state = await agentOf(first, world.ctx.secrets).state()
    expect(state.ok && state.data.users.map(user => user.user)).toEqual(users)
    expect(state.ok && state.data.prefixes).toEqual(['127.95.0.0/24'])
    // It is known by its certificate: plain HTTP gets nothing from it.
    const plain = await agentOf({ ...first, agentCertificate: null }, world.ctx.secrets, 2000).info()
    expect(plain.ok).toBe(false)

    const before = await pid()
    await provision({ init: true })
    const second = await row()
    expect(second.provisioning?.status).toBe('done')
    expect(await pid()).toBe(before)
    expect(world.ctx.secrets.open(second.agentToken ?? Buffer.alloc(0))).toBe(token)
    expect(second.agentCertificate).toBe(first.agentCertificate)

    // Settings that changed are written, and the agent starts with them; what it held, it holds.
    await set({ proxyPort: await freePort() })
    await provision({ init: true })
    expect((await row()).provisioning?.status).toBe('done')
    expect(await pid()).not.toBe(before)
    const info = await agentOf(await row(), world.ctx.secrets).info()
    expect(info.ok && info.data.proxy_port).toBe((await row()).proxyPort)
    const kept = await agentOf(await row(), world.ctx.secrets).state()
    expect(kept.ok && kept.data.users.map(user => user.user)).toEqual(users)
  })

  test('a changed host key stops at the first step; accepted, it is taken', async () => {
    const other = `ssh-ed25519 ${Buffer.alloc(51, 1).toString('base64')}`
    await set({ sshHostKey: other })
    await provision({ init: true })
    const refused = await row()
    expect(refused.provisioning).toMatchObject({
      status: 'failed',
      step: 'connect',
      message: expect.stringContaining('The SSH host key of 127.0.0.1 has changed') as string
    })
    expect(refused.sshHostKey).toBe(other)
    const admin = await world.admin()
    const path = `/api/servers/servers/${id}/`
    const { data } = await admin.get<Server>(path)
    const fingerprint = data.host_key.refused
    expect((await admin.post(`${path}accept_host_key/`, { fingerprint })).code).toBe(2000)
    await provision({ init: true })
    expect((await row()).provisioning?.status).toBe('done')
    expect((await row()).sshHostKey).not.toBe(other)
  })

  test('a login that is not accepted says so', async () => {
    await set({ sshPassword: world.ctx.secrets.seal(sshd.strangeKey) })
    await provision({ init: true })
    expect((await row()).provisioning).toMatchObject({
      status: 'failed',
      step: 'connect',
      message: `127.0.0.1 did not accept the password or key of ${sshd.username}`
    })
  })

  test('an agent that cannot start fails with the end of its log, and starts once the cause is gone', async () => {
    const port = await freePort()
    const squatter = createServer().listen(port, '0.0.0.0')
    await once(squatter, 'listening')
    const { proxyPort } = await row()
    await set({ proxyPort: port })
    await provision({ init: true }, 4000)
    expect((await row()).provisioning).toMatchObject({
      status: 'failed',
      step: 'wait',
      message: expect.stringContaining(`port ${port} is in use`) as string
    })
    squatter.close()
    await set({ proxyPort })
    await provision({ init: true })
    expect((await row()).provisioning?.status).toBe('done')
  })

  test('update_cidr loads the ranges by the management API', async () => {
    const admin = await world.admin()
    const form = { name: 'machine', ip: '127.0.0.1', cidr: '127.95.0.0/24\n127.96.0.0/24', port: sshd.port }
    await admin.put(`/api/servers/servers/${id}/`, { ...form, update_cidr: 1 })
    await provision({ ranges: true })
    expect((await row()).provisioning).toMatchObject({ status: 'done', message: '2 ranges are loaded.' })
    const state = await agentOf(await row(), world.ctx.secrets).state()
    expect(state.ok && state.data.prefixes).toEqual(['127.95.0.0/24', '127.96.0.0/24'])
  })

  test('update_cidr goes through SSH where the management port is closed to the console', async () => {
    // This agent listens on 127.0.0.1 alone, so that the console's own way to 127.0.0.2 ends nowhere.
    const { agentPort, agentCertificate, agentToken } = await row()
    await set({
      ip: '127.0.0.2',
      agentPort: agents.port,
      agentCertificate: null,
      agentToken: world.ctx.secrets.seal(agents.token)
    })
    await provision({ ranges: true })
    expect((await row()).provisioning).toMatchObject({
      status: 'done',
      message: expect.stringMatching(/^2 ranges are loaded\. They went over SSH/) as string
    })
    const state = await agents.client.state()
    expect(state.ok && state.data.prefixes).toEqual(['127.95.0.0/24', '127.96.0.0/24'])
    await agents.stop()
    await provision({ ranges: true })
    expect((await row()).provisioning).toMatchObject({ status: 'failed', step: 'ranges' })
    await set({ agentPort, agentCertificate, agentToken })
  })
})
