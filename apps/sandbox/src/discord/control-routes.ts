import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Bot, BotReply } from './bot-routes.ts'
import { type Author, demoChannel, GUILD, messagePayload, namedUser, type Rooms } from './rooms.ts'
import { ApiFaultBody, type apiFaults, type Interactions } from './interactions.ts'
import { type Gateway, GATEWAY_KINDS } from './gateway.ts'

export const Name = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9_.]{2,32}$/, 'has 2 to 32 letters, digits, dots or underscores')
const Reports = z.object({
  user: Name,
  channel_id: z.string().min(1).default(demoChannel),
  count: z.number().int().min(1).max(200).default(1),
  event_id: z.string().min(1).optional(),
  at: z.string().optional(),
  wrong_signature: z.boolean().default(false)
})
const Written = z.object({
  user: Name,
  channel_id: z.string().min(1).default(demoChannel),
  content: z.string().min(1).max(2000).default('Hello, room'),
  count: z.number().int().min(1).max(500).default(1),
  thread: z.boolean().default(false),
  bot: z.boolean().default(false),
  /** A direct message, outside of the guild. */
  direct: z.boolean().default(false),
  /** How often the gateway sends each message. */
  repeat: z.number().int().min(0).max(10).default(1)
})
const Edited = z.object({ message_id: z.string(), content: z.string().default('Edited') })
const Asked = z.object({
  user: Name,
  name: z.string(),
  locale: z.string().default('en-US'),
  channel_id: z.string().default(demoChannel),
  within_ms: z.number().int().min(1).max(30_000).default(10_000)
})
const Gate = z.object({
  action: z.enum(['drop', 'close', 'reconnect', 'invalid_session']).optional(),
  code: z.number().int().min(1000).max(4999).optional(),
  resumable: z.boolean().optional(),
  mute: z.boolean().optional(),
  refuse_intents: z.boolean().optional(),
  forgetful: z.boolean().optional(),
  heartbeat_ms: z.number().int().min(20).max(600_000).optional(),
  next: z
    .object({ kind: z.enum(GATEWAY_KINDS), count: z.number().int().min(0).max(1000) })
    .nullable()
    .optional()
})

type Options = {
  /** Reports a message by the signed webhook, like an operator's own bot. */
  report: Bot
  gateway: Gateway
  rooms: Rooms
  interactions: Interactions
  faults: ReturnType<typeof apiFaults>
  setToken: (token: string) => void
}

/** /sandbox/discord/…: writes messages, uses commands, and causes faults. README.md lists the routes. */
export function chatControlRoutes(
  app: FastifyInstance,
  { report, gateway, rooms, interactions, faults, setToken }: Options
): void {
  app.post('/sandbox/discord/messages', async request => {
    const { user, channel_id, count, event_id, at, wrong_signature } = Reports.parse(request.body)
    const replies: BotReply[] = []
    for (let sent = 0; sent < count; sent++)
      replies.push(
        await report({
          user: namedUser(user),
          channelId: channel_id,
          eventId: event_id,
          at,
          wrongSignature: wrong_signature
        })
      )
    return { replies }
  })

  app.get('/sandbox/discord/rooms', async request => {
    const { channel_id } = z.object({ channel_id: z.string().default(demoChannel) }).parse(request.query)
    return rooms.read(channel_id, { limit: 500 }).toReversed()
  })

  app.post('/sandbox/discord/rooms', async request => {
    const { user, channel_id, content, count, bot, direct, repeat, thread } = Written.parse(request.body)
    const author: Author = bot ? { ...namedUser(user), bot: true } : namedUser(user)
    const ids: string[] = []
    if (thread)
      gateway.publish('THREAD_CREATE', { id: channel_id, type: 11, guild_id: GUILD.id, parent_id: demoChannel })
    for (let n = 0; n < count; n++) {
      const written = rooms.write({ channelId: channel_id, author, content })
      const message = direct ? messagePayload(written) : { ...messagePayload(written), guild_id: GUILD.id }
      for (let told = 0; told < repeat; told++) gateway.publish('MESSAGE_CREATE', message)
      ids.push(written.id)
    }
    return { ids }
  })

  app.patch('/sandbox/discord/rooms', async (request, reply) => {
    const { message_id, content } = Edited.parse(request.body)
    const found = rooms.find(message_id)
    if (!found) return reply.code(404).send({ error: 'no such message' })
    found.content = content
    const edited_timestamp = new Date().toISOString()
    gateway.publish('MESSAGE_UPDATE', { ...messagePayload(found), edited_timestamp, guild_id: GUILD.id })
    return found
  })

  app.get('/sandbox/discord/commands', async () => interactions.commands())

  app.post('/sandbox/discord/commands', async request => {
    const { user, name, locale, channel_id, within_ms } = Asked.parse(request.body)
    const answer = await interactions.ask(namedUser(user), { name, locale, channelId: channel_id, withinMs: within_ms })
    return { answer }
  })

  app.get('/sandbox/discord/gateway', async () => ({ ...gateway.state(), faults: gateway.faults }))

  app.post('/sandbox/discord/gateway', async request => {
    const { action, code, resumable = false, ...change } = Gate.parse(request.body)
    if (change.mute !== undefined) gateway.faults.mute = change.mute
    if (change.refuse_intents !== undefined) gateway.faults.refuseIntents = change.refuse_intents
    if (change.forgetful !== undefined) gateway.faults.forgetful = change.forgetful
    if (change.heartbeat_ms !== undefined) gateway.faults.heartbeatMs = change.heartbeat_ms
    if (change.next !== undefined) gateway.faults.next = change.next
    const hit = action ? gateway.disturb(action, code === undefined ? { resumable } : { code, resumable }) : 0
    return { hit, ...gateway.state() }
  })

  app.post('/sandbox/discord/faults', async request => {
    const fault = ApiFaultBody.parse(request.body)
    faults.set(fault)
    return { fault }
  })

  // The platform ends a token when its owner creates another one.
  app.post('/sandbox/discord/token', async request => {
    const { token } = z.object({ token: z.string().min(1) }).parse(request.body)
    setToken(token)
    return { hit: gateway.disturb('close', { code: 4004 }) }
  })
}
