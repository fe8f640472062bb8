// The agent as a service of a real systemd: its bounds, replacements without a cut, its end and its return.
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canBootSystemd, startSystemdMachine } from '../../integrations/ssh/systemd-machine.fixture.ts'
import { freePorts } from '../../testing/free-ports.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { agentOf } from '../servers/server-row.ts'
import { convergeServer } from '../convergence/converge.ts'
import { addTestServer, noOrders, openTunnel, serverRow, wantTestUsers } from '../convergence/fleet.fixture.ts'
import { servers } from '../servers/tables.ts'
import type { Bundle } from '../../integrations/agent/bundle.ts'
import { otherProgram } from './installed.fixture.ts'
import { layoutOf } from './layout.ts'
import { provisionServer } from './provision.ts'

const NET = '127.96.0'
const layout = layoutOf('')

// Each installation sends the program and tries the proxy.
describe.runIf(canBootSystemd)('under systemd', { timeout: 180_000 }, () => {
  let world: TestShop
  let machine: Awaited<ReturnType<typeof startSystemdMachine>>
  let id = 0
  let login = ''
  let proxyPort = 0
  /** Sends back what it is sent. */
  const echo = createServer(socket => socket.on('error', () => {}).pipe(socket))

  beforeAll(async () => {
    // No proxy reaches this site, and each fails at once.
    const site = 'http://127.0.0.1:9'
    world = await startTestShop({ config: { checkSites: { google: site, bing: site, amazon: site } } })
    machine = await startSystemdMachine()
    await once(echo.listen(0, '127.0.0.1'), 'listening')
    id = await addTestServer(world.ctx, 'systemd', { ranges: [`${NET}.0/24`] })
    const [agentPort = 0, port = 0] = await freePorts(2)
    proxyPort = port
    await set({ agentPort, proxyPort, sshPort: machine.port, sshPassword: world.ctx.secrets.seal('root secret') })
    await set({ agentSettings: { AGENT_ALLOW_DESTINATIONS: '127.0.0.0/8' } })
  })
  afterAll(async () => {
    echo.close()
    await machine?.close()
    await world?.close()
  })

  const set = (columns: Partial<typeof servers.$inferInsert>) =>
    world.ctx.db.update(servers).set(columns).where(eq(servers.id, id))
  async function install(bundle?: Bundle) {
    const target = { root: '', username: 'root', waitMs: 30_000, ...(bundle ? { bundle } : {}) }
    await provisionServer(world.ctx, { serverId: id, init: true, ranges: false }, target)
    return (await serverRow(world.ctx, id)).provisioning
  }
  /** What systemd says of the service. */
  async function service() {
    const names = ['ActiveState', 'MainPID', 'NRestarts', 'Result']
    const text = await machine.shell(`systemctl show netlet-agent -p ${names.join(',')}`)
    return Object.fromEntries(
      text
        .trim()
        .split('\n')
        .map(line => line.split('='))
    ) as Record<string, string>
  }
  /** Sends a signal to the service's main process. A pid of 0 would mean the caller's whole group. */
  async function signalMain(signal: 'KILL' | 'STOP'): Promise<void> {
    const { MainPID } = await service()
    expect(Number(MainPID)).toBeGreaterThan(1)
    await machine.shell(`kill -${signal} ${MainPID}`)
  }
  async function running() {
    const info = await agentOf(await serverRow(world.ctx, id), world.ctx.secrets).info()
    return info.ok ? info.data.health : null
  }
  const tunnel = () => openTunnel({ host: `${NET}.0`, port: proxyPort, login }, (echo.address() as AddressInfo).port)
  async function echoes(socket: Socket, text: string): Promise<void> {
    socket.write(text)
    const [data] = (await once(socket, 'data')) as [Buffer]
    expect(data.toString()).toBe(text)
  }
  const serves = () =>
    expect
      .poll(() =>
        tunnel().then(
          socket => socket.destroy().destroyed,
          (error: Error) => error.message
        )
      )
      .toBe(true)

  test('an installation makes it a service that may do only what it needs', async () => {
    const provisioning = await install()
    expect(provisioning).toMatchObject({ status: 'done' })
    expect(provisioning?.said).toContainEqual({ code: 'runs_as_service', params: {} })
    const { ActiveState, MainPID } = await service()
    expect(ActiveState).toBe('active')
    expect((await machine.shell('systemctl is-enabled netlet-agent')).trim()).toBe('enabled')
    const status = await machine.shell(`cat /proc/${MainPID}/status`)
    // CAP_NET_BIND_SERVICE and CAP_NET_ADMIN.
    expect(status).toMatch(/^CapBnd:\s+0000000000001400$/m)
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m)
    expect(status).toMatch(/^Seccomp:\s+2$/m)
    ;[login = ''] = (await wantTestUsers(world.ctx, id, { count: 1, base: NET })).map(user => `${user}:secret0`)
    await convergeServer(world.ctx, id, noOrders(world.ctx))
    await serves()
  })

  test('an upgrade is taken over without cutting a tunnel, and systemd follows the new process', async () => {
    const [before, socket] = [await service(), await tunnel()]
    await echoes(socket, 'before')
    const provisioning = await install(await otherProgram(code => `// newer\n${code}`))
    expect(provisioning).toMatchObject({ status: 'done' })
    expect(provisioning?.said).toContainEqual({ code: 'taken_over', params: {} })
    const after = await service()
    expect(after).toMatchObject({ ActiveState: 'active', NRestarts: before['NRestarts'] })
    expect(after['MainPID']).not.toBe(before['MainPID'])
    expect(await running()).toMatchObject({ version: '9.9.9' })
    await echoes(socket, 'after')
    await serves()
    // The old one ends with its last tunnel.
    expect(await machine.shell(`test -e /proc/${before['MainPID']} && echo drains`)).toBe('drains\n')
    socket.destroy()
    await expect.poll(() => machine.shell(`test -e /proc/${before['MainPID']} || echo ended`)).toBe('ended\n')
    expect(await service()).toEqual(after)
  })

  test("a reload reads the operator's file without cutting a tunnel", async () => {
    const [before, socket] = [await service(), await tunnel()]
    await machine.shell(`echo AGENT_WORKERS=2 >> ${layout.local} && systemctl reload netlet-agent`)
    await expect.poll(async () => (await running())?.workers).toBe(2)
    await echoes(socket, 'still open')
    socket.destroy()
    await expect.poll(async () => (await service())['MainPID']).not.toBe(before['MainPID'])
    await serves()
  })

  test('a program that does not start leaves the previous one as it is', async () => {
    const [before, socket] = [await service(), await tunnel()]
    const provisioning = await install(await otherProgram(() => 'process.exit(3)', '9.9.10'))
    expect(provisioning).toMatchObject({ status: 'failed' })
    await echoes(socket, 'untouched')
    socket.destroy()
    expect(await service()).toMatchObject({ ActiveState: 'active', NRestarts: before['NRestarts'] })
    expect(await running()).toMatchObject({ version: '9.9.9' })
    await serves()
  })

  test('systemd restarts it if it was killed, and if it hangs', async () => {
    const first = await service()
    await signalMain('KILL')
    await expect.poll(async () => (await service())['NRestarts']).toBe(String(Number(first['NRestarts']) + 1))
    await serves()
    const folder = `${layout.unit}.d`
    await machine.shell(
      `mkdir ${folder} && printf '[Service]\\nWatchdogSec=12\\n' > ${folder}/soon.conf && systemctl daemon-reload && systemctl restart netlet-agent`
    )
    await serves()
    const third = await service()
    await signalMain('STOP')
    await expect.poll(async () => (await service())['NRestarts'], { timeout: 60_000 }).not.toBe(third['NRestarts'])
    await serves()
    expect((await service())['MainPID']).not.toBe(third['MainPID'])
  })

  test('a stop ends all of its processes', async () => {
    await machine.shell('systemctl stop netlet-agent')
    expect(await service()).toMatchObject({ ActiveState: 'inactive', Result: 'success' })
    expect(await machine.shell(`pgrep -fc '^${layout.home}' || true`)).toBe('0\n')
    await expect(tunnel()).rejects.toThrow()
  })
})
