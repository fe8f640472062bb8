import { X509Certificate } from 'node:crypto'
import type { ServerGroup } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { beforeAll, describe, expect, test, onTestFinished } from 'vitest'
import { release } from '../inventory/index.ts'
import { addOrders } from '../inventory/inventory.fixture.ts'
import { addTestServer, audited, leaseOn, numberOf, serverRow, startFleetShop } from './fleet.fixture.ts'
import { certificateMaker } from '../../testing/certificates.ts'
import { useStarted } from '../../testing/use-started.ts'

const world = useStarted(startFleetShop)
const admin = useStarted(() => world.admin())
let rule: number

beforeAll(async () => {
  const form = { name: 'Rule', price: '1', shopify_variant_id: '1', description: 'd', acl_value: 'denied.test' }
  rule = (await admin.post<{ id: number }>('/api/servers/acls/', form)).data.id
})

type ServerReply = {
  id: number
  name: string
  step: string
  cidrs: { cidr: string; ip_count: number }[]
  has_password: boolean
  provisioning: { status: string } | null
}
type Errors = { errors?: Record<string, string> }

let agentPort = 20_000
/** Each has an agent of its own. */
const create = (form: object) =>
  admin.post<ServerReply & Errors>('/api/servers/servers/', { agent_port: (agentPort += 1), ...form })
describe('the server form', () => {
  const good = { name: 'one', ip: '127.0.0.1', cidr: '127.50.0.0/24' }

  test.each([
    ['name', { ...good, name: ' ' }],
    ['ip', { ...good, ip: '' }],
    ['ip', { ...good, ip: 'somewhere' }],
    ['cidr', { name: 'one', ip: '127.0.0.1' }],
    ['port', { ...good, port: 0 }],
    ['agent_certificate', { ...good, agent_certificate: 'no PEM' }]
  ])('%s: %j is refused', async (field, form) => {
    expect(await create(form)).toMatchObject({ code: 400, data: { errors: { [field]: expect.any(String) as string } } })
  })

  test('a certificate has to be readable and without its key; its fingerprint and end are shown, and it is forgotten on request', async () => {
    const maker = certificateMaker()
    onTestFinished(() => maker.remove())
    const { certificate: testCertificate, key: testKey } = maker.selfSigned(['DNS:agent.test'])
    const form = { ...good, name: 'secure', cidr: '127.58.0.0/29' }
    for (const pem of [
      '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
      `${testCertificate}\n${testKey}`,
      `${testCertificate}\n${testKey.replaceAll(/-----.*-----\n/g, '')}`,
      `${testCertificate}\n${testKey.replaceAll('PRIVATE', 'private')}`,
      testCertificate.replace(/=*\n-----END/, `\n${testKey.replaceAll(/-----.*-----\n/g, '')}-----END`)
    ])
      expect(await create({ ...form, agent_certificate: pem })).toMatchObject({
        code: 400,
        data: { errors: { agent_certificate: expect.any(String) as string } }
      })
    const { data } = await create({ ...form, agent_certificate: testCertificate })
    const { fingerprint256, validToDate } = new X509Certificate(testCertificate)
    const certificate = { fingerprint: fingerprint256, ends_at: validToDate.toISOString() }
    expect(data).toMatchObject({ has_certificate: true, certificate })
    const save = (more: object) => admin.put<ServerReply>(`/api/servers/servers/${data.id}/`, { ...form, ...more })
    expect((await save({})).data).toMatchObject({ certificate })
    expect(await save({ agent_certificate: '-----BEGIN CERTIFICATE-----' })).toMatchObject({ code: 400 })
    expect((await save({ forget_certificate: 1 })).data).toMatchObject({ has_certificate: false, certificate: null })
  })

  test('description is optional; ranges come one a line; secrets are kept sealed and never shown', async () => {
    const reply = await create({
      name: 'lines',
      ip: '127.0.0.1',
      cidr: '127.51.0.0/24\n\n 127.51.1.0/29 \r\n',
      password: 'root secret',
      agent_token: 'agent-secret'
    })
    expect(reply).toMatchObject({ code: 2000, data: { name: 'lines', has_password: true, step: 'behind' } })
    expect(reply.data.cidrs.map(({ cidr, ip_count }) => [cidr, ip_count])).toEqual([
      ['127.51.0.0/24', 256],
      ['127.51.1.0/29', 8]
    ])
    const row = await serverRow(world.ctx, reply.data.id)
    expect(row.sshPassword && world.ctx.secrets.open(row.sshPassword)).toBe('root secret')
    const [entry] = await audited(world.ctx, 'server.create')
    const list = await admin.get('/api/servers/servers/?limit=100&search=lines')
    expect(JSON.stringify([reply, entry, list])).not.toMatch(/root secret|agent-secret/)
    // An empty password leaves the stored one.
    const form = { name: 'lines', ip: '127.0.0.1', cidr: '127.51.0.0/24', password: '', description: 'moved' }
    const edited = await admin.put<ServerReply>(`/api/servers/servers/${reply.data.id}/`, form)
    expect(edited.data).toMatchObject({ has_password: true, cidrs: [{ cidr: '127.51.0.0/24' }] })
    expect((await audited(world.ctx, 'server.edit'))[0]?.after).toMatchObject({ description: 'moved' })
    const isFound = async (search: string) => {
      const { data } = await admin.get<{ data: ServerReply[] }>(`/api/servers/servers/?limit=100&search=${search}`)
      return data.data.some(({ id }) => id === reply.data.id)
    }
    expect(await Promise.all(['LINES', '127.0.0', 'Moved', 'other'].map(isFound))).toEqual([true, true, true, false])
  })

  test('a new address asks again for the secrets that are sent there', async () => {
    const form = { name: 'kept', ip: '127.0.0.1', port: 22, agent_port: 9, cidr: '127.59.0.0/29' }
    const { data } = await create({ ...form, password: 'root secret', agent_token: 'agent-secret' })
    const path = `/api/servers/servers/${data.id}/`
    const refusedAt = async (more: object) => {
      const replies = [
        await admin.post<Errors>(`${path}plan_edit/`, { ...form, ...more }),
        await admin.put<Errors>(path, { ...form, ...more })
      ]
      expect(replies.map(reply => reply.code)).toEqual([400, 400])
      const fields = replies.map(reply => Object.keys(reply.data.errors ?? {}))
      expect(fields[0]).toEqual(fields[1])
      return fields[0]
    }
    expect(await refusedAt({ ip: '127.0.0.2' })).toEqual(['password', 'agent_token'])
    expect(await refusedAt({ ip: '127.0.0.2', password: 'other' })).toEqual(['agent_token'])
    expect(await refusedAt({ ip: '127.0.0.2', agent_token: 'other' })).toEqual(['password'])
    expect(await refusedAt({ port: 23, agent_token: 'other' })).toEqual(['password'])
    expect(await refusedAt({ agent_port: 10, password: 'other' })).toEqual(['agent_token'])
    const row = await serverRow(world.ctx, data.id)
    expect(row).toMatchObject({ ip: '127.0.0.1', sshPort: 22, agentPort: 9 })
    expect(row.sshPassword && world.ctx.secrets.open(row.sshPassword)).toBe('root secret')
    const put = async (more: object) => (await admin.put(path, { ...form, ...more })).code
    expect(await put({ description: 'the same address' })).toBe(2000)
    expect(await put({ agent_port: 10, agent_token: 'other' })).toBe(2000)
    expect(await put({ ip: '127.0.0.2', port: 23, password: 'other', agent_token: 'another' })).toBe(2000)
  })

  test('wrong, overlapping and leased ranges are named', async () => {
    const first = await create({ name: 'owner', ip: '127.0.0.1', cidr: '127.52.0.0/24\n127.52.1.0/24' })
    expect(first.code).toBe(2000)
    expect(await create({ name: 'bad', ip: '127.0.0.1', cidr: '127.52.9.1/24' })).toMatchObject({
      code: 400,
      msg: '127.52.9.1/24 has host bits set; the range that holds it is 127.52.9.0/24'
    })
    expect(await create({ name: 'clash', ip: '127.0.0.1', cidr: '127.52.0.128/25' })).toMatchObject({
      code: 409,
      msg: '127.52.0.128/25 overlaps 127.52.0.0/24 of server owner'
    })
    // Two ranges of one form, before there is a server.
    expect(await create({ name: 'both', ip: '127.0.0.1', cidr: '127.59.0.0/24\n127.59.0.128/25' })).toMatchObject({
      code: 409,
      data: { errors: { cidr: '127.59.0.0/24 overlaps 127.59.0.128/25' } }
    })
    const orderId = await leaseOn(world.ctx, first.data.id, rule)
    const number = await numberOf(world.ctx, orderId)
    const edit = (cidr: string) =>
      admin.put(`/api/servers/servers/${first.data.id}/`, { name: 'owner', ip: '127.0.0.1', cidr })
    expect(await edit('127.52.1.0/24')).toMatchObject({
      code: 409,
      msg: `Addresses of 127.52.0.0/24 are still leased by 1 order: ${number}`
    })
    expect((await edit('127.52.0.0/24')).code).toBe(2000)
    // All or nothing: the refused edit left no trace.
    expect(await create({ name: 'clash', ip: '127.0.0.1', cidr: '127.52.1.0/24' })).toMatchObject({ code: 2000 })
    const reply = await admin.delete(`/api/servers/servers/${first.data.id}/`)
    expect(reply).toMatchObject({ code: 409, msg: `Addresses of this server are still leased by 1 order: ${number}` })
    await world.ctx.db.transaction(tx => release(tx, { orderId }))
    expect(await admin.delete(`/api/servers/servers/${first.data.id}/`)).toMatchObject({ code: 2000 })
    expect(await admin.delete(`/api/servers/servers/${first.data.id}/`)).toMatchObject({ code: 404 })
    // Its former ranges are free for another server.
    expect(await create({ name: 'owner', ip: '127.0.0.1', cidr: '127.52.0.0/24' })).toMatchObject({ code: 2000 })
  })

  test('an agent is one server’s', async () => {
    const mine = { ip: '192.0.2.77', agent_port: 4444 }
    const made = await create({ ...good, ...mine, name: 'the first', cidr: '127.48.0.0/29' })
    expect(made).toMatchObject({ code: 2000 })
    const first = made.data
    const words = 'Server the first already uses this address and agent port'
    const refused = { code: 409, data: { errors: { ip: words } } }
    const other = { ...good, name: 'the other', cidr: '127.48.1.0/29' }
    expect(await create({ ...other, ...mine })).toMatchObject(refused)
    const { data } = await create(other)
    expect(await admin.put(`/api/servers/servers/${data.id}/`, { ...other, ...mine })).toMatchObject(refused)
    // The removal of a server frees its agent.
    await admin.delete(`/api/servers/servers/${first.id}/`)
    expect(await create({ ...other, ...mine, name: 'third', cidr: '127.48.2.0/29' })).toMatchObject({ code: 2000 })
  })

  test('a name is used once, in upper or lower case', async () => {
    expect((await create({ name: 'Twin', ip: '127.0.0.1', cidr: '127.53.0.0/24' })).code).toBe(2000)
    expect(await create({ name: 'tWIN', ip: '127.0.0.1', cidr: '127.53.1.0/24' })).toMatchObject({
      code: 409,
      msg: 'This name is already in use'
    })
  })
})

describe('server groups', () => {
  test.each([
    ['name', { name: '', description: 'd', servers: [1] }],
    ['description', { name: 'g', description: '', servers: [1] }],
    ['servers', { name: 'g', description: 'd', servers: [] }],
    ['servers', { name: 'g', description: 'd', servers: [999_999] }]
  ])('%s: %j is refused', async (field, form) => {
    const reply = await admin.post<Errors>('/api/servers/server-groups/', form)
    expect(reply).toMatchObject({ code: 400, data: { errors: { [field]: expect.any(String) as string } } })
  })

  test('are edited, found and deleted, but not while a variant sells from one', async () => {
    const a = await addTestServer(world.ctx, 'member a')
    const b = await addTestServer(world.ctx, 'member b')
    const path = '/api/servers/server-groups/'
    const made = await admin.post<ServerGroup>(path, { name: 'West', description: 'coast', servers: [a, a] })
    expect(made.data.servers).toEqual([{ id: a, name: 'member a' }])
    const edited = await admin.put<ServerGroup>(`${path}${made.data.id}/`, {
      name: 'West',
      description: 'coast',
      servers: [String(b)]
    })
    expect(edited.data.servers).toEqual([{ id: b, name: 'member b' }])
    expect((await admin.get<{ total: number }>(`${path}?search=coast`)).data.total).toBe(1)
    const { db } = world.ctx
    await addOrders(db, made.data.id, 1)
    await db.execute(sql`update variants set server_group_id = ${made.data.id}`)
    expect(await admin.delete(`${path}${made.data.id}/`)).toMatchObject({
      code: 409,
      msg: expect.stringContaining('Variants still sell from this server group') as string
    })
    await db.execute(sql`update variants set server_group_id = null`)
    expect((await admin.delete(`${path}${made.data.id}/`)).code).toBe(2000)
    expect((await admin.delete(`${path}${made.data.id}/`)).code).toBe(404)
  })
})

test('the names of the servers come without what their rows cost, and without those that are gone', async () => {
  const [one, gone] = [await addTestServer(world.ctx, 'named one'), await addTestServer(world.ctx, 'named other')]
  expect((await admin.delete(`/api/servers/servers/${gone}/`)).code).toBe(2000)
  const names = async (query: string) =>
    (await admin.get<{ data: object[]; total: number }>(`/api/servers/server-names/?${query}`)).data
  expect(await names('search=named')).toMatchObject({ data: [{ id: one, name: 'named one' }], total: 1 })
  expect(Object.keys((await names('limit=1')).data[0] ?? {})).toEqual(['id', 'name'])
})
