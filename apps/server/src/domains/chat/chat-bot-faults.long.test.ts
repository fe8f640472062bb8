import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { openBot } from '../../integrations/discord/bot.ts'
import { chatBot } from './tables.ts'
import { SOON, TOKEN } from './chat-bot.fixture.ts'
import { chat, newMember, openChat, recordsOf, resetChat } from './one-chat.fixture.ts'

beforeAll(openChat)
beforeEach(() => chat.stopBots())
afterEach(resetChat)
afterAll(() => chat.close())

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
    // The platform may have asked for a long wait.
    await chat.shop.ctx.db.update(chatBot).set({ retryAt: null })
    await chat.earned(id, 4)
  }
)

test('a session that the platform ends without a reason is resumed if possible, or starts again; nothing is lost', async () => {
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

const registered = () => expect.poll(async () => (await chat.call<unknown[]>('GET', '/commands')).length, SOON).toBe(3)

test.each(['error500', 'throttled', 'html', 'half', 'timeout', 'unauthorized', 'forbidden'])(
  '%s at the answer of a command keeps neither the next one nor messages',
  async kind => {
    const { name, id } = await newMember()
    chat.start()
    await chat.connected()
    await registered()
    const { connections } = await chat.gateway()
    // The first reply, which announces another one, and that one.
    for (const [at, path] of ['/callback', '/webhooks/'].entries()) {
      await chat.call('POST', '/faults', { kind, next: 1000, path })
      expect(await chat.ask(name, 'bind', 'en-US', 400)).toBeNull()
      await chat.write({ user: name })
      await chat.earned(id, at + 1)
      await chat.call('POST', '/faults', { kind: 'none' })
      expect((await chat.ask(name, 'bind'))?.link?.url).toContain('/dashboard/index/setting')
    }
    expect(await chat.status()).toMatchObject({ state: 'connected', problem: null })
    expect((await chat.gateway()).connections).toBe(connections)
  }
)

test('a page that something in between answers once with 200 keeps no answer', async () => {
  const { name } = await newMember()
  chat.start()
  await chat.connected()
  await registered()
  for (const path of ['/callback', '/webhooks/']) {
    await chat.call('POST', '/faults', { kind: 'html', next: 1, path })
    expect(await chat.ask(name, 'bind')).toMatchObject({ ephemeral: true, content: expect.stringContaining('account') })
  }
})

test.each([
  ['timeout', 'connected'],
  ['unauthorized', 'waiting']
])('%s at the registration of the commands is shown, and mended by itself', async (kind, state) => {
  await chat.call('POST', '/faults', { kind, next: 1000, path: '/commands' })
  chat.start()
  const isShown = async () => {
    const status = await chat.status()
    // A token refused there is refused everywhere.
    return status.state === state && (kind === 'timeout' ? status.commands_problem : status.problem) !== null
  }
  await expect.poll(isShown, SOON).toBe(true)
  await chat.call('POST', '/faults', { kind: 'none' })
  await expect
    .poll(async () => {
      const status = await chat.status()
      return [status.state, status.problem, status.commands_problem]
    }, SOON)
    .toEqual(['connected', null, null])
})

test('a refused token when writing to a stranger is shown, and the stranger gets the message later', async () => {
  const replies = async () => (await chat.room()).filter(message => message.author.bot).length
  const before = await replies()
  chat.start()
  await chat.connected()
  await chat.call('POST', '/faults', { kind: 'unauthorized', next: 1000, path: '/messages' })
  await chat.write({ user: 'refused.newcomer' })
  await vi.waitFor(async () => expect((await chat.status()).problem).toBe('token_refused'), SOON)
  await chat.call('POST', '/faults', { kind: 'none' })
  await vi.waitFor(async () => expect(await chat.status()).toMatchObject({ state: 'connected', problem: null }), SOON)
  await chat.write({ user: 'refused.newcomer' })
  await expect.poll(replies, SOON).toBe(before + 1)
})

test.each([
  ['html', 'bad_reply'],
  ['error500', 'server_error'],
  ['throttled', 'rate_limited']
] as const)('%s in place of the gateway is shown, and the bot recovers on its own', async (kind, problem) => {
  const { name, id } = await newMember()
  await chat.call('POST', '/gateway', { next: { kind, count: 1000 } })
  chat.start({ backoff: () => 300 })
  await vi.waitFor(async () => expect(await chat.status()).toMatchObject({ state: 'waiting', problem }), SOON)
  await chat.call('POST', '/gateway', { next: null })
  await chat.connected()
  await chat.write({ user: name })
  await chat.earned(id, 1)
})

test('a limit of weeks on the commands is not asked about again and again', async () => {
  await chat.call('POST', '/faults', { kind: 'throttled', next: 1, path: '/commands', retry_after: 30 * 24 * 3600 })
  const told: (string | null)[] = []
  let messages = 0
  const bot = openBot(
    {
      token: TOKEN,
      commands: [{ name: 'points', description: 'Points', descriptionZh: '积分' }],
      baseUrl: chat.sandbox.url,
      connectMs: 5000,
      callMs: 1000,
      registerMs: 100
    },
    {
      onSession() {},
      onReady() {},
      onLost() {},
      onResumed() {},
      onCommand() {},
      onNote() {},
      onFailed() {},
      onCommands: problem => void told.push(problem),
      onMessage: () => void messages++
    }
  )
  onTestFinished(() => bot.close())
  await expect.poll(() => told.length, SOON).toBeGreaterThan(0)
  const { name } = await newMember()
  for (const at of [1, 2, 3]) {
    await chat.write({ user: name })
    await expect.poll(() => messages, SOON).toBe(at)
  }
  expect(told).toEqual(["The chat platform limits the bot's request rate."])
})
