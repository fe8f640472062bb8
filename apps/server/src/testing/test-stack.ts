import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Agent } from '../../../agent/src/agent.ts'
import { sql } from '../infra/db/drizzle.ts'
import { startSandbox, type Sandbox } from '../../../sandbox/src/sandbox.ts'
import { createHttpApp } from '../app.ts'
import { createUser, SESSION_COOKIE } from '../domains/accounts/index.ts'
import { products, variants } from '../domains/catalog/tables.ts'
import { renewPrefixes } from '../domains/servers/index.ts'
import { serverGroups, serverGroupServers, servers } from '../domains/servers/tables.ts'
import { assignCidrs, createRule } from '../domains/inventory/index.ts'
import { writeSettings } from '../domains/settings/index.ts'
import { openApp } from '../open-app.ts'
import { readConfig } from '../infra/config.ts'
import { SYSTEM } from '../infra/actor.ts'
import { command, type Unit } from '../infra/command.ts'
import type { AppContext } from '../infra/context.ts'
import { AGENT_TOKEN, createAgentRunner, type AgentRunner } from './agent-runner.ts'
import { createTestClient, type TestClient } from './client.ts'
import { createTestDatabase } from './database.ts'
import { createJobRunner } from './drain.ts'
import { freePort } from './free-ports.ts'
import { allJobs } from '../workers.ts'
import { addSession } from './session.ts'
import { addRow } from './rows.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const APP_SECRET = 'a secret of the tests and of nothing else'

export type ShopProcess = { url: string; port: number; kill(): Promise<void>; stop(): Promise<void> }

/**
 * A whole shop with database, stand-in platform and one agent. The shop runs in this process, and tests drain its jobs;
 * tests that kill processes ask for processes.
 */
export type TestStack = {
  /** The test's own connection to database and job queue. It runs no jobs. */
  ctx: AppContext
  /**
   * Runs the jobs that are due until none is left; nothing if shops have their own processes. @returns their queues in
   * order
   */
  drain(): Promise<string[]>
  /** Drains until `check` returns a value; after the deadline it throws an error with `what`. */
  eventually<T>(what: string, check: () => Promise<T>, deadlineMs?: number): Promise<NonNullable<T>>
  /** The environment of its shop processes. */
  env: Record<string, string>
  platform: Sandbox
  agent: Agent
  productId: number
  /** Ids of the access rules, one domain each: rule1.test, rule2.test, … */
  rules: number[]
  serverId: number
  groupId: number
  /** @param port by default the port of PUBLIC_URL for the first process, any (0) for others */
  startShop(mode?: 'serve' | 'worker' | 'all', port?: number): Promise<ShopProcess>
  stopAgent(): Promise<void>
  restartAgent(): Promise<void>
  /** Adds a server to the same group, with its own agent. */
  addServer(range: string): Promise<AgentRunner>
  customer(url: string, name: string): Promise<TestClient>
  admin(url: string, name: string): Promise<TestClient>
  close(): Promise<void>
}

export type TestStackOptions = {
  /** The range of the server, within 127.0.0.0/8. */
  range: string
  cartStep?: number
  ruleCount?: number
  price?: string
  /** Replaces the copy of the template by a migrated, empty database, which `close` also drops. */
  database?: { url: string; drop(): Promise<void> }
  env?: Record<string, string>
  /** Each shop is a process, and workers run jobs on their own. */
  processes?: boolean
}

/** `close()` it in `afterAll`. */
export async function startTestStack({
  range,
  cartStep = 8,
  ruleCount = 3,
  price = '2.00',
  processes = false,
  ...options
}: TestStackOptions): Promise<TestStack> {
  const ends: (() => Promise<unknown>)[] = []
  const dataDir = await mkdtemp(join(tmpdir(), 'netlet-stack-'))
  ends.push(() => rm(dataDir, { recursive: true, force: true }))
  const database = options.database ?? (await createTestDatabase())
  ends.push(() => database.drop())
  const publicPort = await freePort()
  const env = {
    PATH: process.env['PATH'] ?? '',
    DATABASE_URL: database.url,
    APP_SECRET,
    PORT: '0',
    HOST: '127.0.0.1',
    // The target of the platform's webhooks: the first shop process listens there.
    PUBLIC_URL: `http://127.0.0.1:${publicPort}`,
    LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'silent',
    NETLET_DEMO: '1',
    ...options.env
  }
  const { ctx, close } = await openApp(readConfig(env), { worker: false })
  ends.push(close)
  await leaveToTests(ctx)

  const agent = createAgentRunner(dataDir)
  await agent.start()
  ends.push(() => agent.stop())

  const runner = createJobRunner(ctx, allJobs)
  ends.push(() => runner.close())
  const shops: ShopProcess[] = []
  let isFirst = true
  ends.push(async () => {
    for (const shop of shops) await shop.kill()
  })
  const platform = await startSandbox({
    port: 0,
    dataDir,
    shopUrl: env.PUBLIC_URL,
    accessToken: 'platform token',
    appSecret: 'platform secret',
    discordClientId: 'test',
    discordClientSecret: 'test',
    // 19 tries in about 95 s: even on a slow machine a killed shop restarts faster.
    webhookBackoff: tries => (tries <= 10 ? 500 : 10_000)
  })
  ends.push(() => platform.close())

  const stocked = await stock(ctx, {
    range,
    cartStep,
    ruleCount,
    price,
    agentPorts: agent.ports,
    platformUrl: platform.url
  })
  return {
    ctx,
    env,
    platform,
    get agent() {
      return agent.agent
    },
    ...stocked,
    drain: () => (processes ? Promise.resolve([]) : runner.drain()),
    eventually: (what, check, deadlineMs) =>
      eventually(
        what,
        async () => {
          if (!processes) await runner.drain()
          return check()
        },
        deadlineMs
      ),
    async startShop(mode = 'all', port = isFirst ? publicPort : 0) {
      isFirst = false
      const shop = processes ? await startProcess({ ...env, PORT: String(port) }, mode) : await startInside(ctx, port)
      shops.push(shop)
      if (!processes && mode !== 'serve') await runner.atStart()
      return shop
    },
    stopAgent: () => agent.stop(),
    restartAgent: () => agent.start(),
    async addServer(range) {
      const dir = await mkdtemp(join(tmpdir(), 'netlet-stack-'))
      ends.push(() => rm(dir, { recursive: true, force: true }))
      const another = createAgentRunner(dir)
      await another.start()
      ends.push(() => another.stop())
      await command(ctx, SYSTEM, unit => ownServer(unit, ctx, stocked.groupId, { range, agentPorts: another.ports }))
      return another
    },
    customer: (url, name) => signedIn(ctx, url, name, false),
    admin: (url, name) => signedIn(ctx, url, name, true),
    async close() {
      for (const stop of ends.toReversed()) await stop()
    }
  }
}

/**
 * Prevents scheduled jobs that ask the platform in the middle of a test: the hourly reading would take over the
 * stand-in's prices, and the reconciliation would find what a test withholds from the shop.
 */
async function leaveToTests({ db }: AppContext): Promise<void> {
  await db.execute(sql`create function leave_to_tests() returns trigger language plpgsql as 'begin return null; end'`)
  await db.execute(sql`create trigger leave_to_tests before insert on pgboss.schedule for each row
    when (new.name like 'read-platform-%' or new.name like 'reconcile-%') execute function leave_to_tests()`)
}

/** A shop in this process. */
async function startInside(ctx: AppContext, port: number): Promise<ShopProcess> {
  const app = await createHttpApp(ctx)
  await app.listen({ host: '127.0.0.1', port })
  const address = app.server.address() as AddressInfo
  const stop = async () => {
    app.server.closeAllConnections()
    await app.close()
  }
  return { url: `http://127.0.0.1:${address.port}`, port: address.port, kill: stop, stop }
}

async function startProcess(env: Record<string, string>, mode: string): Promise<ShopProcess> {
  const child = fork(main, [mode], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error('The shop ended while it started')
    })
  ])) as [{ port?: number }]
  return {
    url: `http://127.0.0.1:${message.port}`,
    port: message.port ?? 0,
    kill: () => end(child, 'SIGKILL'),
    stop: () => end(child, 'SIGTERM')
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
}

type Stock = Required<Omit<TestStackOptions, 'database' | 'env' | 'processes'>> & {
  agentPorts: AgentRunner['ports']
  platformUrl: string
}

/** One server with one range, one plan with one variant, and some access rules. */
async function stock(ctx: AppContext, { range, cartStep, ruleCount, price, agentPorts, platformUrl }: Stock) {
  await writeSettings(ctx, {
    shopify_shop_url: platformUrl,
    shopify_app_key: 'platform token',
    shopify_api_secret: 'platform secret',
    max_unpaid_orders: 1000,
    max_unpaid_addresses: 1_000_000,
    max_new_customer_addresses: 1_000_000,
    // Payments on the stand-in's checkout are test payments.
    accept_test_payments: true
  })
  return command(ctx, SYSTEM, async unit => {
    const group = await addRow(unit, serverGroups, { name: 'here' })
    const serverId = await ownServer(unit, ctx, group.id, { range, agentPorts })
    const rules: number[] = []
    for (let n = 1; n <= ruleCount; n++) {
      const made = await createRule(unit, {
        name: `Rule ${n}`,
        description: '',
        price: '0.50',
        // The stand-in's variant ids of its access rules.
        platformVariantId: String(720000000010_00 + n),
        aclValue: `rule${n}.test`
      })
      if (!made.ok) throw new Error(made.reason)
      rules.push(made.rule.id)
    }
    const product = await addRow(unit, products, { platformId: '720000000001', name: 'Metro ISP' })
    await addRow(unit, variants, {
      productId: product.id,
      platformId: '72000000000101',
      name: 'New York',
      option1: 'New York',
      price,
      cartStep,
      serverGroupId: group.id
    })
    return { productId: product.id, rules, serverId, groupId: group.id }
  })
}

async function ownServer(
  unit: Unit,
  ctx: AppContext,
  groupId: number,
  { range, agentPorts }: { range: string; agentPorts: AgentRunner['ports'] }
): Promise<number> {
  const server = await addRow(unit, servers, {
    name: `agent of ${range}`,
    ip: '127.0.0.1',
    agentPort: agentPorts.agent,
    proxyPort: agentPorts.proxy,
    agentToken: ctx.secrets.seal(AGENT_TOKEN)
  })
  await unit.tx.insert(serverGroupServers).values({ groupId, serverId: server.id })
  const assigned = await assignCidrs(unit, server.id, [range])
  if (!assigned.ok) throw new Error(assigned.reason)
  await renewPrefixes(unit, server.id)
  return server.id
}

async function signedIn(ctx: AppContext, url: string, name: string, isSuperuser: boolean): Promise<TestClient> {
  const user = { username: name, email: `${name}@example.com`, password: 'Harbour#2026', isSuperuser }
  const made = await createUser(ctx, SYSTEM, user)
  if (!made.ok) throw new Error(made.reason)
  const client = createTestClient(url)
  client.cookies.set(SESSION_COOKIE, await addSession(ctx, made.data.id))
  return client
}

/** Waits until `check` returns a value; after the deadline it throws an error with `what`. */
export async function eventually<T>(
  what: string,
  check: () => Promise<T>,
  deadlineMs = 20_000
): Promise<NonNullable<T>> {
  for (const deadline = Date.now() + deadlineMs; ; await sleep(25)) {
    const found = await check()
    if (found) return found
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${what}`)
  }
}
