import tls from 'node:tls'
import type { Server } from '@netlet/contract'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestMachine, type TestMachine } from '../../../integrations/ssh/machine.fixture.ts'
import type { TestShop } from '../../../testing/shop.ts'
import { addTestServer, serverRow, startFleetShop } from '../fleet.fixture.ts'
import { servers } from '../tables.ts'
import type { Work } from './own-row.ts'
import { provisionServer } from './provision.ts'

type Output = { stdout?: string | Buffer; stderr?: string | Buffer; code?: number }

let world: TestShop
let admin: Awaited<ReturnType<TestShop['admin']>>
let machine: TestMachine
let id: number
let onLogin: () => Promise<void> | void
let answer: (command: string) => Output

beforeAll(async () => {
  world = await startFleetShop()
  admin = await world.admin()
  machine = await startTestMachine({ onLogin: () => onLogin(), answer: command => answer(command) })
})
afterAll(async () => {
  machine?.close()
  await world?.close()
})
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

test('what a machine prints that the database cannot hold ends no installation unseen', async () => {
  answer = () => ({ stdout: Buffer.from('a\0b\xff', 'latin1'), stderr: `no\0 ${'x'.repeat(998)}😀`, code: 1 })
  await ask()
  await install()
  const { provisioning } = await row()
  expect(provisioning).toMatchObject({ status: 'failed', step: 'examine' })
  expect(provisioning?.message).toBe(`${'x'.repeat(998)}😀`)
  expect(provisioning?.steps.at(-1)?.output).toMatch(/ab\ufffdno x+😀\n$/)
})

/** Asks for an installation, and does this while the machine is logged in to. */
async function whileConnecting(meanwhile: () => Promise<void>): Promise<void> {
  onLogin = meanwhile
  await ask()
  await install()
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

test('an installation whose server is gone all the same stops, and writes nothing', async () => {
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
