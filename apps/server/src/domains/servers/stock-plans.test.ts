import type { GroupPlan, Page, Server, ServerEditPlan, ServerGroup, ServerPlan, StockChange } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  addTestServer,
  audited,
  leaseOn,
  serverRow,
  startFleetShop,
  startTestAgent,
  wantTestUsers
} from '../convergence/fleet.fixture.ts'
import { addGroup, addRule, inTransaction } from '../inventory/inventory.fixture.ts'
import { addCidr } from '../inventory/index.ts'
import { checkServers } from '../convergence/check-servers.ts'
import { stockOfGroups } from './groups.ts'
import { servers } from './tables.ts'
import { useStarted } from '../../testing/use-started.ts'

const world = useStarted(startFleetShop)
const admin = useStarted(() => world.admin())
let rule: number

beforeAll(async () => {
  const form = { name: 'Rule', price: '1', shopify_variant_id: '1', description: 'd', acl_value: 'denied.test' }
  rule = (await admin.post<{ id: number }>('/api/servers/acls/', form)).data.id
})

const inGroup = async (name: string, ...ids: number[]) =>
  (await admin.post<ServerGroup>('/api/servers/server-groups/', { name, description: 'd', servers: ids })).data
const read = async (id: number) => (await admin.get<Server>(`/api/servers/servers/${id}/`)).data
const planEdit = (id: number, form: object) =>
  admin.post<ServerEditPlan & { errors?: object }>(`/api/servers/servers/${id}/plan_edit/`, form)

describe('the plan of a server form', () => {
  test('says which ranges come and go and what that does to stock, and changes nothing', async () => {
    const id = await addTestServer(world.ctx, 'planned', { ranges: ['127.80.0.0/28', '127.80.1.0/28'] })
    const group = await inGroup('planned ones', id)
    const form = { name: 'planned', ip: '127.0.0.1', cidr: '127.80.0.0/28\n127.80.2.0/27' }
    const before = await read(id)
    const plan = await planEdit(id, { ...form, version: before.version })
    expect(plan).toMatchObject({
      code: 2000,
      data: {
        added: ['127.80.2.0/27'],
        removed: ['127.80.1.0/28'],
        agent: false,
        stock: [
          { group: { id: group.id, name: 'planned ones' }, rule: { id: rule, name: 'Rule' }, before: 32, after: 48 }
        ]
      }
    })
    expect(await read(id)).toEqual(before)
    expect(await audited(world.ctx, 'server.edit')).toEqual([])
  })

  test('says that another proxy port reaches the lists at once and the agent by an installation only, and whom it concerns', async () => {
    const id = await addTestServer(world.ctx, 'ported', { ranges: ['127.87.0.0/28'] })
    const orderId = await leaseOn(world.ctx, id, rule)
    await wantTestUsers(world.ctx, id, { count: 1, base: '127.87.0', orderId, rules: [rule] })
    const form = { name: 'ported', ip: '127.0.0.1', cidr: '127.87.0.0/28' }
    const portOf = async (more: object) => (await planEdit(id, { ...form, ...more })).data.proxy_port
    expect(await portOf({ proxy_port: 8080 })).toEqual({ from: 3128, to: 8080, orders: 1, installs: false })
    expect(await portOf({ proxy_port: 8080, run_init: 1 })).toMatchObject({ installs: true })
    expect(await portOf({ proxy_port: 3128 })).toBeNull()
    expect(await portOf({})).toBeNull()
    expect((await read(id)).proxy_port).toBe(3128)
  })

  test('is refused in the words of the save: leased ranges, a name that is taken, a stale version', async () => {
    const id = await addTestServer(world.ctx, 'leased', { ranges: ['127.81.0.0/30'] })
    await leaseOn(world.ctx, id, rule)
    const form = { name: 'leased', ip: '127.0.0.1', cidr: '127.81.1.0/30' }
    expect(await planEdit(id, form)).toMatchObject({
      code: 409,
      msg: expect.stringMatching(/^Addresses of 127\.81\.0\.0\/30 are still leased/) as string
    })
    expect((await planEdit(id, { ...form, cidr: '127.81.0.0/30', name: 'planned' })).data.errors).toHaveProperty('name')
    expect((await planEdit(id, { ...form, version: 'older' })).code).toBe(409)
  })
})

describe('a server as it is shown', () => {
  test('has its groups, orders and addresses, its agent’s progress, and the agent’s own report', async () => {
    const agent = await startTestAgent()
    try {
      const id = await addTestServer(world.ctx, 'shown', { agent, ranges: ['127.83.0.0/28'] })
      const group = await inGroup('of shown', id)
      const orderId = await leaseOn(world.ctx, id, rule)
      await wantTestUsers(world.ctx, id, { count: 1, base: '127.83.0', orderId, rules: [rule] })
      expect(await read(id)).toMatchObject({ agent: null, step: 'behind', orders: 1, leased: 1, users: { behind: 1 } })
      await checkServers(world.ctx)
      const shown = await read(id)
      expect(shown.agent).toMatchObject({ status: 'ok', connections: 0, users: 0, rate: null })
      expect(shown.agent?.version).toMatch(/^\d+\.\d+\.\d+/)
      expect(shown.groups).toContainEqual({ id: group.id, name: 'of shown' })
      expect(shown.users.wanted).toBeGreaterThan(shown.users.confirmed)
    } finally {
      await agent.close()
    }
  }, 60_000)

  test('is found by its state', async () => {
    const named = async (state: string) => {
      const list = await admin.get<Page<Server>>(`/api/servers/servers/?limit=100&state=${state}`)
      return list.data.data.map(server => server.name)
    }
    const id = await addTestServer(world.ctx, 'of a state', { ranges: ['127.84.0.0/28'] })
    expect(await named('selling')).toContain('of a state')
    expect(await named('behind')).toContain('of a state')
    expect(await named('installing')).not.toContain('of a state')
    await world.ctx.db.update(servers).set({ status: 'paused', connected: true }).where(eq(servers.id, id))
    expect(await named('paused')).toEqual(['of a state'])
    expect(await named('trouble')).not.toContain('of a state')
    expect(await named('unreachable')).not.toContain('of a state')
    expect((await admin.get('/api/servers/servers/?state=lost')).code).toBe(400)
  })
})

test('an installation that runs keeps its steps, even if another one is requested', async () => {
  const form = { name: 'installing', ip: '127.0.0.1', cidr: '127.99.0.0/28' }
  const { data } = await admin.post<Server>('/api/servers/servers/', { ...form, run_init: 1 })
  const { provisioning } = await serverRow(world.ctx, data.id)
  if (!provisioning) throw new Error('nothing was asked for')
  const running = { ...provisioning, step: 'upload' as const, message: 'Sends the agent' }
  await world.ctx.db.update(servers).set({ provisioning: running }).where(eq(servers.id, data.id))
  const path = `/api/servers/servers/${data.id}/`
  for (const reply of [
    await admin.post<Server>(`${path}provision/`, { update_cidr: 1 }),
    await admin.put<Server>(path, { ...form, run_init: 1 }),
    await admin.put<Server>(path, { ...form, update_cidr: 1 })
  ])
    expect(reply).toMatchObject({ code: 2000, data: { provisioning: { step: 'upload', run_init: true } } })
  expect((await serverRow(world.ctx, data.id)).provisioning).toEqual(running)
  // The other one is done after it.
  const { rows } = await world.ctx.db.execute(
    sql`select data from pgboss.job where name = 'provision-server' and data->>'serverId' = ${String(data.id)} order by data->>'init'`
  )
  expect(rows.map(row => row['data'])).toMatchObject([
    { serverId: data.id, init: false, ranges: true },
    { serverId: data.id, init: true, ranges: false }
  ])
})

test('an installation is asked for again without the form, and twice at once is one', async () => {
  const id = await addTestServer(world.ctx, 'again', { ranges: ['127.85.0.0/28'] })
  const again = (body: object) => admin.post<Server>(`/api/servers/servers/${id}/provision/`, body)
  const entries = async () =>
    (await audited(world.ctx, 'server.provision')).filter(entry => entry.targetId === String(id))
  expect((await again({ run_init: 1 })).data.provisioning).toMatchObject({
    status: 'running',
    run_init: true,
    steps: [{ step: 'waiting', status: 'running' }]
  })
  await again({ run_init: 1 })
  expect(await entries()).toHaveLength(1)
  const { provisioning } = await serverRow(world.ctx, id)
  // Its process died.
  if (!provisioning) throw new Error('nothing was asked for')
  const long = { ...provisioning, at: '2020-01-01T00:00:00.000Z' }
  await world.ctx.db.update(servers).set({ provisioning: long }).where(eq(servers.id, id))
  await again({ run_init: 1 })
  expect(await entries()).toHaveLength(2)
})

test('plans tell of IPv4 addresses and IPv6 /64s apart', async () => {
  const id = await addTestServer(world.ctx, 'of both kinds', { ranges: ['127.91.0.0/28', '2001:db8:91::/60'] })
  const group = await inGroup('both kinds', id)
  await world.ctx.db
    .update(servers)
    .set({ refusedRanges: ['127.91.0.0/28'] })
    .where(eq(servers.id, id))
  const said = (plan: { stock: StockChange[] }) =>
    plan.stock
      .filter(change => change.group.id === group.id && change.rule.id === rule)
      .map(({ family, before, after }) => [family, before, after])
  const paused = async () => (await admin.get<ServerPlan>(`/api/servers/servers/${id}/plan/?action=pause`)).data
  // IPv4 is sold out, so none of it is lost.
  expect(said(await paused())).toEqual([['ipv6', 16, 0]])
  await world.ctx.db.update(servers).set({ refusedRanges: [] }).where(eq(servers.id, id))
  expect(said(await paused())).toEqual([
    ['ipv4', 16, 0],
    ['ipv6', 16, 0]
  ])
  const form = { name: 'of both kinds', ip: '127.0.0.1', cidr: '127.91.0.0/29\n2001:db8:91::/60\n2001:db8:92::/63' }
  expect(said((await planEdit(id, form)).data)).toEqual([
    ['ipv4', 16, 8],
    ['ipv6', 16, 18]
  ])
})

test('stock changes exactly as plans say, with overlaps, exclusions, refused ranges and leases', async () => {
  const { ctx } = world
  const { db } = ctx
  const [wide, narrow] = [
    await addRule(db, 'Wide', { aclValue: 'wide.test' }),
    await addRule(db, 'Narrow', { aclValue: 'narrow.test' })
  ]
  await db.execute(sql`insert into rule_intersections (rule_id, other_id)
    values (${wide}, ${narrow}), (${narrow}, ${wide}) on conflict do nothing`)
  const [spare, left, refused] = ['127.86.2.0/28', '127.86.1.0/28', '127.86.4.0/28']
  const id = await addTestServer(ctx, 'counted', { ranges: ['127.86.0.0/28', left, refused] })
  const group = await inGroup('counted ones', id)
  await leaseOn(ctx, id, narrow)
  await db
    .update(servers)
    .set({ refusedRanges: [refused] })
    .where(eq(servers.id, id))
  await inTransaction(db, addCidr, { cidr: spare, serverId: null, excludedRules: [rule] })
  const stock = async () =>
    Object.fromEntries(
      (await stockOfGroups(db, [group.id])).flatMap(one => (one.family === 'ipv4' ? [[one.rule.id, one.stock]] : []))
    )
  const said = (changes: { rule: { id: number }; after: number }[]) =>
    Object.fromEntries(changes.map(change => [change.rule.id, change.after]))

  const before = await stock()
  expect(before).toMatchObject({ [rule]: 32, [wide]: 31, [narrow]: 31 })
  const cidr = ['127.86.0.0/28', spare, '127.86.3.0/29'].join('\n')
  const form = { name: 'counted', ip: '127.0.0.1', cidr }
  const asked = await planEdit(id, form)
  expect(asked.code).toBe(2000)
  const planned = { ...before, ...said(asked.data.stock) }
  expect(planned).toMatchObject({ [rule]: 24, [wide]: 39, [narrow]: 39 })
  expect((await admin.put(`/api/servers/servers/${id}/`, { ...form, port: 22 })).code).toBe(2000)
  expect(await stock()).toEqual(planned)

  const paused = (await admin.get<ServerPlan>(`/api/servers/servers/${id}/plan/?action=pause`)).data
  const none = Object.fromEntries(Object.keys(planned).map(key => [key, 0]))
  expect({ ...planned, ...said(paused.stock) }).toEqual(none)
  const empty = await addGroup(db, 'an empty one', [])
  const plan = (body: object, groupId: number) =>
    admin.post<GroupPlan>(`/api/servers/server-groups/${groupId}/plan/`, body)
  expect(said((await plan({ servers: [id] }, empty)).data.stock)).toEqual(planned)
  expect(await plan({ servers: [999_999] }, empty)).toMatchObject({
    code: 400,
    data: { errors: { servers: expect.any(String) as string } }
  })
  await admin.post(`/api/servers/servers/${id}/pause/`, {})
  expect(await stock()).toEqual(none)
  expect((await plan({ servers: [id] }, empty)).data).toMatchObject({ added: ['counted'], stock: [] })
  expect((await planEdit(id, { ...form, cidr: '127.86.0.0/28' })).data.stock).toEqual([])
})

test('the plan of a group says which servers come and go, which plans sell from it, and what becomes of stock', async () => {
  const one = await addTestServer(world.ctx, 'group one', { ranges: ['127.82.0.0/28'] })
  const two = await addTestServer(world.ctx, 'group two', { ranges: ['127.82.1.0/29'] })
  const group = await inGroup('both', one)
  const plan = async (body: object) =>
    (await admin.post<GroupPlan>(`/api/servers/server-groups/${group.id}/plan/`, body)).data
  const stock = (after: number) =>
    expect.objectContaining({ rule: { id: rule, name: 'Rule' }, before: 16, after }) as unknown
  expect(await plan({ servers: [two] })).toMatchObject({
    added: ['group two'],
    removed: ['group one'],
    variants: [],
    stock: expect.arrayContaining([stock(8)]) as unknown
  })
  expect(await plan({ servers: [], remove: true })).toMatchObject({
    removed: ['group one'],
    stock: expect.arrayContaining([stock(0)]) as unknown
  })
  const list = await admin.get<Page<ServerGroup>>('/api/servers/server-groups/?search=both')
  expect(list.data.data.find(({ id }) => id === group.id)?.servers).toEqual([{ id: one, name: 'group one' }])
})
