import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq, sql } from '../../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Published } from '../../../infra/change-feed.ts'
import { startTestShop, type TestShop } from '../../../testing/shop.ts'
import { startTestAgent, type TestAgent } from '../../convergence/fleet.fixture.ts'
import { servers } from '../../servers/tables.ts'
import { addGroup, addOrders, addRule, addServer, inTransaction } from '../../inventory/inventory.fixture.ts'
import { assignCidrs, reserve } from '../../inventory/index.ts'
import { orders } from '../../orders/tables.ts'
import { proxies } from '../tables.ts'
import { checkProxies, checkShare } from './index.ts'
import { SLOTS, probe } from './check-proxies.ts'

const hasOpenssl = spawnSync('openssl', ['version']).status === 0

/** A certificate for `localhost` that no system trusts. */
function makeCertificate() {
  const folder = mkdtempSync(join(tmpdir(), 'netlet-site-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const how = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost'
  const names = ['-addext', 'subjectAltName=DNS:localhost']
  execFileSync('openssl', [...how.split(' '), ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const made = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  rmSync(folder, { recursive: true })
  return made
}

let world: TestShop
let agent: TestAgent
const sites: Server[] = []
const seen: string[] = []

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  sites.push(server)
  return (server.address() as AddressInfo).port
}

/** A site that answers each request after `delayMs`. */
const startSite = (name: string, delayMs: number, status = 200) =>
  listen(
    createServer((request, response) => {
      seen.push(`${name} ${request.socket.remoteAddress} ${request.url}`)
      setTimeout(() => response.writeHead(status).end('here'), delayMs)
    })
  )

beforeAll(async () => {
  agent = await startTestAgent()
  const google = await startSite('google', 50)
  const bing = await startSite('bing', 50)
  const amazon = await startSite('amazon', 50)
  world = await startTestShop({
    config: {
      checkSites: {
        google: `http://127.0.0.1:${google}/generate_204`,
        bing: `http://127.0.0.1:${bing}/`,
        amazon: `http://127.0.0.1:${amazon}/`
      }
    }
  })
})

afterAll(async () => {
  await world?.close()
  await agent?.close()
  for (const site of sites) {
    site.closeAllConnections()
    site.close()
  }
})

let count = 0

/** An order with `quantity` live proxies; its user is on the agent unless `known` is false. */
async function addOrder(range: string, quantity: number, { known = true } = {}) {
  const { db } = world.ctx
  const serverId = await addServer(db, `checks ${count++}`)
  await db.update(servers).set({ proxyPort: agent.proxyPort }).where(eq(servers.id, serverId))
  const rule = await addRule(db, `Rule ${count}`)
  await inTransaction(db, assignCidrs, serverId, [range])
  const groupId = await addGroup(db, `checks ${count}`, [serverId])
  const [orderId = 0] = await addOrders(db, groupId, 1)
  const leased = await db.transaction(tx => reserve(tx, { orderId, groupId, step: 1, rules: [rule], quantity }))
  if (!leased.ok) throw new Error(leased.reason)
  const [order] = await db.select().from(orders).where(eq(orders.id, orderId))
  if (!order) throw new Error('no order')
  await db.execute(sql`
    insert into proxies (created_at, updated_at, order_id, lease_id, server_id, ip, state)
    select now(), now(), ${orderId}::bigint, ${leased.leaseId}::bigint, ${serverId}::bigint, host(${range}::inet)::inet + n, 'live' from generate_series(0, ${quantity - 1}::int) n`)
  await agent.client.putPrefixes([...(await heldPrefixes()), range])
  if (known) {
    await agent.client.putUser(order.proxyUsername, {
      password: order.proxyPassword,
      prefixes: [range],
      denied_domains: []
    })
  }
  return { orderId, order }
}

async function heldPrefixes(): Promise<string[]> {
  const state = await agent.client.state()
  return state.ok ? state.data.prefixes : []
}

const checked = (orderId: number) =>
  world.ctx.db.select().from(proxies).where(eq(proxies.orderId, orderId)).orderBy(proxies.id)

test('each live proxy is asked for three sites from its own address, and its delays are kept', async () => {
  const { orderId, order } = await addOrder('127.71.0.0/29', 4)
  await world.ctx.db.execute(sql`
    update proxies set state = 'retired' where id = (select max(id) from proxies where order_id = ${orderId})`)
  const heard: Published[] = []
  const stop = world.ctx.changes.subscribe(event => void heard.push(...(event?.changes ?? [])))
  expect(await checkProxies(world.ctx, orderId)).toEqual({ checked: 3, left: false })
  await expect.poll(() => heard).toContainEqual({ resource: 'order', id: orderId, userId: order.userId })
  stop()
  const rows = await checked(orderId)
  for (const row of rows.slice(0, 3)) {
    expect(row.available).toBe(1)
    for (const delay of [row.googleDelay, row.bingDelay, row.amazonDelay]) expect(delay).toBeGreaterThanOrEqual(45)
    expect(seen).toContain(`google ${row.ip} /generate_204`)
    expect(row.checkedAt).not.toBeNull()
  }
  expect(rows[3]).toMatchObject({ available: null, checkedAt: null })
})

test('a proxy that refuses or does not answer is not available, and keeps no old delays', async () => {
  const { orderId } = await addOrder('127.72.0.0/32', 1, { known: false })
  await world.ctx.db.update(proxies).set({ googleDelay: 5, available: 1 }).where(eq(proxies.orderId, orderId))
  await checkProxies(world.ctx, orderId)
  expect((await checked(orderId))[0]).toMatchObject({
    available: 0,
    googleDelay: null,
    bingDelay: null,
    amazonDelay: null
  })
})

test('one site that answers is enough', async () => {
  const { orderId } = await addOrder('127.73.0.0/32', 1)
  const { checkSites } = world.ctx.config
  const config = {
    ...world.ctx.config,
    checkSites: { ...checkSites, bing: 'http://127.0.0.1:9/', amazon: 'http://x.invalid/' }
  }
  await checkProxies({ ...world.ctx, config }, orderId)
  const [row] = await checked(orderId)
  expect(row).toMatchObject({ available: 1, bingDelay: null, amazonDelay: null })
  expect(row?.googleDelay).toBeGreaterThanOrEqual(45)
})

test.skipIf(!hasOpenssl)('https goes through a tunnel to the site itself', async () => {
  const { order } = await addOrder('127.74.0.0/32', 1)
  const { key, cert } = makeCertificate()
  const secure = createSecureServer({ key, cert }, (_request, response) => {
    response.writeHead(503).end()
  })
  const port = await listen(secure)
  const proxy = {
    ip: '127.74.0.0',
    port: agent.proxyPort,
    username: order.proxyUsername,
    password: order.proxyPassword
  }
  const site = new URL(`https://localhost:${port}/`)
  expect(await probe(proxy, site, { timeoutMs: 5000, ca: cert })).toBeGreaterThan(0)
  // A certificate of another issuer is not the site's answer.
  expect(await probe(proxy, site, { timeoutMs: 5000 })).toBeNull()
  expect(await probe({ ...proxy, password: 'wrong' }, site, { timeoutMs: 5000, ca: cert })).toBeNull()
})

test('a site that never answers is given up in time', async () => {
  const { order } = await addOrder('127.75.0.0/32', 1)
  const port = await startSite('slow', 60_000)
  const proxy = {
    ip: '127.75.0.0',
    port: agent.proxyPort,
    username: order.proxyUsername,
    password: order.proxyPassword
  }
  const begun = performance.now()
  expect(await probe(proxy, new URL(`http://127.0.0.1:${port}/`), { timeoutMs: 200 })).toBeNull()
  expect(performance.now() - begun).toBeLessThan(5000)
})

test('the shares of a day are all live proxies, each once', async () => {
  const { orderId } = await addOrder('127.76.0.0/28', 16)
  const [row] = await checked(orderId)
  const slot = (row?.id ?? 0) % SLOTS
  await checkShare(world.ctx, slot, Infinity)
  const after = await checked(orderId)
  expect(after.filter(proxy => proxy.checkedAt !== null).map(proxy => proxy.id % SLOTS)).toEqual([slot])
  // Without time, nothing is begun.
  expect(await checkShare(world.ctx, slot, 0)).toBe(0)
})

test('1,000 proxies are checked against three sites that take 50 ms', async () => {
  const { orderId } = await addOrder('127.77.0.0/22', 1000)
  const begun = performance.now()
  expect(await checkProxies(world.ctx, orderId)).toEqual({ checked: 1000, left: false })
  console.info(`1,000 proxies × 3 sites checked in ${Math.round(performance.now() - begun)} ms`)
  const rows = await checked(orderId)
  expect(rows.filter(row => row.available === 1)).toHaveLength(1000)
})
