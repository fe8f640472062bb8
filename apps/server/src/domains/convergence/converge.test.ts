import { eq, sql } from '../../infra/db/drizzle.ts'
import { expect, test, describe } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { assignCidrs } from '../inventory/index.ts'
import {
  removeDesiredUsers,
  removeUsersByHand,
  renewDenyLists,
  renewPrefixes,
  serversBehind
} from '../servers/desired/desired-users.ts'
import { AgentCallFailed, convergeServer } from './converge.ts'
import { sendRanges } from './send-ranges.ts'
import { setDesiredUsers } from './manage-users.ts'
import {
  addTestServer,
  heldBy,
  noOrders,
  serverRow,
  startFleetShop,
  startTestAgent,
  usersOf,
  wantTestUsers
} from './fleet.fixture.ts'
import { repairServer, SAFE_REMOVALS } from './repair.ts'
import { agentUsers, servers, orderAccess } from '../servers/tables.ts'
import { raisedNotices } from '../../testing/raised-notices.ts'
import { useStarted } from '../../testing/use-started.ts'
import { lockServer } from '../servers/server-row.ts'
import { changeStatus } from '../servers/server-status.ts'
import type { AgentClient } from '../../integrations/agent/index.ts'
import { recordReport } from '../servers/agent-report.ts'
import { applyUser, recordOutcomes } from './apply-user.ts'
import { withAccess } from '../servers/desired/order-access.ts'

const world = useStarted(startFleetShop)
const agent = useStarted(startTestAgent)
const admin = useStarted(() => world.admin())

/** Each test has a server of its own on the one agent, so the agent is emptied between tests. */
async function freshServer(name: string, ranges: string[]): Promise<number> {
  await world.ctx.db.update(servers).set({ deletedAt: world.ctx.now() })
  for (const user of await heldBy(agent)) await agent.client.deleteUser(user)
  const id = await addTestServer(world.ctx, name, { agent, ranges })
  await convergeServer(world.ctx, id, noOrders(world.ctx))
  return id
}

const step = async (id: number) => {
  const list = await admin.get<{ data: { id: number; step: string; last_error: string | null }[] }>(
    '/api/servers/servers/?limit=1000'
  )
  return list.data.data.find(server => server.id === id)
}

test('an agent that is away during a change gets it when it is back, and another server never waits', async () => {
  const { ctx } = world
  const id = await freshServer('away', ['127.31.0.0/24'])
  const unreachable = await addTestServer(ctx, 'nobody there', { ranges: ['127.31.9.0/24'] })
  await agent.stop()
  const users = await wantTestUsers(ctx, id, { count: 3, base: '127.31.0' })
  await wantTestUsers(ctx, unreachable, { count: 1, base: '127.31.9' })
  await expect(convergeServer(ctx, id, noOrders(ctx))).rejects.toThrow(AgentCallFailed)
  expect(await step(id)).toMatchObject({ step: 'unreachable' })
  await agent.start()
  await expect(convergeServer(ctx, unreachable, noOrders(ctx))).rejects.toThrow(AgentCallFailed)
  await convergeServer(ctx, id, noOrders(ctx))
  expect(await heldBy(agent)).toEqual(users.toSorted())
  expect(await step(id)).toMatchObject({ step: 'in step', last_error: null })
  expect(await serversBehind(ctx.db)).toEqual([unreachable])
})

test('screens hear at once that a server is behind, though nothing answers there', async () => {
  const { ctx } = world
  const id = await addTestServer(ctx, 'behind', { ranges: ['127.46.0.0/24'] })
  const heard: number[] = []
  const stop = ctx.changes.subscribe(event => {
    for (const change of event?.changes ?? []) if (change.resource === 'server' && change.id === id) heard.push(id)
  })
  try {
    await wantTestUsers(ctx, id, { count: 2, base: '127.46.0' })
    await expect.poll(() => heard).toEqual([id])
    await command(ctx, SYSTEM, unit => removeUsersByHand(unit, id))
    await expect.poll(() => heard).toEqual([id, id])
  } finally {
    stop()
  }
  expect(await serversBehind(ctx.db)).toContain(id)
})

test('what an agent lost with its disk is sent again: ranges and users', async () => {
  const { ctx } = world
  const id = await freshServer('wiped', ['127.32.0.0/24', '127.32.5.7/32'])
  const users = await wantTestUsers(ctx, id, { count: 5, base: '127.32.0' })
  await convergeServer(ctx, id, noOrders(ctx))
  await agent.stop()
  await agent.wipe()
  await agent.start()
  expect(await heldBy(agent)).toEqual([])
  expect(await repairServer(ctx, id)).toMatchObject({ renewed: 5, removed: [], prefixesRenewed: true })
  await convergeServer(ctx, id, noOrders(ctx))
  expect(await heldBy(agent)).toEqual(users.toSorted())
  expect(await repairServer(ctx, id)).toMatchObject({ renewed: 0, removed: [], prefixesRenewed: false })
})

test('a user for an agent that lost its ranges is not taken for refused', async () => {
  const { ctx } = world
  const id = await freshServer('lost ranges', ['127.33.0.0/24'])
  await agent.stop()
  await agent.wipe()
  await agent.start()
  const users = await wantTestUsers(ctx, id, { count: 2, base: '127.33.0' })
  await convergeServer(ctx, id, noOrders(ctx))
  expect(await heldBy(agent)).toEqual(users)
  expect((await usersOf(ctx, id)).map(user => user.refusal)).toEqual([null, null])
})

test('a refused user gets another try once ranges are loaded, also by an installation', async () => {
  const { ctx } = world
  const id = await freshServer('loaded', ['127.49.0.0/24'])
  await wantTestUsers(ctx, id, { count: 1, base: '127.49.0' })
  const load = async (options?: Parameters<typeof sendRanges>[3]) => {
    await ctx.db.update(agentUsers).set({ refusal: 'no such range' }).where(eq(agentUsers.serverId, id))
    await sendRanges(ctx, agent.client, await serverRow(ctx, id), options)
    return (await usersOf(ctx, id))[0]?.refusal
  }
  expect(await load()).toBeNull()
  expect(await serversBehind(ctx.db)).toContain(id)
  // The old ranges went after the users had their try.
  expect(await load({ retryRefused: false })).toBe('no such range')
})

test('a user that an operator changed on the agent is put right', async () => {
  const { ctx } = world
  const id = await freshServer('changed', ['127.34.0.0/24'])
  const [user = ''] = await wantTestUsers(ctx, id, { count: 1, base: '127.34.0' })
  await convergeServer(ctx, id, noOrders(ctx))
  const before = await agent.client.state()
  await agent.client.raw('POST', '/api/update-user', { user })
  expect(await repairServer(ctx, id)).toMatchObject({ renewed: 1 })
  await convergeServer(ctx, id, noOrders(ctx))
  const after = await agent.client.state()
  expect(after.ok && after.data.users[0]?.hash).toBe(before.ok && before.data.users[0]?.hash)
})

test('a client list that an operator made by the classic verbs outlives repair, renewal and restart', async () => {
  const { ctx } = world
  const id = await freshServer('clients', ['127.47.0.0/24'])
  const [user = ''] = await wantTestUsers(ctx, id, { count: 1, base: '127.47.0' })
  await convergeServer(ctx, id, noOrders(ctx))
  await agent.client.raw('POST', '/api/add-whitelist-ip', { user, ip: '192.0.2.1' })
  const clients = async () => {
    const reply = await agent.client.raw('POST', '/api/view-user', { user })
    return reply.ok && (JSON.parse(reply.data.body) as { data: { whitelist_ips: string[] } }).data.whitelist_ips
  }
  expect(await repairServer(ctx, id)).toMatchObject({ kind: 'compared', renewed: 0 })
  // Sent again with another password, and with other deny lists.
  await ctx.db.update(agentUsers).set({ password: 'renewed' }).where(eq(agentUsers.username, user))
  await renewDenyLists(ctx)
  await convergeServer(ctx, id, noOrders(ctx))
  expect(await clients()).toEqual(['192.0.2.1/32'])
  await agent.stop()
  await agent.start()
  expect(await repairServer(ctx, id)).toMatchObject({ kind: 'compared', renewed: 0 })
  expect(await clients()).toEqual(['192.0.2.1/32'])
})

test('a few unwanted users are removed, many only once an administrator approves', async () => {
  const { ctx } = world
  const id = await freshServer('strays', ['127.35.0.0/24'])
  const wanted = await wantTestUsers(ctx, id, { count: 4, base: '127.35.0' })
  await convergeServer(ctx, id, noOrders(ctx))
  const stray = (n: number) =>
    agent.client.putUser(`stray${n}`, { password: 'x', prefixes: [`127.35.0.${100 + n}/32`], denied_domains: [] })
  for (let n = 0; n < SAFE_REMOVALS; n++) await stray(n)
  const few = await repairServer(ctx, id)
  expect(few).toMatchObject({ waiting: 0 })
  expect(few.kind === 'compared' && few.removed).toHaveLength(SAFE_REMOVALS)
  expect(await heldBy(agent)).toEqual(wanted.toSorted())

  for (let n = 0; n <= SAFE_REMOVALS; n++) await stray(n)
  const notices = async () => (await raisedNotices(ctx.db)).filter(({ title }) => title.endsWith('need your approval'))
  expect(await repairServer(ctx, id)).toMatchObject({ removed: [], waiting: SAFE_REMOVALS + 1 })
  expect(await repairServer(ctx, id)).toMatchObject({ removed: [], waiting: SAFE_REMOVALS + 1 })
  expect(await notices()).toHaveLength(1)
  expect(await step(id)).toMatchObject({
    step: 'behind',
    last_error: expect.stringContaining('does not know 11 of 15 users on the agent') as string,
    trouble: { code: 'removals_waiting', params: { count: 11, users: 15 } }
  })

  const reply = await admin.post<{ status: number; output: { deleted: number } }>(
    `/api/servers/servers/${id}/apply_removals/`
  )
  expect(reply.data).toMatchObject({ status: 200, output: { deleted: SAFE_REMOVALS + 1, waiting: 0 } })
  expect(await heldBy(agent)).toEqual(wanted.toSorted())
  expect(await step(id)).toMatchObject({ step: 'in step', last_error: null })
  expect(await serverRow(ctx, id)).toMatchObject({ removalsAllowed: false })
})

test('many processes that converge at once leave the last state on the agent', async () => {
  const { ctx } = world
  const id = await freshServer('at once', ['127.36.0.0/24'])
  const [order] = (await ctx.db.execute<{ id: number }>(sql`select nextval('agent_generation') as id`)).rows
  const orderId = order?.id ?? 0
  const users = await wantTestUsers(ctx, id, { count: 20, base: '127.36.0', orderId })
  const confirmed: number[][] = []
  const converge = () =>
    convergeServer(ctx, id, async (orders, write) => {
      await command(ctx, SYSTEM, write)
      confirmed.push(orders)
    })
  const changes = async () => {
    for (let round = 0; round < 3; round++) {
      await ctx.db
        .update(agentUsers)
        .set({ password: `round${round}`, generation: sql`nextval('agent_generation')` })
        .where(eq(agentUsers.serverId, id))
      await converge()
    }
  }
  await Promise.all([changes(), converge(), converge(), converge(), converge()])
  for (let n = 0; n < 3; n++) await converge()
  expect(await heldBy(agent)).toEqual(users.toSorted())
  expect(await repairServer(ctx, id)).toMatchObject({ renewed: 0, removed: [] })
  expect(confirmed.every(orders => orders.length === 1 && orders[0] === orderId)).toBe(true)
  expect(confirmed.length).toBeGreaterThan(0)
  const passwords = new Set((await usersOf(ctx, id)).map(user => user.password))
  expect([...passwords]).toEqual(['round2'])
  // Gone when the order is over.
  await command(ctx, SYSTEM, unit => removeDesiredUsers(unit, orderId))
  await converge()
  expect(await heldBy(agent)).toEqual([])
  expect(await usersOf(ctx, id)).toEqual([])
})

test('a range that goes waits for its users to be gone', async () => {
  const { ctx } = world
  const id = await freshServer('moving', ['127.37.0.0/24', '127.37.1.0/24'])
  const orderId = 987_654
  await wantTestUsers(ctx, id, { count: 2, base: '127.37.0', orderId })
  await convergeServer(ctx, id, noOrders(ctx))
  await command(ctx, SYSTEM, async unit => {
    await removeDesiredUsers(unit, orderId)
    await assignCidrs(unit, id, ['127.37.1.0/24', '127.37.2.0/24'])
    await renewPrefixes(unit, id)
  })
  await wantTestUsers(ctx, id, { count: 1, base: '127.37.2' })
  await convergeServer(ctx, id, noOrders(ctx))
  const state = await agent.client.state()
  expect(state.ok && state.data.prefixes).toEqual(['127.37.1.0/24', '127.37.2.0/24'])
  expect(await heldBy(agent)).toEqual(['u127372n0'])
  expect(await step(id)).toMatchObject({ step: 'in step' })
})

test('an edit of the access rules reaches the agents', async () => {
  const { ctx } = world
  const form = { name: 'Shops', price: '1.00', shopify_variant_id: '1', description: 'shops', acl_value: 'shop.test' }
  const rule = await admin.post<{ id: number }>('/api/servers/acls/', form)
  expect(rule.msg).toBe('success')
  const id = await freshServer('rules', ['127.38.0.0/24', '127.38.1.0/24'])
  await wantTestUsers(ctx, id, { count: 1, base: '127.38.0' })
  // A bought rule is never denied.
  await wantTestUsers(ctx, id, { count: 1, base: '127.38.1', rules: [rule.data.id] })
  await convergeServer(ctx, id, noOrders(ctx))
  const denied = async () => {
    const list = await agent.client.raw('GET', '/api/export/user.acl')
    return list.ok ? list.data.body.trim().split('\n').filter(Boolean) : []
  }
  expect(await denied()).toEqual(['u127380n0 shop.test'])
  const edited = await admin.put(`/api/servers/acls/${rule.data.id}/`, { ...form, acl_value: 'shop.test\nmall.test' })
  expect(edited.code).toBe(2000)
  await renewDenyLists(ctx)
  await convergeServer(ctx, id, noOrders(ctx))
  expect(await denied()).toEqual(['u127380n0 mall.test', 'u127380n0 shop.test'])
  const deleted = await admin.delete(`/api/servers/acls/${rule.data.id}/`)
  expect(deleted.code).toBe(2000)
  await renewDenyLists(ctx)
  await convergeServer(ctx, id, noOrders(ctx))
  expect(await denied()).toEqual([])
})

test('a wrong token makes a server unreachable, not its users refused', async () => {
  const { ctx } = world
  const id = await freshServer('wrong token', ['127.39.0.0/24'])
  await ctx.db
    .update(servers)
    .set({ agentToken: ctx.secrets.seal('another token') })
    .where(eq(servers.id, id))
  await wantTestUsers(ctx, id, { count: 1, base: '127.39.0' })
  await expect(convergeServer(ctx, id, noOrders(ctx))).rejects.toThrow('Missing or wrong bearer token')
  expect((await usersOf(ctx, id))[0]?.refusal).toBeNull()
})

test.for(['given_up', 'draining'] as const)(
  'a server that is %s keeps no users, whenever a repair comes',
  async status => {
    const { ctx } = world
    const count = SAFE_REMOVALS + 5
    const [range, base] = status === 'given_up' ? ['127.57.0.0/24', '127.57.0'] : ['127.57.1.0/24', '127.57.1']
    const id = await addTestServer(ctx, status, { agent, ranges: [range] })
    const users = await wantTestUsers(ctx, id, { count, base, orderId: 1 })
    await convergeServer(ctx, id, noOrders(ctx))
    expect(await heldBy(agent)).toEqual(users.toSorted())
    await command(ctx, SYSTEM, async unit => {
      const server = await lockServer(unit, id)
      if (server) await changeStatus(unit, server, status)
    })
    // There is nothing to remove yet, because its orders have not left.
    expect(await repairServer(ctx, id)).toMatchObject({ removed: [], waiting: 0 })
    await ctx.db.delete(agentUsers).where(eq(agentUsers.serverId, id))
    expect(await repairServer(ctx, id)).toMatchObject({ waiting: 0 })
    expect(await heldBy(agent)).toEqual([])
  }
)

describe('what an order was sold with', () => {
  /** Wants users on their agents, with one address each. */
  const wantOne = (...users: { serverId: number; orderId: number; ip: string }[]) =>
    command(world.ctx, SYSTEM, unit =>
      setDesiredUsers(
        unit,
        users.map(({ serverId, orderId, ip }) => {
          const username = `of${orderId}`
          return { serverId, username, orderId, password: 'x', prefixes: [`${ip}/32`], rules: [] }
        })
      )
    )

  test('all agents of an order hear of the clients that its list loses, and those of no other', async () => {
    const { ctx } = world
    const [first, mine, other] = [700_001, 700_002, 700_003]
    const kept = await addTestServer(ctx, 'kept', { ranges: ['127.43.0.0/24'] })
    const added = await addTestServer(ctx, 'added', { ranges: ['127.44.0.0/24'] })
    const listing = { access: 'address' as const, attemptsSince: ctx.now() }
    await ctx.db.insert(orderAccess).values([
      { orderId: first, ...listing, clientIps: ['198.51.100.0/24'] },
      { orderId: mine, ...listing, clientIps: ['198.51.100.7/32', '203.0.113.7/32'] }
    ])
    await wantOne({ serverId: added, orderId: first, ip: '127.44.0.1' })
    await wantOne(
      { serverId: kept, orderId: mine, ip: '127.43.0.1' },
      { serverId: kept, orderId: other, ip: '127.43.0.2' }
    )
    await ctx.db.update(agentUsers).set({ appliedGeneration: sql`${agentUsers.generation}` })

    // It has addresses on the one server already, and gets one of the first order's on the other.
    await wantOne({ serverId: added, orderId: mine, ip: '127.44.0.1' })
    const [row] = await ctx.db.select().from(orderAccess).where(eq(orderAccess.orderId, mine))
    expect(row).toMatchObject({ access: 'address', clientIps: ['203.0.113.7/32'] })
    const users = [...(await usersOf(ctx, kept)), ...(await usersOf(ctx, added))]
    const behind = users.filter(user => user.generation !== user.appliedGeneration)
    expect(behind.map(({ serverId, orderId }) => [serverId, orderId])).toEqual([
      [kept, mine],
      [added, mine]
    ])
  })

  test('an agent that cannot let connections leave from other addresses delivers no order that was sold so, until it is another one', async () => {
    const { ctx } = world
    const id = await addTestServer(ctx, 'old', { agent, ranges: ['127.92.0.0/24'] })
    await agent.client.putPrefixes(['127.92.0.0/24'])
    await wantTestUsers(ctx, id, { count: 1, base: '127.92.0' })
    await ctx.db.update(agentUsers).set({ egress: 'session' }).where(eq(agentUsers.serverId, id))
    const [user] = await ctx.db
      .select(withAccess)
      .from(agentUsers)
      .leftJoin(orderAccess, eq(orderAccess.orderId, agentUsers.orderId))
      .where(eq(agentUsers.serverId, id))
    if (!user) throw new Error('it is wanted')
    // Older agents do not know the field, so they do not report it.
    const old: AgentClient = {
      ...agent.client,
      putUser: async (name, body) => {
        const known = { ...body }
        delete known.egress
        return agent.client.putUser(name, known)
      }
    }
    const nothing = { denied: [], allowed: [] }
    const outcome = await applyUser(old, user, nothing)
    expect(outcome).toMatchObject({ kind: 'refused', message: expect.stringContaining('too old') as string })
    expect(await applyUser(old, { ...user, egress: 'fixed' }, nothing)).toMatchObject({ kind: 'applied' })
    await recordOutcomes(ctx, [{ user, outcome }], noOrders(ctx))
    const [row] = await usersOf(ctx, id)
    expect(row).toMatchObject({ refusal: expect.stringContaining('too old') as string, appliedGeneration: 0 })

    await ctx.db.execute(sql`delete from pgboss.job`)
    const told = (version: string) => {
      const health = { status: 'ok' as const, version, workers: 1, uptime_seconds: 5 }
      const info = { epoch: 'e', version: 1, proxy_port: 3128, cidr: [], num_of_users: 0, health }
      return command(ctx, SYSTEM, unit => recordReport(unit, id, info))
    }
    await told('1')
    await told('1')
    expect((await usersOf(ctx, id))[0]?.refusal).not.toBeNull()
    await told('2')
    expect((await usersOf(ctx, id))[0]?.refusal).toBeNull()
    const { rows } = await ctx.db.execute(sql`select 1 from pgboss.job where name = 'converge-server'`)
    expect(rows).toHaveLength(1)
  })
})
