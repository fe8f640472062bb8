import type { Permission } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import { once } from 'node:events'
import { beforeAll, describe, expect, onTestFinished, test, afterAll } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { TestReply } from '../../testing/client.ts'
import { convergeServer } from './converge.ts'
import { setDesiredUsers } from './manage-users.ts'
import {
  addTestServer,
  audited,
  heldBy,
  leaseOn,
  numberOf,
  noOrders,
  startFleetShop,
  startTestAgent,
  usersOf,
  wantTestUsers
} from './fleet.fixture.ts'
import { withServerLock } from '../servers/server-row.ts'
import { checkIpv6, convergeNow } from './agent-calls.ts'
import { users } from '../accounts/tables.ts'
import { servers } from '../servers/tables.ts'
import { useStarted } from '../../testing/use-started.ts'
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const world = useStarted(startFleetShop)
const agent = useStarted(startTestAgent)
const admin = useStarted(() => world.admin())
let rule: number

beforeAll(async () => {
  const form = { name: 'Rule', price: '1', shopify_variant_id: '1', description: 'd', acl_value: 'denied.test' }
  rule = (await admin.post<{ id: number }>('/api/servers/acls/', form)).data.id
})

type Errors = { errors?: Record<string, string> }
type Output = { status: number; output: Record<string, unknown> }

describe('server management', () => {
  let id: number
  let group: number
  const act = (name: string, body: object = {}): Promise<TestReply<Output & Errors>> =>
    admin.post(`/api/servers/servers/${id}/${name}/`, body)

  beforeAll(async () => {
    id = await addTestServer(world.ctx, 'managed', { agent, ranges: ['127.60.0.0/24', '127.60.1.0/24'] })
    await convergeServer(world.ctx, id, noOrders(world.ctx))
    const form = { name: 'Bought', description: 'd', acls: [rule] }
    group = (await admin.post<{ id: number }>('/api/servers/acl-groups/', form)).data.id
  })

  test.each([
    ['username', 'create_user_by_prefix', { prefix: 'x', acl_group: 1 }],
    // Usernames of orders look like this.
    ['username', 'create_user_by_prefix', { username: 'u4x7k2m9pq', prefix: '127.60.0.8', acl_group: 1 }],
    ['prefix', 'create_user_by_prefix', { username: 'x', prefix: '127.48.0.0/12', acl_group: 1 }],
    ['prefix', 'create_user_by_prefix', { username: 'x', acl_group: 1, prefix: '' }],
    ['acl_group', 'create_user_by_prefix', { username: 'x', prefix: 'x' }],
    ['username', 'delete_user', { username: '' }],
    ['uri', 'request_api', { uri: '/healthz', json_input: {} }],
    ['uri', 'request_api', { uri: '/api/../healthz', json_input: {} }],
    ['uri', 'request_api', { uri: '/api//evil.example/x', json_input: {} }],
    ['uri', 'request_api', { uri: '/api/state?x=1', json_input: {} }],
    ['json_input', 'request_api', { uri: '/api/view-user', json_input: '[1]' }]
  ])('%s of %s: %j is refused', async (field, action, body) => {
    expect(await act(action, body)).toMatchObject({
      code: expect.toBeOneOf([400, 409]) as number,
      data: { errors: { [field]: expect.any(String) as string } }
    })
  })

  test('names that only resemble those of orders are free', async () => {
    for (const username of ['u4x7k2m9p', 'u4x7k2m9pq3', 'ul0i1o23ab', 'x4x7k2m9pq']) {
      const made = await act('create_user_by_prefix', { username, prefix: '127.60.0.8', acl_group: group })
      expect(made, username).toMatchObject({ code: 2000 })
      expect((await act('delete_user', { username })).code).toBe(2000)
    }
  })

  test('a list of users that cannot be read is an error, not an empty list', async () => {
    const between = createServer((request, response) => {
      if (request.url === '/api/view-all-users') return response.end('null')
      const { authorization = '' } = request.headers
      return void fetch(`http://127.0.0.1:${agent.port}${request.url}`, { headers: { authorization } }).then(
        async answer => response.writeHead(answer.status).end(await answer.text())
      )
    }).listen(0, '127.0.0.1')
    onTestFinished(() => {
      between.closeAllConnections()
      between.close()
    })
    await once(between, 'listening')
    const { port: agentPort } = between.address() as AddressInfo
    const [known] = await world.ctx.db.select({ port: servers.agentPort }).from(servers).where(eq(servers.id, id))
    await world.ctx.db.update(servers).set({ agentPort }).where(eq(servers.id, id))
    const seen = await admin.get(`/api/servers/servers/${id}/get_server_info/`)
    await world.ctx.db.update(servers).set({ agentPort: known?.port }).where(eq(servers.id, id))
    expect(seen).toMatchObject({ status: 503, msg: expect.stringContaining('list of users cannot be read') as string })
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
    for (const [role, list] of [
      ['viewer', null],
      ['support', [{ user: 'byhand' }]]
    ] as const) {
      const operator = await world.admin()
      await world.ctx.db.update(users).set({ operatorRole: role }).where(eq(users.id, operator.user.id))
      const seen = await operator.get(`/api/servers/servers/${id}/get_server_info/`)
      expect(seen.data, role).toMatchObject({ server_info: { num_of_users: 1 }, user_list: list })
    }
    expect(
      (await act('create_user_by_prefix', { username: 'byhand', prefix: '127.60.0.8', acl_group: group })).code
    ).toBe(409)
    const form = { name: 'managed', ip: '127.0.0.1', cidr: '127.60.1.0/24', agent_port: agent.port }
    expect(await admin.put(`/api/servers/servers/${id}/`, form)).toMatchObject({
      code: 409,
      msg: 'The manually created proxy user byhand still uses addresses there. Delete it first.'
    })
    expect((await admin.delete(`/api/servers/servers/${id}/`)).msg).toContain('proxy user byhand still uses')
    expect(await act('delete_user', { username: 'byhand' })).toMatchObject({
      code: 2000,
      data: { output: { deleted: true } }
    })
    expect(await heldBy(agent)).toEqual([])
    expect(await usersOf(world.ctx, id)).toEqual([])
    expect((await audited(world.ctx, 'server.create_user'))[0]?.after).toMatchObject({ username: 'byhand' })
    expect((await audited(world.ctx, 'server.delete_user'))[0]?.before).toMatchObject({ username: 'byhand' })
  })

  test('a prefix that is not the server’s, or an unknown group, is refused', async () => {
    for (const form of [
      { prefix: '10.0.0.0/29', acl_group: group },
      { prefix: '127.60.0.0/29', acl_group: 99 }
    ])
      expect((await act('create_user_by_prefix', { username: 'x', ...form })).code).toBe(400)
  })

  test('users of orders are not taken off by hand', async () => {
    const { ctx } = world
    const [owned = ''] = await wantTestUsers(ctx, id, { count: 1, base: '127.60.0', orderId: 77 })
    await convergeServer(ctx, id, noOrders(ctx))
    expect(
      await act('create_user_by_prefix', { username: owned, prefix: '127.60.0.0/29', acl_group: group })
    ).toMatchObject({ code: 409, msg: `The name ${owned} is in use, or kept for orders. Please choose another one.` })
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
    const orderId = await leaseOn(world.ctx, id, rule)
    await act('create_user_by_prefix', { username: 'goes', prefix: '127.60.1.0/30', acl_group: group })
    expect(await act('reset_all_proxy', { cidrs: ['127.60.1.0/24'] })).toMatchObject({
      code: 409,
      msg: `Addresses of 127.60.0.0/24 are still leased by 1 order: ${await numberOf(world.ctx, orderId)}`
    })
    expect(await act('reset_all_proxy', { cidrs: ['127.61.0.0/24'] })).toMatchObject({
      code: 400,
      msg: '127.61.0.0/24 is not within the ranges of this server'
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
    expect((await audited(world.ctx, 'server.request_call'))[0]?.after).toMatchObject({ uri: '/api/view-user' })
  })

  test('a token that changes servers reads and changes no credentials unless it may see those of orders', async () => {
    const { client } = agent
    await client.putUser('secretive', { password: 'kept-to-itself', prefixes: ['127.60.0.40/32'], denied_domains: [] })
    const tokenOf = async (...permissions: Permission[]) =>
      (await admin.post<{ key: string }>('/api/users/api_tokens/', { name: 'script', permissions })).data.key
    const [alone, both] = [await tokenOf('servers.change'), await tokenOf('servers.change', 'orders.credentials')]
    const ask = (key: string, uri: string, input: object = {}): Promise<TestReply<Output>> => {
      const json_input = { user: 'secretive', ip: '192.0.2.7', ...input }
      const headers = { authorization: `Bearer ${key}` }
      return world.visitor().post(`/api/servers/servers/${id}/request_api/`, { uri, json_input }, headers)
    }
    const view = async () => JSON.stringify(await client.raw('POST', '/api/view-user', { user: 'secretive' }))
    const before = await view()
    const entries = (await audited(world.ctx, 'server.request_call')).length
    for (const uri of [
      '/api/view-user',
      '/api/view-user/',
      '/api/update-user',
      '/api/add-whitelist-ip',
      '/api/del-whitelist-ip',
      '/api/create-user',
      '/api/create-user-by-prefix'
    ])
      expect(await ask(alone, uri), uri).toMatchObject({
        code: 403,
        data: { reason: 'key_permission_missing' },
        msg: 'This API token lacks the permission orders.credentials'
      })
    expect(await view()).toBe(before)
    expect(await audited(world.ctx, 'server.request_call')).toHaveLength(entries)

    const allowed = { code: 2000, data: { status: 200 } }
    expect(await ask(alone, '/api/add-blacklist', { domain: 'blocked.test' })).toMatchObject(allowed)
    const seen = await ask(both, '/api/view-user')
    expect(seen).toMatchObject(allowed)
    expect(JSON.stringify(seen.data.output)).toContain(':secretive:kept-to-itself')
    const [entry] = await audited(world.ctx, 'server.request_call')
    expect(entry?.after).toMatchObject({ uri: '/api/view-user', body: { user: 'secretive' } })
    expect(await ask(both, '/api/add-whitelist-ip')).toMatchObject({
      data: { output: { data: { allowed: ['192.0.2.7/32'] } } }
    })
    expect(await ask(alone, '/api/delete-user')).toMatchObject(allowed)
  })

  test('a change while another process talks to the agent is saved, and applied later', async () => {
    const { ctx } = world
    const user = {
      serverId: id,
      username: 'later',
      orderId: null,
      password: 'x',
      prefixes: ['127.60.0.32/32'],
      rules: []
    }
    await command(ctx, SYSTEM, unit => setDesiredUsers(unit, [user]))
    const ran = await withServerLock(ctx.db, id, async () => {
      expect(await convergeNow(ctx, id, 50)).toEqual({ ok: false, reason: 'saved_agent_busy' })
      expect(await heldBy(agent)).not.toContain('later')
    })
    expect(ran).toBe(true)
    expect((await convergeNow(ctx, id)).ok).toBe(true)
    expect(await heldBy(agent)).toContain('later')
  })

  test('an agent that is away is a 503 that says why, and nothing has changed', async () => {
    await world.ctx.db.update(servers).set({ agentPort: 9 }).where(eq(servers.id, id))
    const before = await usersOf(world.ctx, id)
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
        msg: expect.stringMatching(/^The server is not responding: .*ECONNREFUSED/) as string
      })
    }
    expect(await usersOf(world.ctx, id)).toEqual(before)
  })
})

describe('a check of IPv6 ranges', () => {
  /** Answers in the agent's place, and records what it is asked. A real one is tested in apps/agent. */
  let asked: { path: string | undefined; prefix: string; targets: unknown[] }[] = []
  let knows = true
  let agent: HttpServer

  beforeAll(async () => {
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      const body = JSON.parse((await request.toArray()).join('')) as { prefix: string; targets: unknown[] }
      asked.push({ path: request.url, ...body })
      if (knows) {
        const results = [{ target: 'site:443', found: 'silent', own: 'connected' }]
        response.end(JSON.stringify({ prefix: body.prefix, address: '2001:db8::9', verdict: 'no_neighbour', results }))
      } else response.writeHead(404).end(JSON.stringify({ status: 404, reason: 'unknownPath', msg: 'No such call.' }))
    }
    agent = createServer((request, response) => void answer(request, response))
    await new Promise<void>(resolve => agent.listen(0, '127.0.0.1', resolve))
  })
  afterAll(async () => {
    agent.closeAllConnections()
    agent.close()
  })

  const sites = ['https://one.example/', 'http://two.example:8080/x', 'no address']
  const serverOf = async (name: string, ranges: string[]): Promise<number> => {
    const id = await addTestServer(world.ctx, name, { ranges })
    const { port } = agent.address() as AddressInfo
    await world.ctx.db.update(servers).set({ agentPort: port }).where(eq(servers.id, id))
    return id
  }

  test('each IPv6 range of a server is checked, by its sites or by a target of the operator', async () => {
    const id = await serverOf('both', ['10.80.0.0/29', '2001:db8:80::/56', '2001:db8:81::/64'])
    asked = []
    const found = await checkIpv6(world.ctx, id, '', sites)
    expect(found).toMatchObject({ ok: true, data: { more: 0, checks: [{ verdict: 'no_neighbour' }, {}] } })
    const targets = [
      { host: 'one.example', port: 443 },
      { host: 'two.example', port: 8080 }
    ]
    expect(asked.toSorted((a, b) => a.prefix.localeCompare(b.prefix))).toEqual([
      { path: '/api/check-exit', prefix: '2001:db8:80::/56', targets },
      { path: '/api/check-exit', prefix: '2001:db8:81::/64', targets }
    ])
    asked = []
    await checkIpv6(world.ctx, id, '[2001:db8::1]:53', sites)
    expect(asked[0]?.targets).toEqual([{ host: '2001:db8::1', port: 53 }])
    expect(await checkIpv6(world.ctx, id, 'one.example:0', sites)).toMatchObject({
      ok: false,
      data: { errors: { target: 'Enter a host and a port, such as example.com:443' } }
    })
  })

  test('of many ranges some are looked at; without one, or of an agent that is too old, it says so', async () => {
    const many = await serverOf(
      'many',
      Array.from({ length: 10 }, (_, nth) => `2001:db8:9${nth}::/64`)
    )
    expect(await checkIpv6(world.ctx, many, 'x:1', sites)).toMatchObject({ data: { more: 2 } })
    const four = await serverOf('four', ['10.81.0.0/29'])
    expect(await checkIpv6(world.ctx, four, 'x:1', sites)).toMatchObject({ ok: false, reason: 'no_ipv6_ranges' })
    knows = false
    expect(await checkIpv6(world.ctx, many, 'x:1', sites)).toMatchObject({
      ok: false,
      reason: 'agent_refused',
      params: { message: 'No such call.' }
    })
  })
})
