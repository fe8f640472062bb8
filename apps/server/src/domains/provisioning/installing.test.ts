import tls from 'node:tls'
import type { Server } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeEach, expect, test, beforeAll, describe } from 'vitest'
import { startTestMachine, type TestMachine } from '../../integrations/ssh/machine.fixture.ts'
import { addTestServer, serverRow, startFleetShop, audited } from '../convergence/fleet.fixture.ts'
import { servers } from '../servers/tables.ts'
import type { Work } from '../servers/installations.ts'
import { provisionServer } from './provision.ts'
import { useStarted } from '../../testing/use-started.ts'

type Output = { stdout?: string | Buffer; stderr?: string | Buffer; code?: number }

const world = useStarted(startFleetShop)
const admin = useStarted(() => world.admin())
const machine = useStarted(() => startTestMachine({ onLogin: () => onLogin(), answer: command => answer(command) }))
let id: number
let onLogin: () => Promise<void> | void
let answer: (command: string) => Output

let count = 0
beforeEach(async () => {
  onLogin = () => {}
  answer = () => ({ code: 1 })
  machine.commands.length = 0
  count += 1
  id = await addTestServer(world.ctx, `machine ${count}`, { ranges: [`127.${100 + count}.0.0/24`] })
  await world.ctx.db
    .update(servers)
    .set({ ip: '127.0.0.1', sshPort: machine.port, sshPassword: world.ctx.secrets.seal('root secret') })
    .where(eq(servers.id, id))
})

const path = () => `/api/servers/servers/${id}/`
const ask = () => admin.post<Server>(`${path()}provision/`, { run_init: 1 })
const row = () => serverRow(world.ctx, id)
async function install(): Promise<void> {
  const { rows } = await world.ctx.db.execute<{ data: Work }>(
    sql`select data from pgboss.job where name = 'provision-server' and state = 'created'
      and (data ->> 'serverId')::int = ${id} order by created_on desc limit 1`
  )
  if (!rows[0]) throw new Error('no job')
  await provisionServer(world.ctx, rows[0].data, { root: '/nowhere', username: 'root' })
}

test('without a password the first step fails, and says what to enter', async () => {
  await world.ctx.db.update(servers).set({ sshPassword: null }).where(eq(servers.id, id))
  await ask()
  await install()
  const failed = { status: 'failed', step: 'connect', message: expect.stringContaining('password') as string }
  expect((await row()).provisioning).toMatchObject({ ...failed, steps: [{ status: 'done' }, { status: 'failed' }] })
  expect(machine.commands).toEqual([])
})

test('what a machine prints that the database cannot hold ends no installation unseen', async () => {
  answer = () => ({ stdout: Buffer.from('a\0b\xff', 'latin1'), stderr: `no\0 ${'x'.repeat(998)}😀`, code: 1 })
  await ask()
  await install()
  const { provisioning } = await row()
  expect(provisioning).toMatchObject({ status: 'failed', step: 'examine' })
  expect(provisioning?.message).toBe(`${'x'.repeat(998)}😀`)
  expect(provisioning?.steps.at(-1)?.output).toMatch(/ab\ufffdno x+😀\n$/)
})

/** Requests an installation, and does this while it logs in to the machine. */
async function whileConnecting(meanwhile: () => Promise<void>): Promise<void> {
  // The installation may end before all of it has happened, because it notices a cancellation by itself.
  let happened = Promise.resolve()
  onLogin = () => (happened = meanwhile())
  await ask()
  await install()
  await happened
}

test('a server is not deleted while it is installed, and is after a cancel; nothing is installed then', async () => {
  const replies: unknown[] = []
  await whileConnecting(async () => {
    const refused = await admin.delete(path())
    const plan = await admin.get(`${path()}plan/?action=delete`)
    const cancelled = await admin.post(`${path()}provision/cancel/`, {})
    replies.push(refused, plan.code, cancelled.code, (await admin.delete(path())).code)
  })
  const refusal = expect.objectContaining({ code: 409, data: { reason: 'server_installing' } }) as unknown
  expect(replies).toEqual([refusal, 409, 2000, 2000])
  expect(machine.commands).toEqual([])
  expect(await row()).toMatchObject({ sshHostKey: null, agentToken: null, sshPassword: null, connected: false })
})

test('an installation whose server disappears stops, and writes nothing', async () => {
  await whileConnecting(async () => {
    const gone = { deletedAt: world.ctx.now(), sshPassword: null, agentToken: null }
    await world.ctx.db.update(servers).set(gone).where(eq(servers.id, id))
  })
  expect(machine.commands).toEqual([])
  expect(await row()).toMatchObject({ sshHostKey: null, agentToken: null, agentCertificate: null })
})

const form = () => ({
  name: `machine ${count}`,
  ip: '127.0.0.1',
  cidr: `127.${100 + count}.0.0/24`,
  port: machine.port
})

test('what an installation works with is not edited while it runs; all else is', async () => {
  await ask()
  const put = (more: object) => admin.put<{ errors?: object }>(path(), { ...form(), ...more })
  const { agentPort, proxyPort } = await row()
  const same = { agent_port: agentPort, proxy_port: proxyPort, forget_certificate: 1, description: 'in Paris' }
  expect((await put(same)).code).toBe(2000)
  const pem = tls.rootCertificates[0]
  const changes = {
    ip: '127.0.0.2',
    port: 23,
    password: 'another',
    agent_port: 7,
    agent_token: 'typed-by-an-admin-1234',
    agent_certificate: pem,
    proxy_port: 8,
    host_key: `SHA256:${'a'.repeat(43)}`
  }
  for (const [field, value] of Object.entries(changes)) {
    const errors = { [field]: 'The agent of this server is being installed. Cancel the installation first.' }
    expect(await put({ [field]: value })).toMatchObject({ code: 409, data: { reason: 'server_installing', errors } })
  }
  const plan = await admin.post(`${path()}plan_edit/`, { ...form(), port: 23 })
  expect(plan).toMatchObject({ code: 409, data: { reason: 'server_installing' } })
  await admin.post(`${path()}provision/cancel/`, {})
  expect((await put({ port: 23, password: 'another' })).code).toBe(2000)
})

test('an installation that was cancelled writes nothing of its machine to the row that was edited since', async () => {
  const codes: number[] = []
  await whileConnecting(async () => {
    codes.push((await admin.post(`${path()}provision/cancel/`, {})).code)
    const other = { port: 23, password: 'another', agent_token: 'typed-by-an-admin-1234' }
    codes.push((await admin.put(path(), { ...form(), ...other })).code)
    await ask()
  })
  expect(codes).toEqual([2000, 2000])
  expect(machine.commands).toEqual([])
  const after = await row()
  expect(after).toMatchObject({ sshPort: 23, sshHostKey: null, agentCertificate: null })
  expect(world.ctx.secrets.open(after.agentToken ?? Buffer.alloc(0))).toBe('typed-by-an-admin-1234')
  expect(after.provisioning).toMatchObject({ status: 'running', step: 'waiting' })
})

test('one that was taken for dead, and another asked for since, writes nothing either', async () => {
  await whileConnecting(async () => {
    await world.ctx.db.execute(sql`
      update servers set provisioning = jsonb_set(provisioning, '{steps,0,started_at}', '"2026-06-15T08:00:00.000Z"')
      where id = ${id}`)
  })
  expect(machine.commands).toEqual([])
  expect(await row()).toMatchObject({ sshHostKey: null, agentToken: null, provisioning: { status: 'running' } })
})

describe('the SSH host key of a machine', () => {
  // The SSH host key identifies a machine before it gets root's password.

  let first: TestMachine
  let second: TestMachine
  let logins: number
  let id: number
  let count = 0

  beforeAll(async () => {
    const machine = () => startTestMachine({ onLogin: () => void logins++, answer: () => ({ code: 1 }) })
    ;[first, second] = await Promise.all([machine(), machine()])
  })
  afterAll(async () => {
    first?.close()
    second?.close()
  })
  beforeEach(async () => {
    logins = 0
    count += 1
    id = await addTestServer(world.ctx, `keys ${count}`, { ranges: [`127.${120 + count}.0.0/24`] })
    await world.ctx.db
      .update(servers)
      .set({ sshPort: first.port, sshPassword: world.ctx.secrets.seal('root secret') })
      .where(eq(servers.id, id))
  })

  const path = () => `/api/servers/servers/${id}/`
  const save = (more: object) =>
    admin.put<Server>(path(), {
      name: `keys ${count}`,
      ip: '127.0.0.1',
      cidr: `127.${120 + count}.0.0/24`,
      port: first.port,
      ...more
    })
  const shown = async () => (await admin.get<Server>(path())).data

  /** Requests an installation and runs it. It ends at its first command. */
  async function install(): Promise<string> {
    await admin.post(`${path()}provision/`, { run_init: 1 })
    const { rows } = await world.ctx.db.execute<{ data: Work }>(
      sql`select data from pgboss.job where name = 'provision-server' and (data ->> 'serverId')::int = ${id}
      order by created_on desc limit 1`
    )
    await provisionServer(world.ctx, rows[0]?.data ?? { serverId: id, init: true, ranges: false }, {
      root: '/x',
      username: 'root'
    })
    const { provisioning } = await shown()
    return provisioning?.message ?? ''
  }

  test('the first key is taken and shown as ssh prints it', async () => {
    expect((await shown()).host_key).toEqual({ known: null, expected: null, refused: null })
    await install()
    const { host_key, provisioning } = await shown()
    expect(host_key).toEqual({
      known: expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}$/) as string,
      expected: null,
      refused: null
    })
    expect(provisioning?.steps.map(step => step.output).join('')).toContain(host_key.known)
  })

  test('another machine at another address gets nothing until exactly its key is accepted', async () => {
    await install()
    const { known } = (await shown()).host_key
    // Neither the password nor the key is sent to the new address silently.
    expect((await save({ port: second.port })).data).toMatchObject({ reason: 'secret_of_address' })
    expect((await save({ port: second.port, password: 'typed again' })).code).toBe(2000)
    logins = 0
    expect(await install()).toMatch(/has changed from SHA256:.* to SHA256:.* The console sent nothing to it/)
    expect(logins).toBe(0)
    const { host_key } = await shown()
    expect(host_key).toMatchObject({ known, refused: expect.stringMatching(/^SHA256:/) as string })
    const accept = (fingerprint: string | null) => admin.post<Server>(`${path()}accept_host_key/`, { fingerprint })
    expect((await accept(known)).code).toBe(409)
    expect((await accept('SHA256:another')).code).toBe(409)
    expect(await install()).toContain('has changed')
    expect((await accept(host_key.refused)).data.host_key).toEqual({
      known: host_key.refused,
      expected: null,
      refused: null
    })
    expect((await audited(world.ctx, 'server.accept_host_key'))[0]).toMatchObject({
      before: { fingerprint: known },
      after: { fingerprint: host_key.refused }
    })
    await install()
    expect(logins).toBe(1)
    // Once is enough: there is nothing left to accept.
    expect((await accept(host_key.refused)).code).toBe(409)
  })

  test('a fingerprint that was given beforehand is the only one that is taken', async () => {
    await install()
    const { known } = (await shown()).host_key
    await world.ctx.db.update(servers).set({ sshHostKey: null, sshPort: second.port }).where(eq(servers.id, id))
    expect((await save({ host_key: 'MD5:no' })).code).toBe(400)
    const password = 'typed again'
    expect((await save({ host_key: known, port: second.port, password })).data.host_key).toMatchObject({
      expected: known
    })
    logins = 0
    expect(await install()).toMatch(/is SHA256:.* instead of SHA256:.*\. The console sent nothing/)
    expect(logins).toBe(0)
    const { refused } = (await shown()).host_key
    expect((await save({ host_key: refused, port: second.port })).data.host_key).toMatchObject({
      expected: refused,
      refused: null
    })
    await install()
    expect(logins).toBe(1)
    expect((await shown()).host_key).toEqual({ known: refused, expected: null, refused: null })
    // Neither the same key again nor an empty field changes anything.
    expect((await save({ host_key: refused, port: second.port })).data.host_key.known).toBe(refused)
    expect((await save({ port: second.port })).data.host_key.known).toBe(refused)
    expect((await serverRow(world.ctx, id)).sshFingerprint).toBeNull()
  })
})
