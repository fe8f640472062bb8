import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Sandbox } from '../sandbox.ts'
import { control, launch, newDataDir, removeDataDir, startReceiver } from '../testing/harness.ts'
import type { BotReply } from './bot.ts'
import { demoChatUsers } from './discord.ts'

let dir: string
let shop: Awaited<ReturnType<typeof startReceiver>>
let sandbox: Sandbox

beforeEach(async () => {
  dir = await newDataDir()
  shop = await startReceiver()
  sandbox = await launch(dir, shop.url, { discordBotToken: 'bot-1' })
})
afterEach(async () => {
  await sandbox.close()
  await shop.close()
  await removeDataDir(dir)
})

const messages = (body: unknown) => control<{ replies: BotReply[] }>(sandbox, 'POST', '/discord/messages', body)
const signature = (key: string, body: Buffer | undefined) =>
  createHmac('sha256', key)
    .update(body ?? '')
    .digest('hex')

test('each message is reported once, signed with the bot’s token', async () => {
  const { replies } = await messages({ user: 'marlow', count: 3, channel_id: 'c1' })
  expect(replies.map(one => one.status)).toEqual([200, 200, 200])
  const reports = shop.received.map(one => JSON.parse(one.body.toString()))
  expect(new Set(reports.map(one => one.event_id)).size).toBe(3)
  expect(reports[0]).toMatchObject({ discord_id: demoChatUsers[0]?.id, channel_id: 'c1' })
  expect(shop.received[0]?.path).toBe('/api/users/bot_webhook')
  expect(shop.received[0]?.headers['x-signature']).toBe(signature('bot-1', shop.received[0]?.body))
})

test('the same report again, an old one, and one with a wrong signature can be sent', async () => {
  await messages({ user: 'marlow', count: 2, event_id: 'e1', at: '2020-01-01T00:00:00Z', wrong_signature: true })
  for (const one of shop.received) {
    expect(JSON.parse(one.body.toString())).toMatchObject({ event_id: 'e1', at: '2020-01-01T00:00:00Z' })
    expect(one.headers['x-signature']).not.toBe(signature('bot-1', one.body))
  }
  expect(shop.received).toHaveLength(2)
})

test('the chat page says what became of a message', async () => {
  const send = (name: string) => fetch(`${sandbox.url}/chat`, { method: 'POST', body: new URLSearchParams({ name }) })
  shop.answer = () => 401
  expect(await (await send('marlow')).text()).toContain('refused the report (HTTP 401)')
  await shop.close()
  expect(await (await send('marlow')).text()).toContain('did not answer')
  shop = await startReceiver()
  expect((await send('<b>')).status).toBe(400)
})
