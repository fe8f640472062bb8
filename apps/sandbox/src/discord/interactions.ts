import { randomBytes } from 'node:crypto'
import type { ChatUser } from './discord.ts'
import type { Gateway } from './gateway.ts'
import { BOT_USER, GUILD, type Rooms } from './rooms.ts'

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
