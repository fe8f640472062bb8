import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { pointRecords } from '../rewards/tables.ts'
import { chatBot } from './tables.ts'
import { CHANNEL, SOON, startChat, TOKEN, type Chat } from './chat-bot.fixture.ts'

let chat: Chat

beforeAll(async () => {
  chat = await startChat()
  await chat.settings({
    discord_bot_token: TOKEN,
    discord_bot_channels: CHANNEL,
    discord_bot_points_per_message: 1,
    discord_bot_max_points_per_day: 1000
  })
})
beforeEach(() => chat.stopBots())
afterEach(async () => {
  await chat.stopBots()
  await chat.call('POST', '/faults', { kind: 'none' })
  await chat.call('POST', '/gateway', {
    mute: false,
    refuse_intents: false,
    forgetful: false,
    heartbeat_ms: 41_250,
    next: null
  })
  await chat.shop.ctx.db.delete(chatBot)
})
afterAll(() => chat.close())

let names = 0
const newMember = async () => {
  names += 1
  const name = `member.${names}`
  return { name, id: await chat.member(name) }
}
const recordsOf = (id: number) => chat.shop.ctx.db.$count(pointRecords, eq(pointRecords.userId, id))

test.each([
  ['error500', 'server_error'],
  ['throttled', 'rate_limited'],
  ['html', 'bad_reply'],
  ['half', 'unreachable'],
  ['timeout', 'silent'],
  ['unauthorized', 'token_refused']
])(
  'a history that cannot be read (%s) is asked for again before anything that follows it is counted',
  async (kind, problem) => {
    const { name, id } = await newMember()
    chat.start()
    await chat.connected()
    await chat.write({ user: name })
    await chat.earned(id, 1)
    await chat.stopBots()
    await chat.write({ user: name, count: 2 })
    await chat.call('POST', '/faults', { kind, next: 1000, path: '/messages' })
    chat.start()
    await vi.waitFor(async () => expect((await chat.status()).problem).toBe(problem), SOON)
    await chat.write({ user: name })
    expect(await chat.coinsOf(id)).toBe(1)
    await chat.call('POST', '/faults', { kind: 'none' })
    // It may have been asked to wait for long.
    await chat.shop.ctx.db.update(chatBot).set({ retryAt: null })
    await chat.earned(id, 4)
  }
)

test('a session that the platform ends without a reason goes on where it can, or begins anew; nothing is lost', async () => {
  const { name, id } = await newMember()
  chat.start()
  await chat.connected()
  let sent = 0
  for (const resumable of [true, false]) {
    const { identified, resumed } = await chat.gateway()
    await chat.write({ user: name, count: 2 })
    await chat.call('POST', '/gateway', { action: 'invalid_session', resumable })
    await chat.write({ user: name, count: 2 })
    sent += 4
    await chat.earned(id, sent)
    await expect
      .poll(async () => {
        const now = await chat.gateway()
        return resumable ? now.resumed - resumed : now.identified - identified
      }, SOON)
      .toBeGreaterThanOrEqual(1)
  }
  expect(await recordsOf(id)).toBe(sent)
})
