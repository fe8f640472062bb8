import { sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { control } from '../../../../sandbox/src/testing/harness.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { changePoints, levelTagQueue, seedLevelCodes } from '../rewards/index.ts'
import { compareCustomers, tagCustomer } from './level-tags.ts'
import { startPromotions, type Promotions } from './promotions.fixture.ts'

let world: Promotions
let user: Awaited<ReturnType<Promotions['shop']['customer']>>

beforeAll(async () => {
  world = await startPromotions()
  await seedLevelCodes(world.shop.ctx)
  user = await world.shop.customer({ username: 'leveled1', email: 'Leveled1@example.test' })
}, 60_000)
beforeEach(async () => {
  await world.fault('none')
  await world.shop.ctx.db.execute(sql`update users set level_points = 0 where id = ${user.user.id}`)
  await world.shop.ctx.db.execute(
    sql`delete from pgboss.job where name in ('tag-platform-customer', 'compare-customer-tags')`
  )
  await setTags(user.user.email, [])
})
afterAll(() => world?.close())

const setTags = (email: string, tags: string[]) =>
  control(world.sandbox, 'PATCH', `/customers/${encodeURIComponent(email)}`, { tags })
const tagsOf = async (email: string) =>
  (await control<{ email: string; tags: string[] }[]>(world.sandbox, 'GET', '/customers')).find(
    one => one.email === email.toLowerCase()
  )?.tags
const earn = (by: number) =>
  command(world.shop.ctx, SYSTEM, unit => changePoints(unit, user.user.id, { kind: 'level', by }))
const tag = () => world.work('tag-platform-customer', data => tagCustomer(world.shop.ctx, data))
const compare = (bounds?: { pages: number; changes: number }) =>
  world.work('compare-customer-tags', data => compareCustomers(world.shop.ctx, data, bounds))

test('a new level changes the customer’s tag, other tags stay; points within a level enqueue nothing', async () => {
  await setTags(user.user.email, ['vip', 'netlet-level-4'])
  await earn(99)
  expect(await world.waiting('tag-platform-customer')).toHaveLength(0)
  await earn(1)
  await earn(5000)
  expect(await world.waiting('tag-platform-customer')).toHaveLength(1)
  expect(await tag()).toEqual([])
  expect(await tagsOf(user.user.email)).toEqual(['vip', 'netlet-level-2'])
  await earn(-5100)
  expect(await tag()).toEqual([])
  expect(await tagsOf(user.user.email)).toEqual(['vip'])
})

test('a user whom the platform does not know is tagged nowhere, and nothing fails', async () => {
  const other = await world.shop.customer({ username: 'unknown1' })
  await tagCustomer(world.shop.ctx, { userId: other.user.id })
  await tagCustomer(world.shop.ctx, { userId: 999_999 })
  expect(await tagsOf(other.user.email)).toBeUndefined()
})

test.each(['error500', 'garbage', 'half', 'lost', 'unauthorized', 'locked', 'timeout', 'throttled', 'too_many'])(
  '%s: the job waits for another try, and tags once',
  async kind => {
    await earn(20_000)
    for (const after of [0, 1]) {
      await setTags(user.user.email, ['vip'])
      await command(world.shop.ctx, SYSTEM, async unit => {
        unit.jobs.send(levelTagQueue, { userId: user.user.id }, { key: String(user.user.id) })
      })
      // A limited call is retried, so all of its tries must meet the fault.
      await world.fault(kind, { after, next: kind === 'throttled' || kind === 'too_many' ? 100 : 1 })
      expect(await tag()).toHaveLength(1)
      await world.fault('none')
      expect(await tag()).toEqual([])
      expect(await tagsOf(user.user.email)).toEqual(['vip', 'netlet-level-4'])
    }
  }
)

test('the repair finds customers whose tags differ, page by page, a bounded number at a time', async () => {
  await earn(100)
  await setTags(user.user.email, ['netlet-level-5', 'vip'])
  for (let n = 0; n < 110; n++)
    await setTags(`stranger${n}@example.test`, n % 50 === 0 ? ['netlet-level-1', 'own'] : [])
  const counts = await compareCustomers(world.shop.ctx, {}, { pages: 1, changes: 100 })
  expect(counts).toMatchObject({ read: 100 })
  expect(await world.waiting('compare-customer-tags')).toHaveLength(1)
  expect(await compare({ pages: 1, changes: 100 })).toEqual([])
  expect(await world.waiting('compare-customer-tags')).toHaveLength(0)
  expect(await tagsOf(user.user.email)).toEqual(['vip', 'netlet-level-1'])
  expect(await tagsOf('stranger0@example.test')).toEqual(['own'])
  expect(await tagsOf('stranger100@example.test')).toEqual(['own'])
  expect(await compareCustomers(world.shop.ctx, {})).toMatchObject({ changed: 0 })
  // A run also ends after enough changes, and the next one continues after its page.
  await setTags('stranger1@example.test', ['netlet-level-2'])
  await compareCustomers(world.shop.ctx, {}, { pages: 20, changes: 1 })
  expect(await world.waiting('compare-customer-tags')).toHaveLength(1)
})

test.each(['error500', 'garbage', 'half', 'lost', 'unauthorized', 'locked', 'timeout', 'throttled', 'too_many'])(
  '%s: the repair waits for another try, and finds what differs then',
  async kind => {
    await earn(100)
    for (const after of [0, 1]) {
      await setTags(user.user.email, ['netlet-level-5', 'vip'])
      await world.fault(kind, { after, next: kind === 'throttled' || kind === 'too_many' ? 100 : 1 })
      await expect(compareCustomers(world.shop.ctx, {})).rejects.toThrow()
      await world.fault('none')
      await compareCustomers(world.shop.ctx, {})
      expect(await tagsOf(user.user.email)).toEqual(['vip', 'netlet-level-1'])
    }
  }
)

test('other thresholds have all customers compared', async () => {
  const levels = await world.admin.get<{ data: { id: number; level: number; point: number }[] }>(
    '/api/rewards/level_code/?sort_order=asc'
  )
  const third = levels.data.data.find(one => one.level === 3)
  await world.admin.put(`/api/rewards/level_code/${third?.id}/`, { discount: '0', code: 'L3', point: 9000 })
  expect(await world.waiting('compare-customer-tags')).toHaveLength(1)
  await world.shop.ctx.db.execute(sql`update users set level_points = 9500 where id = ${user.user.id}`)
  expect(await compare()).toEqual([])
  expect(await tagsOf(user.user.email)).toEqual(['netlet-level-3'])
})
