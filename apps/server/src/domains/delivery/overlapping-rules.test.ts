import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AclRule, OverlapWinner, Proxy } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buy, proxiesOf, through } from '../../testing/buying.ts'
import type { TestClient } from '../../testing/client.ts'
import { startTestStack, type ShopProcess, type TestStack } from '../../testing/test-stack.ts'
import { aclRules } from '../inventory/tables.ts'

/** A whole shop with a real agent. Names below `localhost` need no name server: they all lead to one small site. */
let stack: TestStack
let shop: ShopProcess
let admin: TestClient
const site = createServer((_request, response) => response.end('here'))
let port = 0

beforeAll(async () => {
  await new Promise<void>(resolve => site.listen(0, '127.0.0.1', resolve))
  port = (site.address() as AddressInfo).port
  stack = await startTestStack({ range: '127.61.0.0/25', ruleCount: 5, price: '1.00' })
  shop = await stack.startShop()
  admin = await stack.admin(shop.url, 'boss')
}, 120_000)
afterAll(async () => {
  site.closeAllConnections()
  site.close()
  await stack?.close()
})

/** Saves a rule of the stack with these domains, as the console does. */
async function save(rule: number, domain: string, decision?: { rule_id: number; winner: OverlapWinner }) {
  const list = await admin.get<{ data: AclRule[] }>('/api/servers/acls/?limit=100')
  const before = list.data.data.find(({ id }) => id === rule)
  return admin.put<AclRule & { reason?: string }>(`/api/servers/acls/${rule}/`, {
    name: before?.name,
    price: before?.price,
    shopify_variant_id: before?.shopify_variant_id,
    description: 'd',
    acl_value: domain,
    decisions: decision && [decision]
  })
}

/** Buys as a new customer. @returns one of the proxies */
async function proxyOf(name: string, rules: number[]): Promise<Proxy> {
  const buyer = await stack.customer(shop.url, name)
  const order = await buy(stack, buyer, 8, rules)
  const [proxy] = await proxiesOf(buyer, order.id)
  if (!proxy) throw new Error('nothing was delivered')
  return proxy
}

/** The answers for the broader rule's own site, for the narrower one's, and for one that no rule has. */
const answers = (proxy: Proxy, domain: string): Promise<number[]> =>
  Promise.all(
    [`www.${domain}`, `a.shop.${domain}`, 'free.localhost'].map(host => through(proxy, `http://${host}:${port}/`))
  )

const reaches = (proxy: Proxy, domain: string, wanted: number[]): Promise<true> =>
  stack.eventually(`${proxy.username} to get ${wanted.join()} of ${domain}`, async () => {
    const got = await answers(proxy, domain)
    return got.join() === wanted.join() ? true : undefined
  })

test('who bought a subdomain reaches it, decided or not, and sharing it waits until no address is held by two', async () => {
  const [nike = 0, nikeShop = 0, , , other = 0] = stack.rules
  expect((await save(nike, 'nike.localhost')).code).toBe(2000)
  // As in an older database, which asked for no decision.
  const domains = ['shop.nike.localhost']
  const old = { domains, aclValue: 'shop.nike.localhost' }
  await stack.ctx.db.update(aclRules).set(old).where(eq(aclRules.id, nikeShop))
  const broad = await proxyOf('broad', [nike])
  const narrow = await proxyOf('narrow', [nikeShop])
  const both = await proxyOf('both', [nike, nikeShop])
  const none = await proxyOf('none', [other])
  const reachOfAll = async (): Promise<void> => {
    await reaches(broad, 'nike.localhost', [200, 403, 200])
    await reaches(narrow, 'nike.localhost', [403, 200, 200])
    await reaches(both, 'nike.localhost', [200, 200, 200])
    await reaches(none, 'nike.localhost', [403, 403, 200])
  }
  await reachOfAll()
  // Neither rule excludes the other, so both were sold on the lowest addresses.
  expect(narrow.ip).toBe(broad.ip)
  const share = await save(nikeShop, 'shop.nike.localhost', { rule_id: nike, winner: 'broad' })
  expect(share).toMatchObject({ code: 409, data: { reason: 'rules_share_addresses' } })
  const decided = await save(nikeShop, 'shop.nike.localhost', { rule_id: nike, winner: 'narrow' })
  expect(decided.code).toBe(2000)
  await reachOfAll()
}, 180_000)

test('a decision reaches the agents at once, and buyers of two rules that share a site get addresses of their own', async () => {
  const [, , adidas = 0, adidasShop = 0] = stack.rules
  expect((await save(adidas, 'adidas.localhost')).code).toBe(2000)
  expect(await save(adidasShop, 'shop.adidas.localhost')).toMatchObject({
    code: 409,
    data: { reason: 'overlap_undecided' }
  })
  const decide = (winner: OverlapWinner) => save(adidasShop, 'shop.adidas.localhost', { rule_id: adidas, winner })
  expect((await decide('broad')).code).toBe(2000)
  const broad = await proxyOf('broad2', [adidas])
  const narrow = await proxyOf('narrow2', [adidasShop])
  expect(narrow.ip).not.toBe(broad.ip)
  await reaches(broad, 'adidas.localhost', [200, 200, 200])
  await reaches(narrow, 'adidas.localhost', [403, 200, 200])
  const { rows } = await stack.ctx.db.execute(sql`
    select host(inventory.unit_at(c.base, b.start)) from lease_blocks b join chunks c on c.id = b.chunk_id
    where b.released_at is null and b.rules && array[${adidas}, ${adidasShop}]::int[]
    group by 1 having count(*) > 1`)
  expect(rows).toEqual([])
  expect((await decide('narrow')).code).toBe(2000)
  await reaches(broad, 'adidas.localhost', [200, 403, 200])
  await reaches(narrow, 'adidas.localhost', [403, 200, 200])
  expect((await decide('broad')).code).toBe(2000)
  await reaches(broad, 'adidas.localhost', [200, 200, 200])
}, 180_000)
