import { randomBytes } from 'node:crypto'
import { BOT_USER, type ChatUser, GUILD, type Rooms } from './rooms.ts'
import type { Gateway } from './gateway.ts'
import { once } from 'node:events'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'

export type Command = { name: string; description: string }
/** The bot's answer; `ephemeral`: only the user of the command sees it. */
export type Answer = { content: string; ephemeral: boolean; link: { label: string; url: string } | null }
type Asked = { id: string; token: string; ephemeral: boolean; done: (answer: Answer) => void }

const EPHEMERAL = 64

/** The slash commands that the bot registered, and those that await its answer. */
export function createInteractions({ rooms, gateway }: { rooms: Rooms; gateway: Gateway }) {
  const waiting = new Map<string, Asked>()
  let commands: (Command & { id: string })[] = []

  return {
    commands: () => commands,

    register(wanted: Command[]) {
      commands = wanted.map(command => ({ ...command, id: rooms.nextId() }))
      return commands
    },

    /** Sends a command to the bot. Null if it does not answer in time, when the platform reports a failure. */
    async ask(
      user: ChatUser,
      { name, channelId, locale, withinMs }: { name: string; channelId: string; locale: string; withinMs: number }
    ): Promise<Answer | null> {
      const id = rooms.nextId()
      const token = randomBytes(24).toString('base64url')
      const command = commands.find(one => one.name === name)
      return new Promise(settle => {
        const timer = setTimeout(() => done(null), withinMs)
        const done = (answer: Answer | null) => {
          clearTimeout(timer)
          waiting.delete(token)
          settle(answer)
        }
        waiting.set(token, { id, token, ephemeral: false, done })
        gateway.publish('INTERACTION_CREATE', {
          id,
          application_id: BOT_USER.id,
          type: 2,
          token,
          version: 1,
          data: { id: command?.id ?? rooms.nextId(), name, type: 1, options: [] },
          guild_id: GUILD.id,
          channel_id: channelId,
          channel: { id: channelId, type: 0 },
          member: {
            user: { discriminator: '0', avatar: null, ...user },
            roles: [],
            joined_at: '2026-01-01T00:00:00.000Z',
            deaf: false,
            mute: false,
            flags: 0,
            permissions: '0'
          },
          locale,
          guild_locale: 'en-US',
          app_permissions: '0',
          entitlements: [],
          authorizing_integration_owners: { 0: GUILD.id },
          attachment_size_limit: 10_485_760,
          context: 0
        })
      })
    },

    /** The bot's first answer; type 5 announces the content. False if no command awaits it. */
    callback(token: string, { type, data }: { type: number; data?: AnswerBody | undefined }): boolean {
      const asked = waiting.get(token)
      if (!asked) return false
      asked.ephemeral = ((data?.flags ?? 0) & EPHEMERAL) !== 0
      if (type === 4) asked.done(read(asked, data))
      return true
    },

    edit(token: string, body: AnswerBody): boolean {
      const asked = waiting.get(token)
      asked?.done(read(asked, body))
      return asked !== undefined
    }
  }
}

export type Interactions = ReturnType<typeof createInteractions>

export type AnswerBody = {
  content?: string | null | undefined
  flags?: number | undefined
  components?: { components?: { label?: string; url?: string }[] }[] | undefined
}

function read({ ephemeral }: Asked, body: AnswerBody | undefined): Answer {
  const button = body?.components?.[0]?.components?.[0]
  return {
    content: body?.content ?? '',
    ephemeral,
    link: button?.url ? { label: button.label ?? button.url, url: button.url } : null
  }
}

const KINDS = ['none', 'error500', 'throttled', 'html', 'half', 'timeout', 'lost', 'unauthorized', 'forbidden'] as const
/** The fault for the next `next` calls whose path contains `path`. */
type ApiFault = { kind: Exclude<(typeof KINDS)[number], 'none'>; next: number; path: string; retry_after: number }

export const ApiFaultBody = z.object({
  kind: z.enum(KINDS),
  next: z.number().int().min(1).max(1000).default(1),
  /** A part of the path, such as `oauth2/token` or `gateway/bot`. */
  path: z.string().default(''),
  /** Seconds in the answer `throttled`. */
  retry_after: z.number().int().min(1).default(60)
})

/** Makes the platform's API fail on request, for bots and sign-in. */
export function apiFaults(app: FastifyInstance) {
  let fault: ApiFault | null = null

  app.addHook('onRequest', async (request, reply) => {
    const path = request.url
    if (!fault || fault.next === 0 || !/^\/api\/(v10|oauth2)\//.test(path) || !path.includes(fault.path)) return
    fault.next--
    await answer(fault, request, reply)
    return reply
  })

  return {
    set({ kind, ...more }: z.infer<typeof ApiFaultBody>): void {
      fault = kind === 'none' ? null : { kind, ...more }
    }
  }
}

async function answer({ kind, retry_after }: ApiFault, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (kind === 'error500') void reply.code(500).send({ message: '500: Internal Server Error', code: 0 })
  if (kind === 'unauthorized') void reply.code(401).send({ message: '401: Unauthorized', code: 0 })
  if (kind === 'forbidden') void reply.code(403).send({ message: 'Missing Access', code: 50001 })
  if (kind === 'html') void reply.type('text/html').send('<html><title>Something is in the way</title></html>')
  if (kind === 'throttled')
    void reply
      .code(429)
      .header('retry-after', String(retry_after))
      .send({ message: 'You are being rate limited.', retry_after, global: false })
  if (kind === 'half') {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
    reply.raw.write('{"id": "3100')
    reply.raw.socket?.end()
  }
  if (kind === 'lost') {
    reply.hijack()
    reply.raw.socket?.destroy()
  }
  if (kind === 'timeout') {
    // Silent until the client gives up, or the stand-in closes its connections.
    reply.hijack()
    await once(request.raw.socket, 'close')
  }
}
