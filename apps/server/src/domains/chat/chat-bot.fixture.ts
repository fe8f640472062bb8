import { eq } from '../../infra/db/drizzle.ts'
import { expect, vi } from 'vitest'
import type { Sandbox } from '../../../../sandbox/src/sandbox.ts'
import { control, launch, newDataDir, removeDataDir } from '../../../../sandbox/src/testing/harness.ts'
import { startTestShop, type TestShop } from '../../testing/shop.ts'
import { users } from '../accounts/tables.ts'
import { namedUser } from '../../../../sandbox/src/discord/rooms.ts'
import type { ChatBotStatus } from '@netlet/contract'
import { writeSettings } from '../settings/index.ts'
import { chatBotRoutes, startChatBot, type ChatBotTimes } from './index.ts'

export const TOKEN = 'bot-token-of-the-test'
export const CHANNEL = '330000000000000001'
export const OTHER_CHANNEL = '330000000000000002'

/** The shop's times, but short for tests. */
const QUICK: Partial<ChatBotTimes> = {
  everyMs: 100,
  leaseMs: 1500,
  connectMs: 2500,
  callMs: 1000,
  registerMs: 100,
  goodMs: 60_000,
  backoff: () => 150
}

export type Gateway = {
  connections: number
  identified: number
  resumed: number
  sessions: { id: string }[]
  resumable: number
}
export type Answer = { content: string; ephemeral: boolean; link: { label: string; url: string } | null }
type Written = {
  user: string
  count?: number
  channel_id?: string
  bot?: boolean
  direct?: boolean
  repeat?: number
  thread?: boolean
}

/** A shop, the stand-in platform, and any number of bots. `close()` it in `afterAll`. */
export async function startChat() {
  const dir = await newDataDir()
  const sandbox: Sandbox = await launch(dir, 'http://shop.example.com', { discordBotToken: TOKEN })
  const shop: TestShop = await startTestShop({
    routes: (mount, ctx) => chatBotRoutes(mount, ctx),
    config: { discordUrl: sandbox.url, logLevel: process.env['LOG_LEVEL'] ?? 'silent' }
  })
  const bots: { stop(): Promise<void> }[] = []
  const call = <T>(method: string, path: string, body?: unknown) => control<T>(sandbox, method, `/discord${path}`, body)
  const gateway = () => call<Gateway>('GET', '/gateway')
  const coinsOf = async (id: number) => {
    const [row] = await shop.ctx.db.select({ coins: users.coins }).from(users).where(eq(users.id, id))
    return row?.coins ?? 0
  }
  const boss = await shop.admin()
  return {
    shop,
    sandbox,
    /** A customer with the bound chat account of that name. */
    async member(name: string) {
      const { user } = await shop.customer()
      await shop.ctx.db
        .update(users)
        .set({ discordId: namedUser(name).id, discordName: name })
        .where(eq(users.id, user.id))
      return user.id
    },
    status: async () => (await boss.get<ChatBotStatus>('/api/settings/chat_bot')).data,
    call,
    gateway,
    coinsOf,
    write: async (message: Written) => (await call<{ ids: string[] }>('POST', '/rooms', message)).ids,
    room: (channel = CHANNEL) =>
      call<{ content: string; author: { bot?: boolean }; replyTo: string | null }[]>(
        'GET',
        `/rooms?channel_id=${channel}`
      ),
    /** What the asker sees within so many milliseconds; null: nothing. */
    ask: async (user: string, name: string, locale = 'en-US', withinMs = 10_000) =>
      (await call<{ answer: Answer | null }>('POST', '/commands', { user, name, locale, within_ms: withinMs })).answer,
    settings: (values: Parameters<typeof writeSettings>[1]) => writeSettings(shop.ctx, values),
    start(times: Partial<ChatBotTimes> = {}) {
      const bot = startChatBot(shop.ctx, { ...QUICK, ...times })
      bots.push(bot)
      return bot
    },
    async stopBots() {
      for (const bot of bots.splice(0)) await bot.stop()
    },
    connected: (count = 1, within: object = SOON) =>
      vi.waitFor(async () => expect((await gateway()).sessions).toHaveLength(count), within),
    earned: (id: number, coins: number) => expect.poll(() => coinsOf(id), SOON).toBe(coins),
    async close() {
      for (const bot of bots) await bot.stop()
      await shop.close()
      await sandbox.close()
      await removeDataDir(dir)
    }
  }
}
export type Chat = Awaited<ReturnType<typeof startChat>>

export const SOON = { timeout: 60_000, interval: 50 }
