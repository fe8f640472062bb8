// How the proxies of servers are tried that may not serve, or that are behind a forwarded port.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { eq } from '../../infra/db/drizzle.ts'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { createAgentClient } from '../../integrations/agent/index.ts'
import { startTestShop } from '../../testing/shop.ts'
import { useStarted } from '../../testing/use-started.ts'
import { convergeServer } from './converge.ts'
import { addTestServer, heldBy, noOrders, serverRow, startTestAgent } from './fleet.fixture.ts'
import { checkServers } from './check-servers.ts'
import { repairServer } from './repair.ts'
import { servers } from '../servers/tables.ts'

// No proxy reaches these sites, and each fails at once.
const site = 'http://127.0.0.1:9'
const checkSites = { google: site, bing: site, amazon: site }
const world = useStarted(() => startTestShop({ config: { checkSites } }))
const agent = useStarted(startTestAgent)
const forwarded = useStarted(() => startForwarding(agent.proxyPort))
let id: number

beforeAll(async () => {
  id = await addTestServer(world.ctx, 'forwarded', { agent, ranges: ['127.78.0.0/28'] })
  await convergeServer(world.ctx, id, noOrders(world.ctx))
})
beforeEach(async () => {
  forwarded.reset()
  await set({ proxyPort: forwarded.port, offline: false, unservedSince: null, trouble: null, troubleParams: null })
})

const set = (columns: Partial<typeof servers.$inferInsert>) =>
  world.ctx.db.update(servers).set(columns).where(eq(servers.id, id))
const row = () => serverRow(world.ctx, id)
const serving = { trouble: null, offline: false, unservedSince: null }

/** A port that forwards connections to `to` at the same address. */
async function startForwarding(to: number) {
  const sockets = new Set<Socket>()
  const during: { lost: number; arrived: () => void; open: Promise<void> } = {
    lost: 0,
    arrived: () => {},
    open: Promise.resolve()
  }
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const goOn = async (socket: Socket) => {
    await during.open
    const onward = connect({ host: (socket.localAddress ?? '').replace('::ffff:', ''), port: to })
    keep(onward)
    onward.on('close', () => socket.destroy())
    socket.pipe(onward).pipe(socket)
  }
  const server = createServer(socket => {
    keep(socket)
    during.arrived()
    if (during.lost-- > 0) return void socket.destroy()
    void goOn(socket)
  })
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    during,
    reset: () => Object.assign(during, { lost: 0, arrived: () => {}, open: Promise.resolve() }),
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    }
  }
}

test('a repair removes nothing from an agent whose proxy is being tried, and goes on after that', async () => {
  const [arrived, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  Object.assign(forwarded.during, { arrived: arrived.resolve, open: opened.promise })
  const checked = checkServers(world.ctx)
  await arrived.promise
  expect(await repairServer(world.ctx, id)).toEqual({ kind: 'busy' })
  const repaired = repairServer(world.ctx, id, 10_000)
  opened.resolve()
  await checked
  expect(await row()).toMatchObject(serving)
  expect(await repaired).toMatchObject({ kind: 'compared', removed: [] })
})

test('the user of a try whose process died is removed by the next repair', async () => {
  const user = 'netlet-check-000000000000'
  await agent.client.raw('POST', '/api/create-user-by-prefix', { user, prefix: '127.78.0.0/32' })
  expect(await heldBy(agent)).toContain(user)
  expect(await repairServer(world.ctx, id)).toMatchObject({ removed: [user] })
})

test('a request that is lost once takes no server out of stock; a proxy that stays silent does', async () => {
  forwarded.during.lost = 3
  await checkServers(world.ctx)
  expect(await row()).toMatchObject(serving)
  forwarded.during.lost = Infinity
  await checkServers(world.ctx)
  expect(await row()).toMatchObject({ trouble: 'other_port', offline: true })
})

const versionOf = async () => {
  const state = await agent.client.state()
  return state.ok ? state.data.version : null
}

test('an agent that waits for an approval is sent no user of a check', async () => {
  const waiting = { trouble: 'older_console' as const, troubleParams: { removed: 1, changed: 0, ranges: 0 } }
  await set({ ...waiting, offline: true, unservedSince: world.ctx.now() })
  const before = await versionOf()
  await checkServers(world.ctx)
  expect(await versionOf()).toBe(before)
  expect(await row()).toMatchObject({ ...waiting, offline: true, unservedSince: expect.any(Date) as Date })
})

test("another console's agent is sent no user of a check, and does not put the server on sale again", async () => {
  const state = await agent.client.state()
  const ours = state.ok && state.data.owner ? state.data.owner.id : ''
  const [theirs, mark] = ['11111111-0000-4000-8000-000000000000', '0123456789abcdef']
  const address = { host: '127.0.0.1', port: agent.port, token: agent.token, certificate: null }
  const client = createAgentClient({ ...address, console: { id: theirs, mark } }, 5000)
  const claim = { id: theirs, name: 'Other shop', server: '1', mark, known: [], take_over_from: ours }
  expect(await client.claim(claim)).toMatchObject({ kind: 'granted' })

  await set({ offline: true, unservedSince: world.ctx.now(), trouble: 'not_served', troubleParams: {} })
  const before = await versionOf()
  await checkServers(world.ctx)
  expect(await versionOf()).toBe(before)
  const foreign = { trouble: 'foreign_console', offline: true }
  expect(await row()).toMatchObject({ ...foreign, unservedSince: expect.any(Date) as Date })
  // Not even if it was out of stock because it was silent.
  await set({ unservedSince: null, connected: false, failures: 20, trouble: 'unreachable', troubleParams: {} })
  await checkServers(world.ctx)
  expect(await row()).toMatchObject({ ...foreign, connected: true })
})
