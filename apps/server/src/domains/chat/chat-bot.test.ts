import { eq, sql } from '../../infra/db/drizzle.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { DAY, HOUR } from '../../infra/clock.ts'
import { addOrders, addGroup } from '../inventory/inventory.fixture.ts'
import { orders } from '../orders/tables.ts'
import { users } from '../accounts/tables.ts'
import { pointRecords } from '../rewards/tables.ts'
import { chatInstructions } from './tables.ts'
import { CHANNEL, OTHER_CHANNEL, SOON, startChat, TOKEN, type Chat } from './chat-bot.fixture.ts'
import { fromNow } from '../../testing/later.ts'
import { isLong } from '../../../../../scripts/testing/tier.ts'

let chat: Chat
const EARNING = {
  discord_bot_token: TOKEN,
  discord_bot_channels: CHANNEL,
  discord_bot_points_per_message: 3,
  discord_bot_max_points_per_day: 10
}

beforeAll(async () => {
  chat = await startChat()
  await chat.settings(EARNING)
  chat.start()
  await chat.connected()
})
afterAll(() => chat.close())

const GONE = '990000000000000009'
const WITH_GONE = { ...EARNING, discord_bot_channels: `${GONE}, ${CHANNEL}` }
const unreadable = (channels: string[]) =>
  vi.waitFor(
    async () => expect(await chat.status()).toMatchObject({ state: 'connected', unreadable_channels: channels }),
    SOON
  )

/** Waits until everything written before is counted: a channel counts in order. */
async function settled() {
  const marker = await chat.member(
    `marker${(await chat.gateway()).connections}.${Math.random().toString(36).slice(2, 8)}`
  )
  const [row] = await chat.shop.ctx.db.select({ name: users.discordName }).from(users).where(eq(users.id, marker))
  await chat.write({ user: row?.name ?? '' })
  await chat.earned(marker, 3)
}

test('messages earn coins up to the day’s most, once each; bots, edits, repeats, other channels and talks of two earn none', async () => {
  const anna = await chat.member('anna')
  const [first] = await chat.write({ user: 'anna', repeat: 3 })
  await chat.earned(anna, 3)
  await chat.call('PATCH', '/rooms', { message_id: first })
  await chat.write({ user: 'anna', channel_id: OTHER_CHANNEL })
  await chat.write({ user: 'anna', bot: true })
  await chat.write({ user: 'anna', direct: true })
  await settled()
  expect(await chat.coinsOf(anna)).toBe(3)
  await chat.write({ user: 'anna', count: 5, repeat: 2 })
  await chat.earned(anna, 10)
  await settled()
  const records = await chat.shop.ctx.db.select().from(pointRecords).where(eq(pointRecords.userId, anna))
  expect(records.map(({ point, cause }) => [point, cause.startsWith('chat:')])).toEqual(
    [3, 3, 3, 1].map(point => [point, true])
  )
})

test('a stranger is told once how to connect the account, after a restart too', async () => {
  const replies = async () => (await chat.room()).filter(message => message.author.bot)
  const before = (await replies()).length
  const [first] = await chat.write({ user: 'stranger', count: 3 })
  await expect.poll(async () => (await replies()).length, SOON).toBe(before + 1)
  expect((await replies())[0]).toMatchObject({
    replyTo: first,
    content: expect.stringContaining('http://shop.example.com/dashboard/index/setting')
  })
  await chat.stopBots()
  chat.start()
  await chat.connected()
  await chat.write({ user: 'stranger' })
  await settled()
  expect(await replies()).toHaveLength(before + 1)
  const stored = await chat.shop.ctx.db.select().from(chatInstructions)
  expect(JSON.stringify(stored)).not.toContain('stranger')
})

test.each(['error500', 'throttled', 'html', 'forbidden', ...(isLong ? ['half', 'timeout'] : [])])(
  'a message to a stranger that the platform did not take (%s) is sent with the next one, unless it was refused',
  async kind => {
    const user = `newcomer.${kind.toLowerCase()}`
    const replies = async () => (await chat.room()).filter(message => message.author.bot).length
    const told = async () => (await chat.shop.ctx.db.select().from(chatInstructions)).length
    const before = { replies: await replies(), told: await told() }
    const isForGood = kind === 'forbidden'
    await chat.call('POST', '/faults', { kind, next: 50, path: '/messages' })
    await chat.write({ user })
    await settled()
    await expect.poll(told, SOON).toBe(before.told + (isForGood ? 1 : 0))
    await chat.call('POST', '/faults', { kind: 'none' })
    await chat.write({ user })
    await settled()
    await expect.poll(replies, SOON).toBe(before.replies + (isForGood ? 0 : 1))
  }
)

test('a stranger who accepts no messages is not tried again and again', async () => {
  const told = async () => (await chat.shop.ctx.db.select().from(chatInstructions)).length
  const before = await told()
  await chat.call('POST', '/faults', { kind: 'forbidden', next: 50, path: '/messages' })
  await chat.write({ user: 'unreachable' })
  await expect.poll(told, SOON).toBe(before + 1)
  await settled()
  await chat.call('POST', '/faults', { kind: 'none' })
  const replies = async () => (await chat.room()).filter(message => message.author.bot).length
  const answers = await replies()
  await chat.write({ user: 'unreachable' })
  await settled()
  expect(await replies()).toBe(answers)
  expect(await told()).toBe(before + 1)
})

test.each(['error500', 'throttled', ...(isLong ? ['html', 'half', 'forbidden'] : [])])(
  '%s at the registration of the commands is shown, and tried again, while messages count',
  async kind => {
    await chat.stopBots()
    await chat.call('POST', '/faults', { kind, next: 1000, path: '/commands' })
    chat.start()
    await chat.connected()
    await expect.poll(async () => (await chat.status()).commands_problem, SOON).toMatch(/\w/)
    const name = `during.${kind.toLowerCase()}`
    const id = await chat.member(name)
    await chat.write({ user: name })
    await chat.earned(id, 3)
    expect(await chat.status()).toMatchObject({ state: 'connected', problem: null })
    // A limit states its own duration, which this test does not wait for.
    if (kind !== 'throttled') {
      await chat.call('POST', '/faults', { kind: 'none' })
      await expect.poll(async () => (await chat.status()).commands_problem, SOON).toBeNull()
      expect(await chat.call('GET', '/commands')).toHaveLength(3)
      return
    }
    await chat.call('POST', '/faults', { kind: 'none' })
    await chat.stopBots()
    chat.start()
    await chat.connected()
    await expect.poll(async () => (await chat.status()).commands_problem, SOON).toBeNull()
  }
)

test('/points, /proxies and /bind answer their caller alone, in the caller’s language', async () => {
  const { db } = chat.shop.ctx
  const ines = await chat.member('ines')
  await chat.write({ user: 'ines' })
  await chat.earned(ines, 3)
  await expect.poll(async () => (await chat.call<{ name: string }[]>('GET', '/commands')).length, SOON).toBe(3)
  const points = await chat.ask('ines', 'points')
  expect(points).toMatchObject({ ephemeral: true, content: expect.stringContaining('Coins: 3') })
  expect(points?.content).toContain('on hold: 3')
  expect(points?.content).toContain('today: 3 of 10')
  expect((await chat.ask('ines', 'proxies'))?.content).toBe('You have no orders with proxies.')

  const group = await addGroup(db, 'chat', [])
  const [live = 0, expired = 0, others = 0, unpaid = 0, failed = 0] = await addOrders(db, group, 5)
  const own = {
    userId: ines,
    productName: 'Metro ISP',
    variantName: 'New York',
    quantity: 8,
    amount: '8.00',
    deliveryNum: 8
  }
  const inDays = (days: number) => fromNow(chat.shop.ctx, days * DAY + 60_000)
  await db
    .update(orders)
    .set({ ...own, state: 'delivered', expiredAt: inDays(12) })
    .where(eq(orders.id, live))
  await db
    .update(orders)
    .set({ ...own, state: 'expired', expiredAt: inDays(-1), graceUntil: inDays(0.5), productName: 'Old plan' })
    .where(eq(orders.id, expired))
  await db
    .update(orders)
    .set({ state: 'delivered', productName: 'Of another', expiredAt: inDays(3) })
    .where(eq(orders.id, others))
  await db
    .update(orders)
    .set({ ...own, productName: 'Never paid' })
    .where(eq(orders.id, unpaid))
  await db
    .update(orders)
    .set({ ...own, state: 'failed', deliveryNum: 0, productName: 'Short' })
    .where(eq(orders.id, failed))
  const listed = await chat.ask('ines', 'proxies')
  expect(listed).toMatchObject({ ephemeral: true, link: { url: 'http://shop.example.com/dashboard/index/proxies' } })
  expect(listed?.content).toMatch(
    /^Your orders:\n• Old plan, New York · .*expired; renew by .*\n• Metro ISP, New York · 8 of 8 proxies · 12 days left/
  )
  expect(listed?.content).toContain('Short, New York · 0 of 8 proxies · not delivered; contact us')
  expect(listed?.content).not.toMatch(/Of another|Never paid/)

  expect(await chat.ask('ines', 'bind')).toMatchObject({
    ephemeral: true,
    content: expect.stringContaining('is connected to'),
    link: { url: 'http://shop.example.com/dashboard/index/setting' }
  })
  const nobody = { ephemeral: true, link: { url: 'http://shop.example.com/dashboard/index/setting' } }
  expect(await chat.ask('passer.by', 'points')).toMatchObject({
    ...nobody,
    content: expect.stringContaining('not connected')
  })
  expect(await chat.ask('passer.by', 'bind', 'zh-CN')).toMatchObject({
    ...nobody,
    content: expect.stringContaining('绑定')
  })
  await db.update(users).set({ isActive: false }).where(eq(users.id, ines))
  expect((await chat.ask('ines', 'points'))?.content).toBe('This account has been banned')
  // Each one queries the database. One member does not delay the others.
  for (let n = 0; n < 4; n++) await chat.ask('passer.by', 'points')
  expect((await chat.ask('passer.by', 'points'))?.content).toBe(
    'Too many requests. Please wait a moment and try again.'
  )
})

test('/proxies offers a renewal no longer than its term would last, if that is shorter than the grace', async () => {
  const { db } = chat.shop.ctx
  const lena = await chat.member('lena')
  const [id = 0] = await addOrders(db, await addGroup(db, 'short terms', []), 1)
  await db.execute(sql`update variants set proxy_time = 1 where id = (select variant_id from orders where id = ${id})`)
  const endedAt = async (ended: Date) => {
    const graceUntil = new Date(ended.getTime() + 3 * DAY)
    await db
      .update(orders)
      .set({ userId: lena, state: 'expired', expiredAt: ended, endedAt: ended, graceUntil })
      .where(eq(orders.id, id))
    return (await chat.ask('lena', 'proxies'))?.content
  }
  const ended = fromNow(chat.shop.ctx, HOUR - DAY)
  const until = new Date(ended.getTime() + DAY).toISOString()
  expect(await endedAt(ended)).toContain(`· expired; renew by ${until.slice(0, 10)} ${until.slice(11, 16)} UTC to keep`)
  expect(await endedAt(new Date(ended.getTime() - 2 * HOUR))).toMatch(/ · expired$/)
})

test('points, cap, channels and the token that are saved take effect without a restart', async () => {
  const mia = await chat.member('mia')
  await chat.settings({ discord_bot_points_per_message: 1, discord_bot_channels: OTHER_CHANNEL })
  await vi.waitFor(async () => {
    await chat.write({ user: 'mia', channel_id: OTHER_CHANNEL })
    expect(await chat.coinsOf(mia)).toBeGreaterThan(0)
  }, SOON)
  const before = await chat.coinsOf(mia)
  await chat.write({ user: 'mia', channel_id: CHANNEL })
  await chat.write({ user: 'mia', channel_id: OTHER_CHANNEL })
  await expect.poll(() => chat.coinsOf(mia), SOON).toBeGreaterThan(before)
  await chat.settings({ discord_bot_token: '' })
  await chat.connected(0)
  expect(await chat.status()).toMatchObject({ state: 'off', problem: null })
  await chat.call('POST', '/token', { token: 'another token' })
  await chat.settings({ ...EARNING, discord_bot_token: 'another token' })
  await chat.connected()
  await chat.call('POST', '/token', { token: TOKEN })
  await vi.waitFor(async () => expect((await chat.status()).problem).toBe('token_refused'), SOON)
  await chat.settings(EARNING)
  await chat.connected()
  await vi.waitFor(async () => expect(await chat.status()).toMatchObject({ state: 'connected', problem: null }), SOON)
})

test('if no channel is configured, messages in all of them earn coins, except in threads', async () => {
  await chat.settings({ discord_bot_channels: '' })
  const tom = await chat.member('tom')
  // Until the settings apply; each channel is new to the bot.
  await vi.waitFor(async () => {
    await chat.write({ user: 'tom', channel_id: OTHER_CHANNEL })
    expect(await chat.coinsOf(tom)).toBeGreaterThan(0)
  }, SOON)
  const ann = await chat.member('ann.in.a.thread')
  await chat.write({ user: 'ann.in.a.thread', channel_id: '990000000000000077', thread: true })
  await chat.write({ user: 'ann.in.a.thread', channel_id: CHANNEL })
  await chat.earned(ann, 3)
  await settled()
  expect(await chat.coinsOf(ann)).toBe(3)
  await chat.settings(EARNING)
})

test('a channel that the bot cannot read is named, and the others are counted', async () => {
  await chat.settings(WITH_GONE)
  await unreadable([GONE])
  const nora = await chat.member('nora')
  await chat.write({ user: 'nora' })
  await chat.earned(nora, 3)
  await chat.settings(EARNING)
  await unreadable([])
})

test('an unreadable channel is shown when it is entered again, but not after a connection without it', async () => {
  await chat.settings(WITH_GONE)
  await unreadable([GONE])
  await chat.settings(EARNING)
  await unreadable([])
  await chat.settings(WITH_GONE)
  await unreadable([GONE])
  await chat.stopBots()
  await chat.settings(EARNING)
  chat.start()
  await chat.connected()
  await unreadable([])
})
