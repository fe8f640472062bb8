// Two consoles with one agent, and a console whose database is older than its agent's state.
import type { RepairPlan, Server } from '@netlet/contract'
import { eq, sql } from '../../../infra/db/drizzle.ts'
import { expect, onTestFinished, test } from 'vitest'
import type { TestShop } from '../../../testing/shop.ts'
import { convergeServer } from '../converge.ts'
import {
  addTestServer,
  audited,
  heldBy,
  noOrders,
  serverRow,
  startFleetShop,
  startTestAgent,
  usersOf,
  wantTestUsers
} from '../fleet.fixture.ts'
import { checkServers } from '../check-servers.ts'
import { repairServer } from '../repair.ts'
import { agentTies } from '../tables.ts'
import { agentUsers } from '../../servers/tables.ts'
import { useStarted } from '../../../testing/use-started.ts'
import { readConsole } from './claim-agent.ts'

const ours = useStarted(startFleetShop)
const theirs = useStarted(startFleetShop)
const agent = useStarted(startTestAgent)

const converge = (world: TestShop, id: number) => convergeServer(world.ctx, id, noOrders(world.ctx))
const tieOf = async (id: number) => {
  const [tie] = await ours.ctx.db.select().from(agentTies).where(eq(agentTies.serverId, id))
  return tie
}
const waiting = async (id: number) =>
  (await ours.admin()).get<RepairPlan | null>(`/api/servers/servers/${id}/repair_plan/`)

async function addServer(world: TestShop, name: string, base: string, count: number, at = agent) {
  const id = await addTestServer(world.ctx, name, { agent: at, ranges: [`${base}.0/24`] })
  const users = await wantTestUsers(world.ctx, id, { count, base })
  return { id, users: users.toSorted() }
}

test('an older agent without an owner is adopted with what it holds', async () => {
  const { id, users } = await addServer(ours, 'first', '127.81.1', 3)
  await agent.client.putPrefixes(['127.81.1.0/24'])
  await agent.client.putUser('kept', { password: 'x', prefixes: ['127.81.1.99/32'], denied_domains: [] })
  await converge(ours, id)
  const state = await agent.client.state()
  const console = await readConsole(ours.ctx)
  expect(state.ok && state.data.owner).toMatchObject({ ...console, server: String(id), mark: (await tieOf(id))?.mark })
  // The usual limit still holds: a few unknown users are removed.
  expect(await repairServer(ours.ctx, id)).toMatchObject({ kind: 'compared', removed: ['kept'] })
  expect(await heldBy(agent)).toEqual(users)
})

test('another console changes nothing, names the agent’s owner, and takes the agent over only by an administrator', async () => {
  // An agent of its own, because the other tests' agent stays this console's.
  const agent = await startTestAgent()
  onTestFinished(() => agent.close())
  const { id: ourId, users } = await addServer(ours, 'contested', '127.81.2', 3, agent)
  await converge(ours, ourId)
  await repairServer(ours.ctx, ourId)
  const held = await heldBy(agent)
  const { id, users: theirUsers } = await addServer(theirs, 'contested', '127.81.2', 2, agent)
  const [first = ''] = theirUsers
  await theirs.ctx.db.update(agentUsers).set({ password: 'another' }).where(eq(agentUsers.username, first))
  const console = await readConsole(ours.ctx)
  expect(console.id).not.toBe((await readConsole(theirs.ctx)).id)

  await checkServers(theirs.ctx)
  const trouble = { trouble: 'foreign_console', troubleParams: { name: console.name, owner: console.id } }
  expect(await serverRow(theirs.ctx, id)).toMatchObject(trouble)
  await expect(converge(theirs, id)).rejects.toThrow('The agent belongs to another console')
  expect(await repairServer(theirs.ctx, id)).toEqual({ kind: 'foreign' })
  expect(await serverRow(theirs.ctx, id)).toMatchObject(trouble)
  const admin = await theirs.admin()
  const path = `/api/servers/servers/${id}/`
  const raw = await admin.post(`${path}request_api/`, { uri: '/api/delete-all-users', json_input: {} })
  expect(raw).toMatchObject({ data: { status: 409, output: { reason: 'foreignConsole', owner: { id: console.id } } } })
  expect((await admin.post(`${path}delete_user/`, { username: users[2] })).code).toBe(503)
  expect(await heldBy(agent)).toEqual(held)

  // It is taken from the owner that was shown. That alone removes nothing.
  expect((await admin.post(`${path}take_over/`, { owner: 'another' })).code).toBe(409)
  const support = await theirs.customer()
  expect((await support.post(`${path}take_over/`, { owner: console.id })).code).toBe(403)
  expect(await audited(theirs.ctx, 'server.take_over')).toEqual([])
  expect((await admin.post(`${path}take_over/`, { owner: console.id })).code).toBe(2000)
  expect(await audited(theirs.ctx, 'server.take_over')).toMatchObject([
    { targetId: String(id), before: { console: { id: console.id } } }
  ])
  expect(await heldBy(agent)).toEqual(held)
  const shown = await admin.get<RepairPlan>(`${path}repair_plan/`)
  expect(shown.data).toMatchObject({ removed: { count: 1 }, changed: { count: 1, users: [first] } })
  const server = await admin.get<Server>(path)
  expect(server.data.trouble).toEqual({ code: 'older_console', params: { removed: 1, changed: 1, ranges: 0 } })
  expect((await admin.post(`${path}approve_plan/`, { digest: shown.data.digest })).code).toBe(2000)
  await converge(theirs, id)
  expect(await heldBy(agent)).toEqual(theirUsers)
  expect((await serverRow(theirs.ctx, id)).trouble).toBeNull()

  // The console that lost it does not take it back.
  expect(await repairServer(ours.ctx, ourId)).toEqual({ kind: 'foreign' })
  expect((await serverRow(ours.ctx, ourId)).troubleParams).toMatchObject({ owner: (await readConsole(theirs.ctx)).id })
  const back = await ours.admin()
  const owner = (await readConsole(theirs.ctx)).id
  expect((await back.post(`/api/servers/servers/${ourId}/take_over/`, { owner })).code).toBe(2000)
  const plan = await waiting(ourId)
  await back.post(`/api/servers/servers/${ourId}/approve_plan/`, { digest: plan.data?.digest })
  await converge(ours, ourId)
  expect(await heldBy(agent)).toEqual(users)
})

/** Saves the state of one server in the database, to be restored. */
async function backUp(id: number) {
  const users = await usersOf(ours.ctx, id)
  const tie = await tieOf(id)
  return async () => {
    await ours.ctx.db.delete(agentUsers).where(eq(agentUsers.serverId, id))
    if (users.length > 0) await ours.ctx.db.insert(agentUsers).values(users)
    await ours.ctx.db
      .update(agentTies)
      .set(tie ?? {})
      .where(eq(agentTies.serverId, id))
  }
}

test('after a restore nothing is removed or changed before an administrator has seen what', async () => {
  const others = await audited(ours.ctx, 'server.approve_plan')
  const { id, users } = await addServer(ours, 'restored', '127.81.4', 2)
  await converge(ours, id)
  await repairServer(ours.ctx, id)
  const restore = await backUp(id)
  const later = await wantTestUsers(ours.ctx, id, { count: 5, base: '127.81.4' })
  const password = { password: 'changed', generation: sql`nextval('agent_generation')` }
  await ours.ctx.db
    .update(agentUsers)
    .set(password)
    .where(eq(agentUsers.username, users[0] ?? ''))
  await converge(ours, id)
  const before = await agent.client.state()

  await restore()
  // Three unknown users are far below the limit of removals, and still wait.
  expect(await repairServer(ours.ctx, id)).toMatchObject({ kind: 'planned' })
  await wantTestUsers(ours.ctx, id, { count: 1, base: '127.81.4' })
  await expect(converge(ours, id)).rejects.toThrow('data that this console does not know')
  await repairServer(ours.ctx, id)
  const after = await agent.client.state()
  expect(after.ok && after.data.users).toEqual(before.ok && before.data.users)
  const { data: plan } = await waiting(id)
  expect(plan).toMatchObject({ removed: { count: 3, users: later.slice(2).toSorted() }, changed: { count: 1 } })
  expect((await serverRow(ours.ctx, id)).trouble).toBe('older_console')

  // Only what was shown is approved.
  const admin = await ours.admin()
  const approve = (digest = '') => admin.post(`/api/servers/servers/${id}/approve_plan/`, { digest })
  expect((await approve('0'.repeat(64))).code).toBe(409)
  await agent.client.putUser('another', { password: 'x', prefixes: ['127.81.4.77/32'], denied_domains: [] })
  expect(await approve(plan?.digest)).toMatchObject({
    code: 2000,
    data: { output: { waiting: { removed: { count: 4 } } } }
  })
  expect(await heldBy(agent)).toHaveLength(6)
  const again = await waiting(id)
  const done = await approve(again.data?.digest)
  expect(done).toMatchObject({ data: { output: { kind: 'compared', waiting: 0 } } })
  await converge(ours, id)
  expect(await heldBy(agent)).toEqual(users)
  expect((await waiting(id)).data).toBeNull()
  expect((await serverRow(ours.ctx, id)).trouble).toBeNull()
  expect(await audited(ours.ctx, 'server.approve_plan')).toMatchObject([
    { after: { removed: { count: 4 } } },
    { after: { removed: { count: 3 } } },
    ...others
  ])
})

test('a second server of the same agent, or a server whose row was made again, removes no users without approval', async () => {
  const agent = await startTestAgent()
  onTestFinished(() => agent.close())
  const first = await addServer(ours, 'entered', '127.81.7', 4, agent)
  await converge(ours, first.id)
  const second = await addServer(ours, 'entered again', '127.81.8', 1, agent)
  // This row has never sent it anything.
  await ours.ctx.db.delete(agentTies).where(eq(agentTies.serverId, second.id))
  expect(await repairServer(ours.ctx, second.id)).toMatchObject({ kind: 'planned' })
  await expect(converge(ours, second.id)).rejects.toThrow('data that this console does not know')
  expect(await heldBy(agent)).toEqual(first.users)
  expect((await waiting(second.id)).data).toMatchObject({ removed: { count: 4, users: first.users } })
  expect(await repairServer(ours.ctx, first.id)).toMatchObject({ kind: 'compared', removed: [] })
})

test('a restore after which the agent only lacks something goes on by itself', async () => {
  const { id, users } = await addServer(ours, 'harmless', '127.81.5', 1)
  await converge(ours, id)
  await repairServer(ours.ctx, id)
  // Its ranges are those of this server alone, once nothing of the others is left.
  await converge(ours, id)
  await ours.ctx.db.update(agentTies).set({ mark: 'forgotten' }).where(eq(agentTies.serverId, id))
  await agent.client.deleteUser(users[0] ?? '')
  expect(await repairServer(ours.ctx, id)).toMatchObject({ kind: 'compared', renewed: 1, removed: [] })
  await converge(ours, id)
  expect(await heldBy(agent)).toEqual(users)
})

test('a mark whose answer was lost is no restore, and repairs at once agree', async () => {
  const { id } = await addServer(ours, 'interrupted', '127.81.6', 1)
  await converge(ours, id)
  const mark = (await tieOf(id))?.mark
  // The agent confirmed it, and the process died before it stored that.
  await ours.ctx.db.update(agentTies).set({ mark: 'before', nextMark: mark }).where(eq(agentTies.serverId, id))
  expect(await repairServer(ours.ctx, id)).toMatchObject({ kind: 'compared' })
  const repairs = await Promise.all([1, 2, 3].map(() => repairServer(ours.ctx, id, 10_000)))
  expect(repairs.map(({ kind }) => kind)).toEqual(['compared', 'compared', 'compared'])
  const state = await agent.client.state()
  expect(state.ok && state.data.owner?.mark).toBe((await tieOf(id))?.mark)
  // An agent that lost its disk has no owner, and is filled again.
  await agent.stop()
  await agent.wipe()
  await agent.start()
  expect(await repairServer(ours.ctx, id)).toMatchObject({ kind: 'compared', renewed: 1 })
})
