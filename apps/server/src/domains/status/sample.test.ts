import { and, eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { DAY } from '../../infra/clock.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { products, variants } from '../catalog/tables.ts'
import { serverGroups, serverGroupServers, serverReports, servers } from '../servers/tables.ts'
import { statusRetention } from './jobs.ts'
import { readStatusPage } from './page.ts'
import { sampleStatus } from './sample.ts'
import type { ProxyChecks } from './states.ts'
import { addLocation, addServers, openClock } from './status.fixture.ts'
import { statusCursor, statusDays } from './tables.ts'

let shop: TestShop
let clock = openClock('2026-11-20T12:00:30.000Z')
let checks: Map<number, ProxyChecks>

beforeAll(async () => {
  shop = await startTestShop({ routes: () => {}, now: () => clock.now() })
})
beforeEach(async () => {
  clock = openClock('2026-11-20T12:00:30.000Z')
  checks = new Map()
  const { db } = shop.ctx
  await db.delete(statusDays)
  await db.delete(statusCursor)
  await db.delete(variants)
  await db.delete(products)
  await db.delete(serverGroups)
  await db.delete(servers)
})
afterAll(() => shop?.close())

const readChecks = async () => checks
const sample = () => sampleStatus(shop.ctx, readChecks)
const page = () => readStatusPage(shop.ctx.db, readChecks, clock.now())
const set = (id: number, values: Partial<typeof servers.$inferInsert>) =>
  shop.ctx.db.update(servers).set(values).where(eq(servers.id, id))
const seen = () => shop.ctx.db.update(servers).set({ lastSeenAt: clock.now() })
const minutesOf = async (serverId: number) =>
  shop.ctx.db.select().from(statusDays).where(eq(statusDays.serverId, serverId)).orderBy(statusDays.day)

/** Samples once a minute, as the job does. */
async function watch(minutes: number): Promise<void> {
  for (let at = 0; at < minutes; at++) {
    clock.pass(1)
    await seen()
    await sample()
  }
}

test('each minute is counted once, by any number of samples and workers', async () => {
  const [one = 0] = await addServers(shop, ['one'])
  await addLocation(shop, { group: 'ny', sells: ['New York'], on: [one] })
  const counted = await Promise.all(Array.from({ length: 6 }, sample))
  expect(counted.reduce((sum, minutes) => sum + minutes, 0)).toBe(1)
  expect(await sample()).toBe(0)
  clock.pass(1)
  expect((await Promise.all([sample(), sample(), sample()])).toSorted()).toEqual([0, 0, 1])
  expect(await minutesOf(one)).toMatchObject([{ up: 2, down: 0 }])
})

test('a late look counts the minutes that it is late by; what the console slept through is unknown, over midnight too', async () => {
  clock = openClock('2026-11-20T23:57:10.000Z')
  const [one = 0] = await addServers(shop, ['one'])
  await addLocation(shop, { group: 'ny', sells: ['New York'], on: [one] })
  await sample()
  clock.pass(3)
  await seen()
  expect(await sample()).toBe(3)
  expect(await minutesOf(one)).toMatchObject([
    { day: '2026-11-20', up: 3 },
    { day: '2026-11-21', up: 1 }
  ])
  // Its agent answered a day ago and was not asked since, so its state is unknown.
  clock.pass(DAY / 60_000)
  expect(await sample()).toBe(1)
  expect(await minutesOf(one)).toHaveLength(2)
  expect((await page()).locations[0]).toMatchObject({ state: 'unknown' })
  await watch(2)
  expect(await minutesOf(one)).toMatchObject([{ up: 3 }, { up: 1 }, { day: '2026-11-22', up: 2, down: 0 }])
  const { locations } = await page()
  expect(locations[0]?.days.slice(-4).map(({ state, up }) => [state, up])).toEqual([
    ['unknown', null],
    ['up', 100],
    ['up', 100],
    ['up', 100]
  ])
})

test('a clock that was ahead stops nothing once it is right, and no day gets longer than it is', async () => {
  const [one = 0] = await addServers(shop, ['one'])
  await addLocation(shop, { group: 'ny', sells: ['New York'], on: [one] })
  clock.pass(120)
  await seen()
  await sample()
  clock.pass(-120)
  expect(await sample()).toBe(0)
  clock.pass(1)
  expect(await sample()).toBe(1)
  await shop.ctx.db.update(statusDays).set({ up: 1439 })
  clock.pass(1)
  await sample()
  clock.pass(1)
  await sample()
  expect(await minutesOf(one)).toMatchObject([{ up: 1440 }])
})

test('an outage, a trouble, failing proxies, a pause and planned work are told apart', async () => {
  const [one = 0, two = 0] = await addServers(shop, ['one', 'two'])
  await addLocation(shop, { group: 'ny', sells: ['New York'], on: [one, two] })
  await sample()
  const state = async () => (await page()).locations[0]?.state
  expect(await state()).toBe('up')

  await set(one, { connected: false, unreachableSince: clock.now() })
  expect(await state()).toBe('down')
  await watch(10)
  await set(one, { connected: true, unreachableSince: null })
  await shop.ctx.db.insert(serverReports).values({ serverId: one, report: { problems: ['loop_slow'] } as never })
  expect(await state()).toBe('degraded')
  await watch(10)
  await shop.ctx.db.delete(serverReports)
  checks.set(two, { customers: 3, failing: 3, share: 0.95 })
  expect(await state()).toBe('down')
  await watch(10)
  checks.clear()
  await set(two, { status: 'paused', connected: false, unreachableSince: clock.now() })
  expect(await state()).toBe('up')
  await watch(10)
  expect(await minutesOf(one)).toMatchObject([{ up: 21, degraded: 10, down: 10, maintenance: 0 }])
  expect(await minutesOf(two)).toMatchObject([{ up: 21, degraded: 0, down: 10, maintenance: 10 }])
  const today = (await page()).locations[0]?.days.at(-1)
  // Servers should have worked in 72 minutes, and did not in 20 of them.
  expect(today).toEqual({ state: 'degraded', up: 72.22, degraded: 5, down: 10, maintenance: 5 })
  await set(one, { status: 'draining' })
  expect(await state()).toBe('maintenance')
})

test('a location is what plans call it: renamed, merged, emptied and withdrawn it keeps its past', async () => {
  const [one = 0, two = 0] = await addServers(shop, ['secret-host-1', 'secret-host-2'])
  const isp = await addLocation(shop, { group: 'isp-rack-7', sells: ['London', 'London', 'Paris'], on: [one] })
  const dc = await addLocation(shop, { group: 'dc-rack-9', sells: ['london '], on: [two] })
  await addLocation(shop, { group: 'Tokyo', sells: [''], on: [two] })
  await set(two, { connected: false, unreachableSince: clock.now() })
  await sample()
  const first = await page()
  expect(first.locations.map(({ id, name, state }) => [id, name, state])).toEqual([
    [isp, 'London', 'down'],
    [expect.any(Number), 'Tokyo', 'down']
  ])
  expect(first.state).toBe('down')
  expect(first.locations[0]).toMatchObject({ up: 50, days: { length: 90 } })
  expect(JSON.stringify(first)).not.toMatch(/secret|rack|203\.0/)

  await shop.ctx.db.update(variants).set({ description: 'Greater London' }).where(eq(variants.description, 'London'))
  await shop.ctx.db.update(variants).set({ description: 'Greater London' }).where(eq(variants.description, 'london '))
  expect((await page()).locations[0]).toMatchObject({ name: 'Greater London', up: 50 })

  // The failing server leaves, and the past stays.
  await shop.ctx.db
    .delete(serverGroupServers)
    .where(and(eq(serverGroupServers.groupId, dc), eq(serverGroupServers.serverId, two)))
  expect((await page()).locations[0]).toMatchObject({ state: 'up', up: 50 })
  await shop.ctx.db.delete(serverGroupServers).where(eq(serverGroupServers.groupId, isp))
  expect((await page()).locations[0]).toMatchObject({ state: 'unknown', up: 50 })
  await shop.ctx.db.update(products).set({ active: false })
  expect((await page()).locations).toEqual([])
})

test('days go after 90 of them', async () => {
  const [one = 0] = await addServers(shop, ['one'])
  const groupId = await addLocation(shop, { group: 'ny', sells: ['New York'], on: [one] })
  const day = (ago: number) => new Date(clock.now().getTime() - ago * DAY).toISOString().slice(0, 10)
  await shop.ctx.db
    .insert(statusDays)
    .values([0, 89, 90, 91, 400].map(ago => ({ groupId, serverId: one, day: day(ago), up: 1440 })))
  const entry = statusRetention.find(({ what }) => what === 'status_days')
  const before = new Date(clock.now().getTime() - 90 * DAY)
  await command(shop.ctx, SYSTEM, async unit => entry?.remove(unit, before, 100))
  expect((await minutesOf(one)).map(row => row.day)).toEqual([day(90), day(89), day(0)])
  const [location] = (await page()).locations
  expect([location?.days.length, location?.days.filter(({ state }) => state === 'up').length]).toEqual([90, 2])
})
