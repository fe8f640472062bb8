import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { chatEvents } from '../rewards/tables.ts'
import { startChatBot } from './index.ts'
import { chatBot, chatCursors } from './tables.ts'
import { SOON, TOKEN } from './chat-bot.fixture.ts'
import { chat, newMember, openChat, recordsOf, resetChat } from './one-chat.fixture.ts'
import { isLong } from '../../../../../scripts/testing/tier.ts'

beforeAll(openChat)
beforeEach(() => chat.stopBots())
afterEach(resetChat)
afterAll(() => chat.close())

test('a connection that breaks, must reconnect or falls silent is resumed: nothing is lost, nothing counts twice', async () => {
  const { name, id } = await newMember()
  await chat.call('POST', '/gateway', { heartbeat_ms: 250 })
  chat.start()
  await chat.connected()
  const { identified } = await chat.gateway()
  let sent = 0
  for (const trouble of [
    { action: 'drop' },
    { mute: true },
    ...(isLong ? [{ action: 'reconnect' }, { action: 'close', code: 4000 }] : [])
  ]) {
    const { resumed } = await chat.gateway()
    await chat.write({ user: name, count: 3 })
    await chat.call('POST', '/gateway', trouble)
    await chat.write({ user: name, count: 3 })
    await expect.poll(async () => (await chat.gateway()).resumed, SOON).toBeGreaterThan(resumed)
    await chat.call('POST', '/gateway', { mute: false })
    await chat.write({ user: name })
    sent += 7
    await chat.earned(id, sent)
  }
  expect(await recordsOf(id)).toBe(sent)
  expect((await chat.gateway()).identified).toBe(identified)
}, 180_000)

test('what is written while no bot runs is counted afterwards, within a day, and a new channel from now on', async () => {
  const { db } = chat.shop.ctx
  const { name, id } = await newMember()
  await db.delete(chatCursors)
  // More than a page.
  await chat.write({ user: name, count: 102 })
  chat.start()
  await chat.connected()
  await vi.waitFor(async () => expect(await db.$count(chatCursors)).toBe(1), SOON)
  await chat.write({ user: name })
  await chat.earned(id, 1)
  await chat.stopBots()
  await chat.connected(0)
  await chat.write({ user: name, count: 4 })
  chat.start()
  await chat.earned(id, 5)
  await chat.stopBots()
  // A cursor before everything: the whole last day is read, including messages from before the first bot.
  await db.update(chatCursors).set({ messageId: '1' })
  await db.delete(chatEvents)
  chat.start()
  await chat.connected()
  await chat.write({ user: name })
  await chat.earned(id, 108)
  // The records prevent a double count even if the reports are deleted.
  expect(await recordsOf(id)).toBe(108)
})

/** A process loads the whole shop's code first. On a busy machine that takes longer than anything tested here. */
const STARTED = { timeout: 120_000, interval: 50 }

/** The bot of another process. */
function botProcess() {
  const { config } = chat.shop.ctx
  const child = fork(fileURLToPath(new URL('./bot-process.fixture.ts', import.meta.url)), [], {
    env: {
      PATH: process.env['PATH'] ?? '',
      DATABASE_URL: config.databaseUrl,
      APP_SECRET: config.appSecret,
      PUBLIC_URL: 'https://shop.example.com',
      DISCORD_URL: chat.sandbox.url,
      LOG_LEVEL: 'silent'
    },
    execArgv: []
  })
  return { child, ended: once(child, 'exit') }
}

test.runIf(isLong)(
  'one of many processes connects; when it is killed, another one takes over and counts the missed messages',
  async () => {
    const { name, id } = await newMember()
    const { child, ended } = botProcess()
    try {
      await chat.connected(1, STARTED)
      await chat.write({ user: name })
      await chat.earned(id, 1)
      const { connections } = await chat.gateway()
      for (let n = 0; n < 3; n++) chat.start({ connectMs: 20_000 })
      await chat.write({ user: name })
      await chat.earned(id, 2)
      expect((await chat.gateway()).connections).toBe(connections)
      child.kill('SIGKILL')
      await ended
      await chat.write({ user: name, count: 3 })
      await chat.connected()
      await chat.earned(id, 5)
      expect((await chat.gateway()).connections).toBe(connections + 1)
      expect((await chat.gateway()).sessions).toHaveLength(1)
    } finally {
      child.kill('SIGKILL')
      await ended
    }
  },
  240_000
)

test.runIf(isLong)(
  'a process that hangs loses the bot to another one, and what it wakes up to counts nothing twice',
  async () => {
    const { name, id } = await newMember()
    const { child, ended } = botProcess()
    const holder = async () => (await chat.shop.ctx.db.select().from(chatBot))[0]?.holder
    try {
      await chat.connected(1, STARTED)
      await chat.write({ user: name })
      await chat.earned(id, 1)
      const first = await holder()
      child.kill('SIGSTOP')
      chat.start({ connectMs: 20_000 })
      // If it was stopped within a transaction, its lock stays until the database ends that after 30 seconds.
      await expect.poll(holder, { ...SOON, timeout: 90_000 }).not.toBe(first)
      await chat.write({ user: name, count: 3 })
      await chat.earned(id, 4)
      child.kill('SIGCONT')
      // It gives up its connection and leaves the bot to the current holder.
      await chat.connected()
      await chat.write({ user: name, count: 2 })
      await chat.earned(id, 6)
      expect(await recordsOf(id)).toBe(6)
      expect(await holder()).not.toBe(first)
    } finally {
      child.kill('SIGCONT')
      child.kill('SIGKILL')
      await ended
    }
  },
  240_000
)

test.runIf(isLong)(
  'a process that cannot reach the database ends its connection before its lease is over',
  async () => {
    let away = false
    const { ctx } = chat.shop
    const db = new Proxy(ctx.db, {
      get(target, key, receiver) {
        if (away) throw new Error('the database is away')
        return Reflect.get(target, key, receiver) as unknown
      }
    })
    // 15 % of the lease is left, which must exceed a busy machine's delay.
    const leaseMs = 16_000
    const bot = startChatBot({ ...ctx, db }, { everyMs: 50, leaseMs, connectMs: 2500, backoff: () => 150 })
    try {
      await chat.connected()
      away = true
      const since = Date.now()
      await chat.connected(0)
      expect(Date.now() - since).toBeLessThan(leaseMs)
      away = false
      await chat.connected()
    } finally {
      away = false
      await bot.stop()
    }
  }
)

test('the shop’s own times let another process take over within 30 s', async () => {
  const { TIMES } = await import('./run-bot.ts')
  expect(TIMES.leaseMs + TIMES.everyMs).toBeLessThan(28_000)
  expect(TIMES.backoff(1, 'unreachable')).toBe(5000)
  expect(TIMES.backoff(3, 'unreachable')).toBe(20_000)
  expect(TIMES.backoff(50, 'unreachable')).toBe(300_000)
  expect(TIMES.backoff(1, 'token_refused')).toBe(300_000)
})

/** A bot of short waits, which soon tries again. */
const AT_ONCE = { everyMs: 20, connectMs: 500, callMs: 300, backoff: () => 1 }

test('a faulty API is shown in words, and the bot recovers on its own', async () => {
  const bot = chat.start(AT_ONCE)
  const faults = [
    ['error500', 'server_error', 'internal error (500)'],
    ['html', 'bad_reply', 'unexpected reply'],
    ['half', 'unreachable', 'cannot be reached'],
    ['timeout', 'silent', 'did not respond in time'],
    ['unauthorized', 'token_refused', 'refused the bot token'],
    ['throttled', 'rate_limited', "limits the bot's request rate"]
  ] as const
  for (const [kind, problem, words] of faults) {
    await chat.call('POST', '/faults', { kind, next: 1000, path: 'gateway/bot' })
    await vi.waitFor(async () => {
      const status = await chat.status()
      expect(status.problem).toBe(problem)
      expect(status.detail).toContain(words)
    }, SOON)
  }
  await chat.call('POST', '/faults', { kind: 'none' })
  // The 60 s that the platform asks for. A process that takes over waits as long.
  const { state, retry_at } = await chat.status()
  expect(state).toBe('waiting')
  expect(new Date(retry_at ?? 0).getTime() - Date.now()).toBeGreaterThan(40_000)
  await bot.stop()
  const { connections } = await chat.gateway()
  chat.start()
  await vi.waitFor(async () => expect((await chat.status()).state).toBe('waiting'), SOON)
  expect((await chat.gateway()).connections).toBe(connections)
  await chat.shop.ctx.db.update(chatBot).set({ retryAt: null })
  await chat.connected()
  await vi.waitFor(async () => expect(await chat.status()).toMatchObject({ state: 'connected', problem: null }), SOON)
})

test('a faulty gateway is shown in words, and ends neither the process nor the tries', async () => {
  chat.start(AT_ONCE)
  const faults = [
    [{ next: { kind: 'half', count: 1000 } }, 'silent'],
    [{ next: { kind: 'broken', count: 1000 } }, 'crashed'],
    [{ next: null, refuse_intents: true }, 'intents_refused']
  ] as const
  for (const [fault, problem] of faults) {
    await chat.call('POST', '/gateway', fault)
    await vi.waitFor(async () => expect((await chat.status()).problem).toBe(problem), SOON)
  }
  await chat.call('POST', '/gateway', { refuse_intents: false })
  await chat.connected()
})

test('a connection that keeps breaking is given up, and retried after a pause', async () => {
  const { name, id } = await newMember()
  chat.start(AT_ONCE)
  await chat.connected()
  await chat.write({ user: name })
  await chat.earned(id, 1)
  await chat.call('POST', '/gateway', { next: { kind: 'silent', count: 1000 }, action: 'drop' })
  await chat.write({ user: name })
  await vi.waitFor(async () => expect((await chat.status()).problem).toBe('silent'), SOON)
  await chat.call('POST', '/gateway', { next: null })
  await chat.earned(id, 2)
})

test('without a token there is no bot, and nothing is said of one', async () => {
  const { connections } = await chat.gateway()
  await chat.settings({ discord_bot_token: '' })
  const bot = chat.start()
  expect(await chat.status()).toMatchObject({ state: 'off', problem: null })
  await bot.stop()
  expect(await chat.shop.ctx.db.$count(chatBot)).toBe(0)
  expect((await chat.gateway()).connections).toBe(connections)
  await chat.settings({ discord_bot_token: TOKEN })
  expect((await chat.status()).state).toBe('absent')
})
