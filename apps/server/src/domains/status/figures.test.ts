import type { ShopFigures } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY, iso } from '../../infra/clock.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { serverPlaces } from '../servers/geofeed/tables.ts'
import { addOrders, addRule, inTransaction } from '../inventory/inventory.fixture.ts'
import { addCidr, reserve } from '../inventory/index.ts'
import { roundedDown } from './shop-figures.ts'
import { figureRoutes } from './index.ts'
import { addLocation, addServers } from './status.fixture.ts'
import { statusDays } from './tables.ts'

let shop: TestShop
let deliveries = { orders: 0, p50: null as number | null }
let reads = 0
/** The test's clock. */
let time = Date.parse('2026-05-15T12:00:00Z')
const wait = (milliseconds: number) => void (time += milliseconds)
beforeAll(async () => {
  shop = await startTestShop({
    now: () => new Date(time),
    routes: (mount, ctx) =>
      figureRoutes(mount, ctx, async () => {
        reads += 1
        return { week: deliveries }
      })
  })
})
afterAll(() => shop?.close())

/** After the shared reply has expired. */
async function figures(): Promise<ShopFigures> {
  wait(30_000)
  const reply = await shop.visitor().get<ShopFigures>('/api/status/figures/')
  expect(reply.code).toBe(2000)
  return reply.data
}

test('a shop that has nothing says nothing of itself', async () => {
  expect(await figures()).toEqual({ countries: [], addresses: 0, networks: 0, delivery_seconds: null, uptime: null })
})

test('countries are those of places that were said, else of the city that a location is named by', async () => {
  const [ny = 0, eu = 0, other = 0] = await addServers(shop, ['secret-ny', 'secret-eu', 'secret-other'])
  await addLocation(shop, { group: 'rack-1', sells: ['New York'], on: [ny] })
  await addLocation(shop, { group: 'rack-2', sells: ['Dallas'], on: [ny] })
  await addLocation(shop, { group: 'rack-3', sells: ['Europe'], on: [eu, other] })
  await addLocation(shop, { group: 'rack-4', sells: ['Anywhere'], on: [ny] })
  await addLocation(shop, { group: 'rack-5', sells: ['London'], on: [other] })
  await shop.ctx.db.insert(serverPlaces).values([
    { serverId: eu, country: 'de' },
    { serverId: other, country: 'NL' }
  ])
  const { countries } = await figures()
  expect(countries).toEqual([
    // London's server is entered as in the Netherlands, which counts.
    { code: 'NL', locations: 2, names: ['Europe', 'London'] },
    { code: 'US', locations: 2, names: ['Dallas', 'New York'] },
    { code: 'DE', locations: 1, names: ['Europe'] },
    { code: null, locations: 1, names: ['Anywhere'] }
  ])
  expect(JSON.stringify(countries)).not.toMatch(/rack|secret/)
  await shop.ctx.db.execute(
    sql`update products set translations = '{"zh-CN": {"words": {"London": "伦敦", "Paris": "巴黎"}}}'`
  )
  const figuresNow = await figures()
  expect(figuresNow.countries).toEqual(countries)
  expect(figuresNow.translations).toEqual({ 'zh-CN': { words: { London: '伦敦' } } })
  await shop.ctx.db.execute(sql`update products set active = false where name = 'rack-4'`)
  expect((await figures()).countries.map(({ code }) => code)).toEqual(['NL', 'US', 'DE'])
})

test('addresses count once for all groups that sell them, rounded down, by family', async () => {
  const { db } = shop.ctx
  const [server = 0] = (
    await db.execute<{ id: number }>(sql`select id from servers where name = 'secret-ny'`)
  ).rows.map(row => row.id)
  for (const cidr of ['10.70.0.0/24', '10.70.1.0/29', '2001:db8:70::/60'])
    await inTransaction(db, addCidr, { cidr, serverId: server })
  // Without a rule there is nothing to lease.
  expect(await figures()).toMatchObject({ addresses: 0, networks: 0 })
  const rule = await addRule(db, 'Video')
  await addRule(db, 'Music')
  expect(await figures()).toMatchObject({ addresses: 260, networks: 10 })
  // Addresses leased under one rule can still be leased under the other.
  const { rows } = await db.execute<{ groupId: number }>(
    sql`select group_id::int as "groupId" from server_group_servers where server_id = ${server} limit 1`
  )
  const groupId = rows[0]?.groupId ?? 0
  const [orderId = 0] = await addOrders(db, groupId, 1)
  const got = await db.transaction(tx => reserve(tx, { orderId, groupId, step: 64, quantity: 256, rules: [rule] }))
  expect(got.ok).toBe(true)
  expect(await figures()).toMatchObject({ addresses: 260 })
  await db.execute(sql`update acl_rules set valid = false where name = 'Music'`)
  expect(await figures()).toMatchObject({ addresses: 0, networks: 10 })
  await db.execute(sql`update servers set offline = true where id = ${server}`)
  expect(await figures()).toMatchObject({ addresses: 0, networks: 0 })
})

test('half the orders of a week were delivered within so many seconds, if there were enough', async () => {
  deliveries = { orders: 4, p50: 9.6 }
  expect((await figures()).delivery_seconds).toBeNull()
  deliveries = { orders: 5, p50: 9.6 }
  expect((await figures()).delivery_seconds).toBe(10)
})

test('uptime is of each server once, of the days that were watched, and of a whole day at least', async () => {
  const { db, now } = shop.ctx
  const day = (ago: number) => iso(new Date(now().getTime() - ago * DAY)).slice(0, 10)
  const { rows } = await db.execute<{ groupId: number; serverId: number }>(sql`
    select m.group_id as "groupId", m.server_id as "serverId" from server_group_servers m
    join servers s on s.id = m.server_id where s.name = 'secret-ny' order by 1`)
  const [first, second] = rows
  if (!first || !second) throw new Error('two groups have this server')
  await db.insert(statusDays).values({ ...first, day: day(1), up: 1000, down: 0 })
  expect((await figures()).uptime).toBeNull()
  await db.insert(statusDays).values([
    // The same server in another group, and a maintenance, which is no outage.
    { ...second, day: day(1), up: 1000, down: 0 },
    { ...first, day: day(2), up: 800, degraded: 140, down: 60, maintenance: 400 },
    { ...first, day: day(95), up: 0, down: 1440 }
  ])
  expect((await figures()).uptime).toEqual({ percent: 97, days: 2 })
})

test('all who ask at once and within half a minute share one read', async () => {
  await figures()
  reads = 0
  wait(30_000)
  const ask = () => shop.visitor().get<ShopFigures>('/api/status/figures/')
  await Promise.all(Array.from({ length: 20 }, ask))
  wait(29_999)
  await ask()
  expect(reads).toBe(1)
  wait(1)
  await ask()
  expect(reads).toBe(2)
})

test.each([
  [0, 0],
  [7, 0],
  [99, 90],
  [100, 100],
  [8191, 8100],
  [1_048_576, 1_000_000]
])('%i is shown as %i', (count, shown) => {
  expect(roundedDown(count)).toBe(shown)
})
