import { execFile } from 'node:child_process'
import { access, copyFile, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { connectSsh } from '../../integrations/ssh/index.ts'
import { sshdPath, startSshd, type TestSshd } from '../../integrations/ssh/sshd.fixture.ts'
import { freePort } from '../../testing/free-ports.ts'
import type { TestShop } from '../../testing/shop.ts'
import { agentOf } from '../servers/server-row.ts'
import { convergeServer } from '../convergence/converge.ts'
import {
  addTestServer,
  noOrders,
  serverRow,
  startFleetShop,
  startTestAgent,
  wantTestUsers,
  type TestAgent
} from '../convergence/fleet.fixture.ts'
import { servers } from '../servers/tables.ts'
import { layoutOf } from './layout.ts'
import { Cancelled } from './cancel.ts'
import type { Work } from '../servers/installations.ts'
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
    // The upload of the runtime is tested below, because it takes long.
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
    set({ sshPort: sshd.port, sshPassword: world.ctx.secrets.seal(sshd.key.trim()), ip: '127.0.0.1', sshHostKey: null })
  )

  test('installs, starts and fills an agent; again changes nothing', async () => {
    const users = await wantTestUsers(world.ctx, id, { count: 1, base: '127.95.0' })
    await provision({ init: true })
    const first = await row()
    expect(first.provisioning).toMatchObject({
      status: 'done',
      message: expect.stringMatching(/^The agent runs without systemd.* 1 range is loaded\.$/) as string
    })
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

    const before = await pid()
    await provision({ init: true })
    const second = await row()
    expect(second.provisioning?.status).toBe('done')
    expect(await pid()).toBe(before)
    expect(world.ctx.secrets.open(second.agentToken ?? Buffer.alloc(0))).toBe(token)
    expect(second.agentCertificate).toBe(first.agentCertificate)
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

  test('update_cidr goes through SSH if the management port is closed to the console', async () => {
    // This agent listens on 127.0.0.1 only, so the console cannot reach it at 127.0.0.2.
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
      message: expect.stringMatching(/^2 ranges are loaded\. The ranges were sent over SSH/) as string
    })
    const state = await agents.client.state()
    expect(state.ok && state.data.prefixes).toEqual(['127.95.0.0/24', '127.96.0.0/24'])
    await agents.stop()
    await provision({ ranges: true })
    expect((await row()).provisioning).toMatchObject({ status: 'failed', step: 'ranges' })
    await set({ agentPort, agentCertificate, agentToken })
  })

  const connect = async () => {
    const secret = sshd.key.trim()
    const target = { host: '127.0.0.1', port: sshd.port, username: sshd.username, secret, knownHostKey: null }
    const connected = await connectSsh(target)
    if (!connected.ok) throw new Error(connected.message)
    return connected.session
  }

  test('the running command is ended on the machine with its children, and what follows it is not done', async () => {
    const session = await connect()
    const [begun, after] = [join(root, 'begun'), join(root, 'after')]
    const controller = new AbortController()
    const running = session.run(`echo $$ > ${begun}; (sleep 300 | cat); touch ${after}`, { signal: controller.signal })
    const ended = expect(running).rejects.toBeInstanceOf(Cancelled)
    await vi.waitFor(() => access(begun), { timeout: 30_000, interval: 20 })
    controller.abort(new Cancelled('enough'))
    await ended
    const other = await connect()
    await vi.waitFor(async () => expect((await other.run(`kill -0 -- -"$(cat ${begun})"`)).code).not.toBe(0), {
      timeout: 30_000,
      interval: 100
    })
    await expect(access(after)).rejects.toThrow('ENOENT')
    other.close()
  })

  test('is installed again after a cancel amid the upload, with whole files only', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'netlet-cancel-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const admin = await world.admin()
    const path = `/api/servers/servers/${id}/provision/`
    const begin = async (more: object = {}) => {
      await admin.post(path, { run_init: 1 })
      const { rows } = await world.ctx.db.execute<{ data: Work }>(
        sql`select data from pgboss.job where name = 'provision-server' order by created_on desc, id desc limit 1`
      )
      const work = rows[0]?.data ?? { serverId: id, init: true, ranges: false }
      return provisionServer(world.ctx, work, { root: folder, username: sshd.username, ...more })
    }
    const atStep = (...steps: string[]) =>
      vi.waitFor(async () => expect(steps).toContain((await row()).provisioning?.step), {
        timeout: 90_000,
        interval: 20
      })
    const first = begin()
    await atStep('upload')
    await admin.post(`${path}cancel/`, {})
    await first
    expect((await row()).provisioning).toMatchObject({ status: 'cancelled' })
    // Without a cancellation it now gets at least past the upload.
    const second = begin({ waitMs: 10 })
    await atStep('configure', 'start', 'wait')
    await admin.post(`${path}cancel/`, {})
    await second
    expect((await row()).provisioning?.steps.find(({ step }) => step === 'upload')).toMatchObject({ status: 'done' })
  })
})
