import { createHmac, randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { BOT_USER, CHANNELS, type ChatUser, GUILD, messagePayload, type Rooms } from './rooms.ts'
import type { Gateway } from './gateway.ts'
import type { Interactions } from './interactions.ts'

const Command = z.object({ name: z.string().regex(/^[-_a-z0-9]{1,32}$/), description: z.string().min(1).max(100) })
const Post = z.object({
  content: z.string().min(1).max(2000),
  message_reference: z.object({ message_id: z.string() }).optional()
})
const Body = z.object({
  content: z.string().max(2000).nullish(),
  flags: z.number().optional(),
  components: z
    .array(
      z.object({
        components: z.array(z.object({ label: z.string().optional(), url: z.string().optional() })).optional()
      })
    )
    .optional()
})
const Callback = z.object({ type: z.number(), data: Body.optional() })
const History = z.object({
  after: z.string().regex(/^\d+$/).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(50)
})

type Options = { gateway: Gateway; rooms: Rooms; interactions: Interactions; token: () => string }
type Channel = { Params: { channel: string } }
type Token = { Params: { token: string } }

/** The API of bots: the gateway's address, messages, commands and their answers. */
export function botRoutes(app: FastifyInstance, { gateway, rooms, interactions, token }: Options): void {
  const isBot = (request: FastifyRequest) => request.headers.authorization === `Bot ${token()}`
  const refuse = (reply: FastifyReply) => reply.code(401).send({ message: '401: Unauthorized', code: 0 })
  const unknown = (reply: FastifyReply, what: string, code: number) =>
    reply.code(404).send({ message: `Unknown ${what}`, code })
  const hasChannel = (id: string) => CHANNELS.some(channel => channel.id === id)

  app.get('/api/v10/gateway/bot', async (request, reply) => {
    if (!isBot(request)) return refuse(reply)
    const limit = { total: 1000, remaining: 1000, reset_after: 86_400_000, max_concurrency: 1 }
    return { url: gateway.url(), shards: 1, session_start_limit: limit }
  })

  app.put<{ Params: { application: string } }>(
    '/api/v10/applications/:application/commands',
    async (request, reply) => {
      if (!isBot(request)) return refuse(reply)
      const made = interactions.register(z.array(Command.loose()).parse(request.body))
      return made.map(command => ({ ...command, application_id: BOT_USER.id, version: command.id, type: 1 }))
    }
  )

  app.get<Channel>('/api/v10/channels/:channel/messages', async (request, reply) => {
    if (!isBot(request)) return refuse(reply)
    const { channel } = request.params
    if (!hasChannel(channel)) return unknown(reply, 'Channel', 10003)
    // Any part of the history is newest first.
    return rooms.read(channel, History.parse(request.query)).map(messagePayload).toReversed()
  })

  app.post<Channel>('/api/v10/channels/:channel/messages', async (request, reply) => {
    if (!isBot(request)) return refuse(reply)
    const { channel } = request.params
    if (!hasChannel(channel)) return unknown(reply, 'Channel', 10003)
    const { content, message_reference } = Post.parse(request.body)
    const replyTo = message_reference?.message_id ?? null
    const message = messagePayload(rooms.write({ channelId: channel, author: BOT_USER, content, replyTo }))
    gateway.publish('MESSAGE_CREATE', { ...message, guild_id: GUILD.id })
    return message
  })

  // These need no header, because the interaction's token authenticates the bot.
  app.post<Token>('/api/v10/interactions/:id/:token/callback', async (request, reply) => {
    if (!interactions.callback(request.params.token, Callback.parse(request.body)))
      return unknown(reply, 'interaction', 10062)
    return reply.code(204).send()
  })

  // The last part is `@original`, escaped or not.
  app.patch<Token>('/api/v10/webhooks/:application/:token/messages/:message', async (request, reply) => {
    const body = Body.parse(request.body)
    if (!interactions.edit(request.params.token, body)) return unknown(reply, 'Webhook', 10015)
    const { id: channelId } = CHANNELS[0]
    const at = new Date().toISOString()
    return messagePayload({
      id: rooms.nextId(),
      channelId,
      author: BOT_USER,
      content: body.content ?? '',
      at,
      replyTo: null
    })
  })
}

type BotReport = { user: ChatUser; channelId: string; eventId?: string; at?: string; wrongSignature?: boolean }
/** The shop's answer; its status is null if there was none. */
export type BotReply = { event_id: string; status: number | null; body: unknown }

/** An operator's own bot: it reports messages to the shop's webhook, signed with the bot's token. */
export function createBot(options: { shopUrl: string; token: () => string; fetch: typeof fetch; now: () => number }) {
  return async ({ user, channelId, eventId, at, wrongSignature }: BotReport): Promise<BotReply> => {
    const event_id = eventId ?? randomUUID()
    const body = JSON.stringify({
      event_id,
      discord_id: user.id,
      channel_id: channelId,
      at: at ?? new Date(options.now()).toISOString()
    })
    const key = wrongSignature ? `${options.token()}-wrong` : options.token()
    try {
      const response = await options.fetch(`${options.shopUrl}/api/users/bot_webhook`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-signature': createHmac('sha256', key).update(body).digest('hex')
        },
        body,
        signal: AbortSignal.timeout(5000)
      })
      return { event_id, status: response.status, body: await response.json().catch(() => null) }
    } catch {
      return { event_id, status: null, body: null }
    }
  }
}

export type Bot = ReturnType<typeof createBot>
