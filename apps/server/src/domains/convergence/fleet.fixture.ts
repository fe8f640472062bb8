import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { desc, eq, sql } from '../../infra/db/drizzle.ts'
import { AGENT_TOKEN, createAgentRunner } from '../../testing/agent-runner.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { createAgentClient, type AgentAddress, type AgentClient } from '../../integrations/agent/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { AuditAction } from '../../infra/audit-log.ts'
import { auditLog } from '../../infra/tables.ts'
import { addGroup, addOrders } from '../inventory/inventory.fixture.ts'
import { activate, assignCidrs, reserve } from '../inventory/index.ts'
import type { ConfirmPort } from './apply-user.ts'
import type { TrafficPorts } from '../traffic/record.ts'
import { setDesiredUsers } from './manage-users.ts'
import { agentTies } from './tables.ts'
import { agentUsers, servers } from '../servers/tables.ts'
import { addRow } from '../../testing/rows.ts'

export type TestAgent = {
  port: number
  proxyPort: number
  token: string
  client: AgentClient
  stop(): Promise<void>
  /** Starts it again on the same ports. */
  start(): Promise<void>
  /** Loses what it had on disk. Stop it first. */
  wipe(): Promise<void>
  close(): Promise<void>
}

/** A real agent, in this process. */
export async function startTestAgent(): Promise<TestAgent> {
  const folder = await mkdtemp(join(tmpdir(), 'netlet-agent-test-'))
  const runner = createAgentRunner(folder)
  await runner.start()
  const { agent: port, proxy: proxyPort } = runner.ports
  return {
    port,
    proxyPort,
    token: AGENT_TOKEN,
    client: ownersClient({ host: '127.0.0.1', port, token: AGENT_TOKEN, certificate: null }),
    start: () => runner.start(),
    stop: () => runner.stop(),
    wipe: () => rm(join(folder, 'agent'), { recursive: true, force: true }),
    async close() {
      await runner.stop()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

/** Changes what the agent holds, as the console that owns it but without its knowledge. */
function ownersClient(address: AgentAddress): AgentClient {
  const plain = createAgentClient(address, 5000)
  const owners = async () => {
    const state = await plain.state()
    const id = state.ok ? state.data.owner?.id : undefined
    return id === undefined ? plain : createAgentClient({ ...address, console: { id } }, 5000)
  }
  return {
    ...plain,
    putUser: async (...args) => (await owners()).putUser(...args),
    deleteUser: async (...args) => (await owners()).deleteUser(...args),
    putPrefixes: async (...args) => (await owners()).putPrefixes(...args),
    putProxyTls: async (...args) => (await owners()).putProxyTls(...args)
  }
}

/** The whole shop, because the fleet takes ports of other domains. It runs no jobs: tests run the work themselves. */
export const startFleetShop = (): Promise<TestShop> => startTestShop({})

/** An earlier test's agent holds users. Its mark is stored, or the new server would plan a repair first. */
async function adopt({ tx }: Unit, serverId: number, agent?: TestAgent): Promise<void> {
  const state = await agent?.client.state()
  const mark = state?.ok ? state.data.owner?.mark : undefined
  if (mark !== undefined) await tx.insert(agentTies).values({ serverId, mark })
}

/** A server with these ranges. Without an agent, nothing answers there. */
export async function addTestServer(
  ctx: AppContext,
  name: string,
  { agent, ranges = [] }: { agent?: TestAgent; ranges?: string[] } = {}
): Promise<number> {
  return command(ctx, SYSTEM, async unit => {
    const row = await addRow(unit, servers, {
      name,
      ip: '127.0.0.1',
      agentPort: agent?.port ?? 9,
      proxyPort: agent?.proxyPort ?? 3128,
      agentToken: agent ? ctx.secrets.seal(agent.token) : null
    })
    const assigned = await assignCidrs(unit, row.id, ranges)
    if (!assigned.ok) throw new Error(assigned.reason)
    await adopt(unit, row.id, agent)
    return row.id
  })
}

/** Wants `count` users on a server, one address of `127.x.y.0/24` each: as orders, or by hand without `orderId`. */
export async function wantTestUsers(
  ctx: AppContext,
  serverId: number,
  {
    count,
    base,
    orderId = null,
    rules = []
  }: { count: number; base: string; orderId?: number | null; rules?: number[] }
): Promise<string[]> {
  const users = Array.from({ length: count }, (_, n) => ({
    serverId,
    username: `u${base.replaceAll('.', '')}n${n}`,
    orderId,
    password: `secret${n}`,
    prefixes: [`${base}.${n}/32`],
    rules
  }))
  await command(ctx, SYSTEM, unit => setDesiredUsers(unit, users))
  return users.map(user => user.username)
}

export async function serverRow(ctx: AppContext, id: number): Promise<typeof servers.$inferSelect> {
  const [row] = await ctx.db.select().from(servers).where(eq(servers.id, id))
  if (!row) throw new Error('no such server')
  return row
}

/** Usernames that an agent holds. */
export async function heldBy(agent: TestAgent): Promise<string[]> {
  const state = await agent.client.state()
  if (!state.ok) throw new Error(state.message)
  return state.data.users.map(user => user.user).toSorted()
}

export const usersOf = (ctx: AppContext, serverId: number) =>
  ctx.db.select().from(agentUsers).where(eq(agentUsers.serverId, serverId))

/** For converging without orders that have to go on. */
export const noOrders =
  (ctx: AppContext): ConfirmPort =>
  (_orderIds, write) =>
    command(ctx, SYSTEM, write)

/** For counting traffic without notices; orders are known by their users only. */
export const untold: TrafficPorts = { ordersOf: () => Promise.resolve(new Map()), notifyQuota: () => Promise.resolve() }

/** Leases one address of a server to a new order. */
export async function leaseOn(ctx: AppContext, serverId: number, rule: number): Promise<number> {
  const groupId = await addGroup(ctx.db, `leases of ${serverId}`, [serverId])
  const [orderId = 0] = await addOrders(ctx.db, groupId, 1)
  await ctx.db.transaction(async tx => {
    const reserved = await reserve(tx, { orderId, groupId, step: 1, rules: [rule], quantity: 1 })
    if (!reserved.ok) throw new Error(reserved.reason)
    await activate(tx, orderId)
  })
  return orderId
}

/** The order's number, as refusals name it. */
export async function numberOf({ db }: AppContext, orderId: number): Promise<string> {
  const { rows } = await db.execute<{ number: string }>(
    sql`select order_id as number from orders where id = ${orderId}`
  )
  return rows[0]?.number ?? ''
}

/** The audit log's entries of an action, newest first. */
export const audited = (ctx: AppContext, action: AuditAction) =>
  ctx.db.select().from(auditLog).where(eq(auditLog.action, action)).orderBy(desc(auditLog.id))

/**
 * Opens a tunnel through a proxy to a port of this machine.
 * @param proxy `login` as user:password
 * @returns the client's socket
 */
export function openTunnel(proxy: { host: string; port: number; login: string }, port: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const { host, login } = proxy
  const headers = { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }
  const asked = request({ host, port: proxy.port, method: 'CONNECT', path: `127.0.0.1:${port}`, headers, agent: false })
  asked.on('connect', (response, socket: Socket) => {
    socket.on('error', () => {})
    if (response.statusCode === 200) resolve(socket)
    else reject(new Error(`CONNECT answered ${response.statusCode}`))
  })
  asked.on('error', reject)
  asked.end()
  return promise
}
