import { join } from 'node:path'
import { openStore } from '../kit/store.ts'
import { createHash, randomBytes } from 'node:crypto'

/** The stand-in's only guild. */
export const GUILD = { id: '340000000000000001', name: 'Netlet community' } as const
/** Its channels. The demo's settings use the first one. */
export const CHANNELS = [
  { id: '330000000000000001', name: 'general' },
  { id: '330000000000000002', name: 'off-topic' }
] as const
export const demoChannel = CHANNELS[0].id
export const BOT_USER = { id: '90000000000000001', username: 'shop_bot', global_name: 'Shop bot', bot: true } as const

export type Author = ChatUser & { bot?: boolean }
export type RoomMessage = {
  id: string
  channelId: string
  author: Author
  content: string
  /** ISO 8601. */
  at: string
  /** The message that this one replies to. */
  replyTo: string | null
}

/** Number of messages kept. */
const KEPT = 2000
const EPOCH = 1_420_070_400_000n

type State = { version: 1; lastId: string; messages: RoomMessage[] }

/** The channels' messages. Their ids contain the time, as on the platform. They survive a restart. */
export async function openRooms(dir: string, now: () => number) {
  const store = await openStore<State>(join(dir, 'rooms.json'), () => ({ version: 1, lastId: '0', messages: [] }))
  const state = store.data

  /** Greater than all earlier ids, with the current time. */
  function nextId(): string {
    const ofNow = (BigInt(Math.trunc(now())) - EPOCH) << 22n
    const last = BigInt(state.lastId)
    state.lastId = String(ofNow > last ? ofNow : last + 1n)
    return state.lastId
  }

  return {
    nextId,

    write(message: Pick<RoomMessage, 'channelId' | 'author' | 'content'> & { replyTo?: string | null }): RoomMessage {
      const written = { replyTo: null, ...message, id: nextId(), at: new Date(now()).toISOString() }
      state.messages.push(written)
      if (state.messages.length > KEPT) state.messages.splice(0, state.messages.length - KEPT)
      void store.save().catch(() => {})
      return written
    },

    /** Oldest first. With `after`: the first `limit` after that id; otherwise the last ones. */
    read(channelId: string, { after, limit }: { after?: string | undefined; limit: number }): RoomMessage[] {
      const ofChannel = state.messages.filter(message => message.channelId === channelId)
      if (after === undefined) return ofChannel.slice(-limit)
      return ofChannel.filter(message => BigInt(message.id) > BigInt(after)).slice(0, limit)
    },

    find: (id: string) => state.messages.find(message => message.id === id),

    close: () => store.close()
  }
}

export type Rooms = Awaited<ReturnType<typeof openRooms>>

/** A message in the format of the platform's API and gateway. */
export const messagePayload = ({ id, channelId, author, content, at, replyTo }: RoomMessage) => ({
  id,
  channel_id: channelId,
  type: replyTo === null ? 0 : 19,
  author: { discriminator: '0', avatar: null, ...author },
  content,
  timestamp: at,
  edited_timestamp: null,
  tts: false,
  mention_everyone: false,
  mentions: [],
  mention_roles: [],
  attachments: [],
  embeds: [],
  pinned: false,
  ...(replyTo === null ? {} : { message_reference: { type: 0, message_id: replyTo, channel_id: channelId } })
})

export type ChatUser = { id: string; username: string; global_name: string | null }

export const demoChatUsers: readonly ChatUser[] = [
  { id: '310000000000000001', username: 'marlow', global_name: 'Marlow' },
  { id: '310000000000000002', username: 'ines.k', global_name: 'Ines K.' },
  { id: '310000000000000003', username: 'rackwatcher', global_name: null }
]

/** A name always gives the same account, as on the real platform. */
export function namedUser(name: string): ChatUser {
  const known = demoChatUsers.find(user => user.username === name)
  if (known) return known
  const number = BigInt(`0x${createHash('sha256').update(name).digest('hex').slice(0, 14)}`) % 10n ** 17n
  return { id: String(320_000_000_000_000_000n + number), username: name, global_name: null }
}

type Grant = { user: ChatUser; redirectUri: string; challenge: string | null; expiresAt: number }
const CODE_LIFE_MS = 10 * 60_000
const TOKEN_LIFE_MS = 7 * 24 * 3600_000

const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')

/** Codes and tokens of the stand-in. A code works once, for its redirect address, for ten minutes. */
export function createGrants(now: () => number) {
  const codes = new Map<string, Grant>()
  const tokens = new Map<string, { user: ChatUser; expiresAt: number }>()
  return {
    /** @param challenge of PKCE (S256); null: the authorize address had none */
    issueCode(user: ChatUser, redirectUri: string, challenge: string | null): string {
      for (const [old, grant] of codes) if (grant.expiresAt <= now()) codes.delete(old)
      const code = randomBytes(15).toString('base64url')
      codes.set(code, { user, redirectUri, challenge, expiresAt: now() + CODE_LIFE_MS })
      return code
    },

    /** The access token; null if the code is unknown, used, expired, or of another redirect address or challenge. */
    redeem(code: string, redirectUri: string, verifier: string | null): string | null {
      const grant = codes.get(code)
      codes.delete(code)
      if (!grant || grant.redirectUri !== redirectUri || grant.expiresAt <= now()) return null
      if (grant.challenge !== (verifier === null ? null : challengeOf(verifier))) return null
      const token = randomBytes(24).toString('base64url')
      tokens.set(token, { user: grant.user, expiresAt: now() + TOKEN_LIFE_MS })
      return token
    },

    userOf(token: string): ChatUser | null {
      const held = tokens.get(token)
      return held && held.expiresAt > now() ? held.user : null
    }
  }
}
