import { eq, inArray } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Published } from '../../infra/change-feed.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { users } from '../accounts/tables.ts'
import { writeSettings } from '../settings/index.ts'
import { decayLevelPoints } from './jobs.ts'
import { levelDecays, pointRecords } from './tables.ts'

let shop: TestShop
const at = (time: string) => ({ ...shop.ctx, now: () => new Date(time) })
let serial = 0

beforeAll(async () => {
  shop = await startTestShop({ routes: () => undefined })
  const settings = { level_points_decay_day: 5, level_points_decay_rate: 0.1 }
  await writeSettings(shop.ctx, settings)
})

afterAll(() => shop.close())

async function addUsers(points: number[], createdAt = '2025-01-01T00:00:00Z'): Promise<number[]> {
  const rows = points.map(levelPoints => {
    const name = `u${++serial}`
    const createdOn = new Date(createdAt)
    return {
      username: name,
      email: `${name}@x.example`,
      passwordHash: '',
      inviteCode: name,
      levelPoints,
      createdAt: createdOn
    }
  })
  const added = await shop.ctx.db.insert(users).values(rows).returning({ id: users.id })
  return added.map(row => row.id)
}

async function pointsOf(ids: number[]): Promise<number[]> {
  const rows = await shop.ctx.db.select().from(users).where(inArray(users.id, ids)).orderBy(users.id)
  return rows.map(row => row.levelPoints)
}

const recordsOf = (id: number) => shop.ctx.db.select().from(pointRecords).where(eq(pointRecords.userId, id))

test('every customer hears that points may have changed', async () => {
  await addUsers([100])
  const heard: Published[] = []
  const stop = shop.ctx.changes.subscribe(
    event => void heard.push(...(event?.changes ?? []).filter(({ resource }) => resource === 'user'))
  )
  await decayLevelPoints(at('2025-12-05T00:00:00Z'))
  await expect.poll(() => heard).toEqual([{ resource: 'user', everyone: true }])
  stop()
})

test('nothing changes before the day; on it, points decay once, rounded down, with a record each', async () => {
  const ids = await addUsers([1000, 15, 1, 0])
  await decayLevelPoints(at('2026-03-04T23:59:59Z'))
  expect(await pointsOf(ids)).toEqual([1000, 15, 1, 0])
  await decayLevelPoints(at('2026-03-05T00:00:00Z'))
  expect(await pointsOf(ids)).toEqual([900, 13, 0, 0])
  for (const time of ['2026-03-05T00:00:01Z', '2026-03-31T23:59:59Z']) await decayLevelPoints(at(time))
  expect(await pointsOf(ids)).toEqual([900, 13, 0, 0])
  const [rich] = ids
  expect(await recordsOf(rich ?? 0)).toMatchObject([
    { kind: 'level', point: -100, cause: `decay:2026-03:${rich}`, reasonCode: 'decay' }
  ])
  // A missed month is caught up, and the next month is separate.
  await decayLevelPoints(at('2026-04-20T12:00:00Z'))
  expect(await pointsOf(ids)).toEqual([810, 11, 0, 0])
})

test('workers at once and runs that broke off between batches lower everyone once', async () => {
  const ids = await addUsers(Array.from({ length: 40 }, () => 1000))
  const month = '2026-07-05T01:00:00Z'
  // A run that ended after two batches, as a killed worker leaves it.
  const third = ids[19] ?? 0
  await shop.ctx.db.insert(levelDecays).values({ month: '2026-07', doneUpTo: third, startedAt: new Date(month) })
  await Promise.all(Array.from({ length: 6 }, () => decayLevelPoints(at(month), { batch: 3 })))
  expect(await pointsOf(ids)).toEqual(ids.map(id => (id <= third ? 1000 : 900)))
  const [run] = await shop.ctx.db.select().from(levelDecays).where(eq(levelDecays.month, '2026-07'))
  expect(run?.finishedAt).toBeInstanceOf(Date)
  expect(await decayLevelPoints(at(month), { batch: 3 })).toBe(0)
})

test('who came after the day keeps the points until the next month', async () => {
  const late = await addUsers([500], '2026-09-06T00:00:00Z')
  await decayLevelPoints(at('2026-09-10T00:00:00Z'))
  expect(await pointsOf(late)).toEqual([500])
  await decayLevelPoints(at('2026-10-05T00:00:00Z'))
  expect(await pointsOf(late)).toEqual([450])
})
