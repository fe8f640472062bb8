import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Sandbox } from '../sandbox.ts'
import { control, launch, newDataDir, removeDataDir, startReceiver, until } from '../testing/harness.ts'
import type { BotReply } from './bot-routes.ts'
import { demoChatUsers } from './rooms.ts'

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

test('repeated, old and wrongly signed reports can be sent', async () => {
  await messages({ user: 'marlow', count: 2, event_id: 'e1', at: '2020-01-01T00:00:00Z', wrong_signature: true })
  for (const one of shop.received) {
    expect(JSON.parse(one.body.toString())).toMatchObject({ event_id: 'e1', at: '2020-01-01T00:00:00Z' })
    expect(one.headers['x-signature']).not.toBe(signature('bot-1', one.body))
  }
  expect(shop.received).toHaveLength(2)
})

/** A bot on the gateway, like a library's, that records what it receives. */
async function openGateway(token = 'bot-1', resume?: { session_id: string; seq: number }) {
  const { url } = (await api('GET', '/gateway/bot')) as { url: string }
  const socket = new WebSocket(url)
  const packets: Packet[] = []
  socket.addEventListener('message', ({ data }) => packets.push(JSON.parse(String(data)) as Packet))
  const closed = new Promise<number>(settle => socket.addEventListener('close', ({ code }) => settle(code)))
  const send = (packet: object) => socket.send(JSON.stringify(packet))
  const next = (kind: number | string) =>
    until(`packet ${kind}`, () => packets.find(({ op, t }) => (typeof kind === 'number' ? op === kind : t === kind)))
  await next(10)
  send(resume ? { op: 6, d: { token, ...resume } } : { op: 2, d: { token, intents: 513, properties: {} } })
  return { packets, closed, send, next, end: () => socket.close(4200) }
}
type Packet = { op: number; t?: string; s?: number; d: Record<string, unknown> }

async function api(method: string, path: string, body?: object): Promise<unknown> {
  const headers = { authorization: 'Bot bot-1', ...(body ? { 'content-type': 'application/json' } : {}) }
  const reply = await fetch(`${sandbox.url}/api/v10${path}`, {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {})
  })
  return reply.status === 204 ? null : reply.json()
}
const write = (body: object) => control<{ ids: string[] }>(sandbox, 'POST', '/discord/rooms', body)

test('the gateway says hello, accepts known tokens, acknowledges heartbeats, and sends messages', async () => {
  const stranger = await openGateway('wrong')
  expect(await stranger.closed).toBe(4004)
  const bot = await openGateway()
  expect((await bot.next('READY')).d).toMatchObject({ user: { bot: true }, resume_gateway_url: expect.any(String) })
  await bot.next('GUILD_CREATE')
  bot.send({ op: 1, d: null })
  await bot.next(11)
  const { ids } = await write({ user: 'marlow', content: 'Hi' })
  expect((await bot.next('MESSAGE_CREATE')).d).toMatchObject({
    id: ids[0],
    content: 'Hi',
    guild_id: expect.any(String)
  })
  bot.end()
})

test('a client that resumes gets what it missed, in order; an unknown session is invalid', async () => {
  const first = await openGateway()
  const { d } = await first.next('READY')
  const { s: seq = 0 } = await first.next('GUILD_CREATE')
  first.end()
  await first.closed
  const { ids } = await write({ user: 'marlow', count: 3 })
  const session_id = String(d['session_id'])
  const second = await openGateway('bot-1', { session_id, seq })
  await second.next('RESUMED')
  const told = second.packets.filter(packet => packet.t === 'MESSAGE_CREATE').map(packet => packet.d['id'])
  expect(told).toEqual(ids)
  second.end()
  const third = await openGateway('bot-1', { session_id: 'unknown', seq: 1 })
  expect((await third.next(9)).d).toBe(false)
  third.end()
})

test('the history after an id is newest first, and survives a restart', async () => {
  const { ids } = await write({ user: 'marlow', count: 5 })
  const channel = '/channels/330000000000000001/messages'
  const read = async () =>
    ((await api('GET', `${channel}?after=${ids[0]}&limit=3`)) as { id: string }[]).map(one => one.id)
  expect(await read()).toEqual([ids[3], ids[2], ids[1]])
  await sandbox.close()
  sandbox = await launch(dir, shop.url, { discordBotToken: 'bot-1' })
  expect(await read()).toEqual([ids[3], ids[2], ids[1]])
})

test('the chat page shows the channels, and the bot’s answers to their users', async () => {
  const send = async (form: Record<string, string>) =>
    fetch(`${sandbox.url}/chat`, { method: 'POST', body: new URLSearchParams(form) })
  expect(await (await fetch(`${sandbox.url}/chat`)).text()).toContain('No bot is connected')
  const bot = await openGateway()
  await bot.next('GUILD_CREATE')
  await api('PUT', '/applications/90000000000000001/commands', [{ name: 'points', description: 'Coins' }] as never)
  const page = await (await send({ name: 'marlow', message: 'Hello, <b>all</b>' })).text()
  expect(page).toContain('Hello, &lt;b&gt;all')
  expect(page).toContain('/points')
  const asked = send({ name: 'marlow', command: 'points' })
  const { d } = await bot.next('INTERACTION_CREATE')
  await api('POST', `/interactions/${String(d['id'])}/${String(d['token'])}/callback`, { type: 5, data: { flags: 64 } })
  await api('PATCH', `/webhooks/90000000000000001/${String(d['token'])}/messages/@original`, { content: 'Coins: 7' })
  const answered = await (await asked).text()
  expect(answered).toContain('only you can see this')
  expect(answered).toContain('Coins: 7')
  expect((await send({ name: '<b>' })).status).toBe(400)
  bot.end()
})
