// By which SSH host key a machine is known, before it gets root's password.
import type { Server } from '@netlet/contract'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestMachine, type TestMachine } from '../../../integrations/ssh/machine.fixture.ts'
import type { TestShop } from '../../../testing/shop.ts'
import { addTestServer, audited, serverRow, startFleetShop } from '../fleet.fixture.ts'
import { servers } from '../tables.ts'
import type { Work } from './own-row.ts'
import { provisionServer } from './provision.ts'

let world: TestShop
let admin: Awaited<ReturnType<TestShop['admin']>>
let first: TestMachine
let second: TestMachine
let logins: number
let id: number
let count = 0

beforeAll(async () => {
  world = await startFleetShop()
  admin = await world.admin()
  const machine = () => startTestMachine({ onLogin: () => void logins++, answer: () => ({ code: 1 }) })
  ;[first, second] = await Promise.all([machine(), machine()])
})
afterAll(async () => {
  first?.close()
  second?.close()
  await world?.close()
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

/** Asks for an installation and runs it; it ends at its first command. */
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
  // Neither the password nor the key goes along silently.
  expect((await save({ port: second.port })).data).toMatchObject({ reason: 'secret_of_address' })
  expect((await save({ port: second.port, password: 'typed again' })).code).toBe(2000)
  logins = 0
  expect(await install()).toMatch(/has changed: it was SHA256:.* and is SHA256:.* Nothing was sent to it/)
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
  expect(await install()).toMatch(/is SHA256:.*, and SHA256:.* was expected\. Nothing was sent/)
  expect(logins).toBe(0)
  const { refused } = (await shown()).host_key
  expect((await save({ host_key: refused, port: second.port })).data.host_key).toMatchObject({
    expected: refused,
    refused: null
  })
  await install()
  expect(logins).toBe(1)
  expect((await shown()).host_key).toEqual({ known: refused, expected: null, refused: null })
  // The same again changes nothing, and an empty field neither.
  expect((await save({ host_key: refused, port: second.port })).data.host_key.known).toBe(refused)
  expect((await save({ port: second.port })).data.host_key.known).toBe(refused)
  expect((await serverRow(world.ctx, id)).sshFingerprint).toBeNull()
})
