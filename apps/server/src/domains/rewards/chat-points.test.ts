import { createHmac } from 'node:crypto'
import { eq } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY, iso } from '../../infra/clock.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { writeSettings } from '../settings/index.ts'
import { users } from '../accounts/tables.ts'
import { accountRoutes } from '../accounts/index.ts'
import { accountPorts } from '../../ports.ts'
import { applyRetention } from '../retention/figures.ts'
import { rewardsRetention, rewardsRoutes } from './index.ts'
import { rewardsQueues } from './queues.ts'
import { chatAccountPoints, chatEvents, chatPoints, pointRecords } from './tables.ts'

let shop: TestShop
const TOKEN = 'the bot’s token'
// Noon, so that no test reaches midnight.
const NOON = new Date('2026-11-21T12:00:00Z')
let now = NOON

beforeAll(async () => {
  shop = await startTestShop({
    queues: rewardsQueues,
    routes: (mount, ctx) => {
      accountRoutes(mount, ctx, accountPorts(ctx))
      rewardsRoutes(mount, ctx)
    },
    now: () => now
  })
  const values = {
    discord_bot_token: TOKEN,
    discord_bot_channels: '11, 12',
    discord_bot_points_per_message: 3,
    discord_bot_max_points_per_day: 10
  }
  await writeSettings(shop.ctx, values)
})
afterAll(() => shop.close())

let count = 0
const report = (discordId: string, more: object = {}) => {
  count += 1
  return { event_id: `event-${count}`, discord_id: discordId, channel_id: '11', at: iso(now), ...more }
}

function send(body: object, key = TOKEN) {
  const text = JSON.stringify(body)
  const signature = createHmac('sha256', key).update(text).digest('hex')
  return shop.visitor().post<{ granted: number }>('/api/users/bot_webhook', text, { 'x-signature': signature })
}

async function chatter(discordId: string) {
  const client = await shop.customer()
  await shop.ctx.db.update(users).set({ discordId }).where(eq(users.id, client.user.id))
  const coins = async () => (await client.get<{ reward_points: number }>('/api/auth/login')).data.reward_points
  return { ...client, coins }
}

test('messages earn coins up to the day’s most, with a record each; the next day begins afresh', async () => {
  const user = await chatter('201')
  const granted = []
  for (let i = 0; i < 5; i += 1) granted.push((await send(report('201'))).data.granted)
  expect(granted).toEqual([3, 3, 3, 1, 0])
  expect(await user.coins()).toBe(10)
  const records = await shop.ctx.db.select().from(pointRecords).where(eq(pointRecords.userId, user.user.id))
  expect(records.map(record => [record.kind, record.point, record.reasonCode])).toEqual(
    [3, 3, 3, 1].map(point => ['coins', point, 'chat_message'])
  )
  now = new Date(NOON.getTime() + DAY)
  try {
    expect((await send(report('201'))).data.granted).toBe(3)
  } finally {
    now = NOON
  }
})

test('a report counts once, even if repeated and concurrent', async () => {
  const user = await chatter('202')
  const body = report('202')
  const replies = await Promise.all(Array.from({ length: 6 }, () => send(body)))
  expect(replies.every(reply => reply.code === 2000)).toBe(true)
  expect(replies.map(reply => reply.data.granted).toSorted((a, b) => a - b)).toEqual([0, 0, 0, 0, 0, 3])
  expect(await user.coins()).toBe(3)
})

test('one chat account earns the daily limit once, across all accounts of the shop that it is bound to', async () => {
  const { db } = shop.ctx
  const first = await chatter('210')
  for (let i = 0; i < 3; i += 1) await send(report('210'))
  await db.update(users).set({ discordId: null }).where(eq(users.id, first.user.id))
  const second = await chatter('210')
  expect((await send(report('210'))).data.granted).toBe(1)
  expect((await send(report('210'))).data.granted).toBe(0)
  expect(await second.coins()).toBe(1)
  // Nor does the user's deletion give it another day.
  await db.delete(chatPoints).where(eq(chatPoints.userId, second.user.id))
  expect((await send(report('210'))).data.granted).toBe(0)
  // The same user with another chat account has the rest of the user's day.
  await db.update(users).set({ discordId: '211' }).where(eq(users.id, first.user.id))
  expect((await send(report('211'))).data.granted).toBe(1)
  const stored = await db.select({ account: chatAccountPoints.account }).from(chatAccountPoints)
  expect(stored.some(row => row.account.includes('210'))).toBe(false)
})

test('many messages at once stay below the day’s most', async () => {
  const user = await chatter('203')
  await Promise.all(Array.from({ length: 8 }, () => send(report('203'))))
  expect(await user.coins()).toBe(10)
})

test('other channels, unknown and banned users earn nothing', async () => {
  const user = await chatter('204')
  expect((await send(report('204', { channel_id: '13' }))).data.granted).toBe(0)
  expect((await send(report('999'))).data.granted).toBe(0)
  expect((await send(report('204', { channel_id: '12' }))).data.granted).toBe(3)
  await shop.ctx.db.update(users).set({ isActive: false }).where(eq(users.id, user.user.id))
  expect((await send(report('204'))).data.granted).toBe(0)
})

test('without the right signature nothing is counted', async () => {
  const user = await chatter('205')
  const refused = { status: 401, msg: 'The signature does not match' }
  expect(await send(report('205'), 'another key')).toMatchObject(refused)
  expect(await shop.visitor().post('/api/users/bot_webhook', report('205'))).toMatchObject(refused)
  expect(await user.coins()).toBe(0)
  await writeSettings(shop.ctx, { discord_bot_token: '' })
  // An empty key would let anyone sign.
  expect(await send(report('205'), '')).toMatchObject(refused)
  await writeSettings(shop.ctx, { discord_bot_token: TOKEN })
})

test.each([iso(new Date(NOON.getTime() - DAY - 1000)), iso(new Date(NOON.getTime() + DAY)), 'yesterday'])(
  'a report of %s is refused',
  async at => {
    expect(await send(report('206', { at }))).toMatchObject({ code: 400, data: { errors: { at: expect.any(String) } } })
  }
)

test('reports and days that are too old to count are removed, the others stay', async () => {
  const { db } = shop.ctx
  const { user } = await shop.customer()
  await db.delete(chatEvents)
  await db.delete(chatPoints)
  await db.delete(chatAccountPoints)
  await db.insert(chatEvents).values([
    { eventId: 'old', receivedAt: new Date(now.getTime() - 3 * DAY) },
    { eventId: 'new', receivedAt: new Date(now.getTime() - DAY) }
  ])
  const day = (daysAgo: number) => iso(new Date(now.getTime() - daysAgo * DAY)).slice(0, 10)
  await db.insert(chatPoints).values([
    { userId: user.id, day: day(9), granted: 1 },
    { userId: user.id, day: day(0), granted: 2 }
  ])
  await db.insert(chatAccountPoints).values([
    { account: Buffer.from('a'), day: day(9), granted: 1 },
    { account: Buffer.from('a'), day: day(0), granted: 2 }
  ])
  await applyRetention(shop.ctx, rewardsRetention)
  expect((await db.select().from(chatEvents)).map(event => event.eventId)).toEqual(['new'])
  expect((await db.select().from(chatPoints)).map(row => row.granted)).toEqual([2])
  expect((await db.select().from(chatAccountPoints)).map(row => row.granted)).toEqual([2])
})
