import type { ServerGroup } from '@netlet/contract'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestClient, TestReply } from '../../testing/client.ts'
import type { TestShop } from '../../testing/shop.ts'
import { activate, release, reserve } from '../inventory/index.ts'
import { addOrders } from '../inventory/fixtures.ts'
import { auditLog } from '../audit/tables.ts'
import { convergeServer } from './converge.ts'
import {
  addTestServer,
  heldBy,
  noOrders,
  serverRow,
  startFleetShop,
  startTestAgent,
  usersOf,
  wantTestUsers,
  type TestAgent
} from './fleet.fixture.ts'
import { servers } from './tables.ts'

let world: TestShop
let agent: TestAgent
let admin: TestClient
let rule: number

beforeAll(async () => {
  world = await startFleetShop()
  agent = await startTestAgent()
  admin = await world.admin()
  const form = { name: 'Rule', price: '1', shopify_variant_id: '1', description: 'd', acl_value: 'denied.test' }
  rule = (await admin.post<{ id: number }>('/api/servers/acls/', form)).data.id
})

afterAll(async () => {
  await agent?.close()
  await world?.close()
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
type Output = { status: number; output: Record<string, unknown> }

const create = (form: object) => admin.post<ServerReply & Errors>('/api/servers/servers/', form)
const audited = async (action: string) =>
  world.shop.db
    .select()
    .from(auditLog)
    .where(eq(auditLog.action, action))
    .orderBy(sql`id desc`)

/** Leases one address of a server to a new order. */
async function leaseOn(serverId: number): Promise<number> {
  const group = await admin.post<ServerGroup>('/api/servers/server-groups/', {
    name: `leases of ${serverId}`,
    description: 'd',
    servers: [serverId]
  })
  const { db } = world.shop
  const [orderId = 0] = await addOrders(db, group.data.id, 1)
  await db.transaction(async tx => {
    const reserved = await reserve(tx, { orderId, groupId: group.data.id, step: 1, rules: [rule], quantity: 1 })
    if (!reserved.ok) throw new Error(reserved.reason)
    await activate(tx, orderId)
  })
  return orderId
}

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
      agent_token: 'agent secret'
    })
    expect(reply).toMatchObject({ code: 2000, data: { name: 'lines', has_password: true, step: 'behind' } })
    expect(reply.data.cidrs.map(({ cidr, ip_count }) => [cidr, ip_count])).toEqual([
      ['127.51.0.0/24', 256],
      ['127.51.1.0/29', 8]
    ])
    const row = await serverRow(world.shop, reply.data.id)
    expect(row.sshPassword && world.shop.secrets.open(row.sshPassword)).toBe('root secret')
    const [entry] = await audited('create server')
    const list = await admin.get('/api/servers/servers/?limit=100&search=lines')
    expect(JSON.stringify([reply, entry, list])).not.toMatch(/root secret|agent secret/)
    // An empty password leaves the stored one.
    const form = { name: 'lines', ip: '127.0.0.1', cidr: '127.51.0.0/24', password: '', description: 'moved' }
    const edited = await admin.put<ServerReply>(`/api/servers/servers/${reply.data.id}/`, form)
    expect(edited.data).toMatchObject({ has_password: true, cidrs: [{ cidr: '127.51.0.0/24' }] })
    expect((await audited('edit server'))[0]?.after).toMatchObject({ description: 'moved' })
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
    const orderId = await leaseOn(first.data.id)
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
    await world.shop.db.transaction(tx => release(tx, { orderId }))
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
    const { rows } = await world.shop.db.execute(
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
    const a = await addTestServer(world.shop, 'member a')
    const b = await addTestServer(world.shop, 'member b')
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
    const { db } = world.shop
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

describe('server management', () => {
  let id: number
  let group: number
  const act = (name: string, body: object = {}): Promise<TestReply<Output & Errors>> =>
    admin.post(`/api/servers/servers/${id}/${name}/`, body)

  beforeAll(async () => {
    id = await addTestServer(world.shop, 'managed', { agent, ranges: ['127.60.0.0/24', '127.60.1.0/24'] })
    await convergeServer(world.shop, id, noOrders)
    const form = { name: 'Bought', description: 'd', acls: [rule] }
    group = (await admin.post<{ id: number }>('/api/servers/acl-groups/', form)).data.id
  })

  test.each([
    ['username', 'create_user_by_prefix', { prefix: 'x', acl_group: 1 }, 'please enter a username'],
    ['prefix', 'create_user_by_prefix', { username: 'x', acl_group: 1, prefix: '' }, 'please enter a prefix'],
    ['acl_group', 'create_user_by_prefix', { username: 'x', prefix: 'x', acl_group: '' }, 'please select a acl_group'],
    ['acl_group', 'create_user_by_prefix', { username: 'x', prefix: 'x' }, 'please select a acl_group'],
    ['username', 'delete_user', { username: '' }, 'please enter a username'],
    ['uri', 'request_api', { uri: '/healthz', json_input: {} }, 'please enter a correct uri'],
    ['uri', 'request_api', { uri: '/api/../healthz', json_input: {} }, 'please enter a correct uri'],
    ['uri', 'request_api', { uri: '/api//evil.example/x', json_input: {} }, 'please enter a correct uri'],
    ['uri', 'request_api', { uri: '/api/state?x=1', json_input: {} }, 'please enter a correct uri'],
    ['json_input', 'request_api', { uri: '/api/view-user', json_input: '' }, 'please enter a correct json_input'],
    ['json_input', 'request_api', { uri: '/api/view-user', json_input: '[1]' }, 'please enter a correct json_input']
  ])('%s of %s: %j is refused', async (field, action, body, message) => {
    expect(await act(action, body)).toMatchObject({ code: 400, data: { errors: { [field]: message } } })
  })

  test('a user made by hand works with its group’s rules, and goes when it is deleted', async () => {
    const other = { name: 'Other', price: '1', shopify_variant_id: '2', description: 'd', acl_value: 'other.test' }
    await admin.post('/api/servers/acls/', other)
    const reply = await act('create_user_by_prefix', {
      id,
      username: 'byhand',
      prefix: '127.60.0.8/31',
      acl_group: group
    })
    expect(reply).toMatchObject({
      code: 2000,
      data: { status: 200, output: { proxies: [{ ip: '127.60.0.8', username: 'byhand' }, { ip: '127.60.0.9' }] } }
    })
    expect((await act('list_acl')).data.output).toBe('byhand other.test\n')
    const info = await admin.get<{ server_info: { cidr: string[] }; user_list: { user: string }[] }>(
      `/api/servers/servers/${id}/get_server_info/`
    )
    expect(info.data.server_info.cidr).toEqual(['127.60.0.0/24', '127.60.1.0/24'])
    expect(info.data.user_list.map(user => user.user)).toEqual(['byhand'])
    expect(
      (await act('create_user_by_prefix', { username: 'byhand', prefix: '127.60.0.8', acl_group: group })).code
    ).toBe(409)
    const form = { name: 'managed', ip: '127.0.0.1', cidr: '127.60.1.0/24', agent_port: agent.port }
    expect(await admin.put(`/api/servers/servers/${id}/`, form)).toMatchObject({
      code: 409,
      msg: 'The proxy user byhand, made by hand, still uses addresses of a range left out. Delete it first.'
    })
    expect((await admin.delete(`/api/servers/servers/${id}/`)).msg).toContain('byhand is still on this server')
    expect(await act('delete_user', { username: 'byhand' })).toMatchObject({
      code: 2000,
      data: { output: { deleted: true } }
    })
    expect(await heldBy(agent)).toEqual([])
    expect(await usersOf(world.shop, id)).toEqual([])
    expect((await audited('create proxy user'))[0]?.after).toMatchObject({ username: 'byhand' })
    expect((await audited('delete proxy user'))[0]?.before).toMatchObject({ username: 'byhand' })
  })

  test('a prefix that is not the server’s, or an unknown group, is refused', async () => {
    expect(
      await act('create_user_by_prefix', { username: 'x', prefix: '10.0.0.0/29', acl_group: group })
    ).toMatchObject({
      code: 400,
      msg: '10.0.0.0/29 is not within the ranges of this server'
    })
    expect(await act('create_user_by_prefix', { username: 'x', prefix: '127.60.0.0/29', acl_group: 99 })).toMatchObject(
      {
        code: 400,
        msg: 'please select a acl_group'
      }
    )
  })

  test('users of orders are not taken off by hand', async () => {
    const { shop } = world
    const [owned = ''] = await wantTestUsers(shop, id, { count: 1, base: '127.60.0', orderId: 77 })
    await convergeServer(shop, id, noOrders)
    expect(
      await act('create_user_by_prefix', { username: owned, prefix: '127.60.0.0/29', acl_group: group })
    ).toMatchObject({ code: 409, msg: `The user ${owned} belongs to an order` })
    expect(await act('delete_user', { username: owned })).toMatchObject({
      code: 409,
      msg: expect.stringContaining(`The user ${owned} belongs to order #77`) as string
    })
    await act('create_user_by_prefix', { username: 'one', prefix: '127.60.0.16/30', acl_group: group })
    await agent.client.putUser('unknown', { password: 'x', prefixes: ['127.60.0.1/32'], denied_domains: [] })
    expect(await act('delete_all_user')).toMatchObject({ code: 2000, data: { output: { deleted: 2, kept: 1 } } })
    expect(await heldBy(agent)).toEqual([owned])
  })

  test('ranges left out are unloaded, those with leases never', async () => {
    const orderId = await leaseOn(id)
    await act('create_user_by_prefix', { username: 'goes', prefix: '127.60.1.0/30', acl_group: group })
    expect(await act('reset_all_proxy', { cidrs: ['127.60.1.0/24'] })).toMatchObject({
      code: 409,
      msg: `Addresses of 127.60.0.0/24 are still leased by order #${orderId}`
    })
    expect(await act('reset_all_proxy', { cidrs: ['127.61.0.0/24'] })).toMatchObject({
      code: 400,
      msg: '127.61.0.0/24 is no range of this server'
    })
    expect(await heldBy(agent)).toContain('goes')
    expect(await act('reset_all_proxy', { cidrs: '127.60.0.0/24\n' })).toMatchObject({
      code: 2000,
      data: { status: 200, output: { prefixes: ['127.60.0.0/24'] } }
    })
    expect(await heldBy(agent)).not.toContain('goes')
  })

  test('a raw call shows the agent’s own answer, good or bad', async () => {
    expect(await act('flush_access_log')).toMatchObject({ code: 2000, data: { status: 200, output: { status: 200 } } })
    const asked = { uri: '/api/view-user', json_input: '{"user": "nobody"}' }
    expect(await act('request_api', asked)).toMatchObject({
      code: 2000,
      data: { status: 404, output: { reason: 'unknownUser' } }
    })
    expect((await audited('call agent'))[0]?.after).toMatchObject({ uri: '/api/view-user' })
  })

  test('an agent that is away is a 503 that says why, and nothing has changed', async () => {
    await world.shop.db.update(servers).set({ agentPort: 9 }).where(eq(servers.id, id))
    const before = await usersOf(world.shop, id)
    for (const [action, body] of [
      ['create_user_by_prefix', { username: 'late', prefix: '127.60.0.64/30', acl_group: group }],
      ['delete_all_user', {}],
      ['flush_access_log', {}],
      ['reset_all_proxy', { cidrs: [] }],
      ['apply_removals', {}],
      ['request_api', { uri: '/api/reload', json_input: {} }]
    ] as const) {
      expect(await act(action, body)).toMatchObject({
        code: 503,
        msg: expect.stringMatching(/^The server does not answer: .*ECONNREFUSED/) as string
      })
    }
    expect(await usersOf(world.shop, id)).toEqual(before)
  })

  test('visitors and customers may do none of it', async () => {
    const customer = await world.customer()
    const path = `/api/servers/servers/${id}/delete_all_user/`
    expect((await world.visitor().post(path, {})).code).toBe(401)
    expect((await customer.post(path, {})).code).toBe(403)
    expect((await customer.get('/api/servers/servers/')).code).toBe(403)
  })
})
