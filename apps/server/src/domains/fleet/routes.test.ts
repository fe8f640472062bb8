import type { ServerGroup } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestClient } from '../../testing/client.ts'
import type { TestShop } from '../../testing/shop.ts'
import { release } from '../inventory/index.ts'
import { addOrders } from '../inventory/fixtures.ts'
import { addTestServer, audited, leaseOn, serverRow, startFleetShop } from './fleet.fixture.ts'

let world: TestShop
let admin: TestClient
let rule: number

beforeAll(async () => {
  world = await startFleetShop()
  admin = await world.admin()
  const form = { name: 'Rule', price: '1', shopify_variant_id: '1', description: 'd', acl_value: 'denied.test' }
  rule = (await admin.post<{ id: number }>('/api/servers/acls/', form)).data.id
})

afterAll(() => world?.close())

type ServerReply = {
  id: number
  name: string
  step: string
  cidrs: { cidr: string; ip_count: number }[]
  has_password: boolean
  provisioning: { status: string } | null
}
type Errors = { errors?: Record<string, string> }

const create = (form: object) => admin.post<ServerReply & Errors>('/api/servers/servers/', form)
describe('the server form', () => {
  const good = { name: 'one', ip: '127.0.0.1', cidr: '127.50.0.0/24' }

  test.each([
    ['name', { ...good, name: ' ' }, 'Please enter name'],
    ['ip', { ...good, ip: '' }, 'Please enter ip'],
    ['ip', { ...good, ip: 'somewhere' }, 'Must be an IP address'],
    ['cidr', { name: 'one', ip: '127.0.0.1' }, 'Please enter cidr'],
    ['port', { ...good, port: 0 }, 'Must be a port'],
    ['agent_certificate', { ...good, agent_certificate: 'no PEM' }, 'Must be a certificate in PEM']
  ])('%s: %j is refused', async (field, form, message) => {
    const reply = await create(form)
    expect(reply).toMatchObject({ code: 400, msg: message, data: { errors: { [field]: message } } })
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
    const orderId = await leaseOn(world.ctx, first.data.id, rule)
    const edit = (cidr: string) =>
      admin.put(`/api/servers/servers/${first.data.id}/`, { name: 'owner', ip: '127.0.0.1', cidr })
    expect(await edit('127.52.1.0/24')).toMatchObject({
      code: 409,
      msg: `Addresses of 127.52.0.0/24 are still leased by order #${orderId}`
    })
    expect((await edit('127.52.0.0/24')).code).toBe(2000)
    // All or nothing: the refused edit left no trace of itself.
    expect(await create({ name: 'clash', ip: '127.0.0.1', cidr: '127.52.1.0/24' })).toMatchObject({ code: 2000 })
    const reply = await admin.delete(`/api/servers/servers/${first.data.id}/`)
    expect(reply).toMatchObject({
      code: 409,
      msg: `Addresses of this server are still leased by order #${orderId}`
    })
    await world.ctx.db.transaction(tx => release(tx, { orderId }))
    expect(await admin.delete(`/api/servers/servers/${first.data.id}/`)).toMatchObject({ code: 2000 })
    expect(await admin.delete(`/api/servers/servers/${first.data.id}/`)).toMatchObject({ code: 404 })
    // What it owned is free for another server.
    expect(await create({ name: 'owner', ip: '127.0.0.1', cidr: '127.52.0.0/24' })).toMatchObject({ code: 2000 })
  })

  test('a name is used once, whatever its case', async () => {
    expect((await create({ name: 'Twin', ip: '127.0.0.1', cidr: '127.53.0.0/24' })).code).toBe(2000)
    expect(await create({ name: 'tWIN', ip: '127.0.0.1', cidr: '127.53.1.0/24' })).toMatchObject({
      code: 409,
      msg: 'This name is already in use'
    })
  })

  test('run_init and update_cidr ask for provisioning, and the row shows it', async () => {
    const form = { name: 'init', ip: '127.0.0.1', cidr: '127.54.0.0/24', run_init: 1, update_cidr: 0 }
    const reply = await create(form)
    expect(reply.data.provisioning).toMatchObject({ status: 'running' })
    const { rows } = await world.ctx.db.execute(
      sql`select data from pgboss.job where name = 'provision-server' and data->>'serverId' = ${String(reply.data.id)}`
    )
    expect(rows).toEqual([{ data: { serverId: reply.data.id, init: true, ranges: false } }])
  })

  test('servers are found by name and address, ten a page', async () => {
    const page = await admin.get<{ data: ServerReply[]; total: number; limit: number }>(
      '/api/servers/servers/?search=TWI&limit=10&offset=0'
    )
    expect(page.data).toMatchObject({ total: 1, limit: 10, data: [{ name: 'Twin' }] })
    expect((await admin.get<{ total: number }>('/api/servers/servers/?search=100%25')).data.total).toBe(0)
  })
})

describe('server groups', () => {
  test.each([
    ['name', { name: '', description: 'd', servers: [1] }, 'Please enter server group'],
    ['description', { name: 'g', description: '', servers: [1] }, 'Please enter description'],
    ['servers', { name: 'g', description: 'd', servers: [] }, 'Please select server'],
    [
      'servers',
      { name: 'g', description: 'd', servers: [999_999] },
      'One of the selected servers does not exist any more'
    ]
  ])('%s: %j is refused', async (field, form, message) => {
    const reply = await admin.post<Errors>('/api/servers/server-groups/', form)
    expect(reply).toMatchObject({ code: 400, msg: message, data: { errors: { [field]: message } } })
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
