import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { eq, inArray, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test, onTestFinished } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import { startJobs } from '../../infra/job.ts'
import { convergeFailing, convergeHealthy } from './converge-retries.ts'
import { enqueueConverge } from '../servers/desired/desired-users.ts'
import {
  addTestServer,
  heldBy,
  noOrders,
  serverRow,
  startFleetShop,
  startTestAgent,
  wantTestUsers
} from './fleet.fixture.ts'
import { checkServers } from './check-servers.ts'
import { convergenceJobs } from './index.ts'
import { servers } from '../servers/tables.ts'
import { useStarted } from '../../testing/use-started.ts'

const world = useStarted(startFleetShop)
const agent = useStarted(startTestAgent)
/** Accepts connections and never answers. */
let hole: Server
let tries = 0

beforeAll(async () => {
  hole = createServer(socket => {
    tries++
    socket.on('error', () => {}).resume()
  }).listen(0, '127.0.0.1')
  await once(hole, 'listening')
})

afterAll(async () => {
  hole?.close()
})

async function addHanging(name: string, base: string): Promise<number> {
  const id = await addTestServer(world.ctx, name, { agent, ranges: [`${base}.0/24`] })
  // It was there until now.
  const { port } = hole.address() as AddressInfo
  await world.ctx.db.update(servers).set({ agentPort: port, connected: true }).where(eq(servers.id, id))
  await wantTestUsers(world.ctx, id, { count: 1, base })
  return id
}

const waitingTries = async (id: number) => {
  const { rows } = await world.ctx.db.execute<{ key: string; pause: number }>(sql`
    select singleton_key as key, round(extract(epoch from start_after - created_on))::int as pause from pgboss.job
    where name = 'converge-failing-server' and data ->> 'serverId' = ${String(id)} and state = 'created' order by created_on`)
  return rows
}

test('a server that failed is left to its own queue, tried after growing pauses, and at once when it is back', async () => {
  const { ctx } = world
  const id = await addHanging('hanging', '127.58.0')
  await convergeHealthy(ctx, id, noOrders(ctx), 100)
  const first = await serverRow(ctx, id)
  expect(first).toMatchObject({ failedTries: 1, trouble: 'changes_failing' })
  expect(first.failingSince).not.toBeNull()
  expect(await waitingTries(id)).toMatchObject([{ key: String(id) }])

  const before = tries
  for (let n = 0; n < 5; n++) await convergeHealthy(ctx, id, noOrders(ctx))
  // Not even by its own job, before its time.
  await ctx.db
    .update(servers)
    .set({ nextTryAt: new Date(ctx.now().getTime() + MINUTE) })
    .where(eq(servers.id, id))
  await convergeFailing(ctx, id, noOrders(ctx))
  expect(tries).toBe(before)
  expect(await waitingTries(id)).toHaveLength(1)

  for (const pause of [2, 4, 8]) {
    await ctx.db.update(servers).set({ nextTryAt: null, agentPort: 9 }).where(eq(servers.id, id))
    // The pause counts from the try, which happened at some moment after this.
    const before = ctx.now().getTime()
    await convergeFailing(ctx, id, noOrders(ctx))
    const nextTry = (await serverRow(ctx, id)).nextTryAt?.getTime() ?? 0
    expect(nextTry).toBeGreaterThanOrEqual(before + pause * 1000)
    expect(nextTry).toBeLessThanOrEqual(ctx.now().getTime() + pause * 1000)
  }

  await checkServers(ctx)
  await ctx.db.update(servers).set({ agentPort: agent.port }).where(eq(servers.id, id))
  await checkServers(ctx)
  await convergeHealthy(ctx, id, noOrders(ctx))
  expect((await waitingTries(id)).map(({ key }) => key)).toContain(`${id}:now`)
  await convergeFailing(ctx, id, noOrders(ctx))
  expect(await heldBy(agent)).toContain('u127580n0')
  expect(await serverRow(ctx, id)).toMatchObject({ failingSince: null, failedTries: 0, nextTryAt: null, trouble: null })
})

test('changes for a server that answers do not wait for any number of servers that hang', async () => {
  const { ctx } = world
  // An agent of its own: a server of an earlier test may still get changes.
  const agent = await startTestAgent()
  onTestFinished(() => agent.close())
  const hanging: number[] = []
  for (let n = 0; n < 18; n++) hanging.push(await addHanging(`dead ${n}`, `127.59.${n}`))
  const healthy = await addTestServer(ctx, 'healthy', { agent, ranges: ['127.60.0.0/24'] })
  const ask = () => command(ctx, SYSTEM, async unit => enqueueConverge(unit, hanging))
  tries = 0
  await startJobs(
    ctx,
    convergenceJobs({ confirm: noOrders, probeMs: 100 }).filter(({ queue }) => queue.name.startsWith('converge'))
  )
  await ask()
  await expect
    .poll(() => ctx.db.$count(servers, sql`${inArray(servers.id, hanging)} and ${servers.failingSince} is null`), {
      timeout: 60_000
    })
    .toBe(0)
  for (let n = 0; n < 2; n++) {
    const before = tries
    await ask()
    const [user = ''] = await wantTestUsers(ctx, healthy, { count: 1, base: `127.60.0` })
    await expect.poll(async () => (await heldBy(agent)).includes(user), { timeout: 30_000 }).toBe(true)
    // As many as their own workers began in that time.
    expect(tries - before).toBeLessThanOrEqual(8)
    await agent.client.deleteUser(user)
  }
}, 120_000)
