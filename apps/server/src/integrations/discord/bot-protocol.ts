/** What the bot's thread and the process that started it say to each other. */
import type { ChatBotProblem } from '@netlet/contract'

export type BotCommand = { name: string; description: string; descriptionZh: string }

/** What the thread is started with. */
export type BotStart = {
  token: string
  /** Where the platform's API answers, such as `https://discord.com/api`. */
  api: string
  commands: readonly BotCommand[]
  /** How long a connection may take, at the start and after a loss (milliseconds). */
  connectMs: number
}

/** A message as the platform sends it; nothing of it is checked. */
export type RawMessage = Record<string, unknown>

export type FromBot =
  /** A session has begun: what was written before it is told by nobody, but stands in the history. */
  | { kind: 'session' }
  /** Messages are answered and commands are registered from here on. */
  | { kind: 'ready'; name: string }
  | { kind: 'lost' }
  | { kind: 'resumed' }
  | { kind: 'message'; message: RawMessage }
  | { kind: 'command'; id: string; name: string; userId: string; locale: string }
  /** Something that does not end the bot's work. */
  | { kind: 'note'; text: string }
  | { kind: 'failed'; problem: ChatBotProblem; detail: string; retryAfterMs: number }
  | ({ kind: 'done'; call: number } & CallResult)

/** `status`: the platform's HTTP status where it answered. */
export type CallResult = { ok: true; value: unknown } | { ok: false; status: number | null; message: string }

export type ToBot = { call: number } & BotCall
export type BotCall =
  /** The first `limit` messages after an id, oldest first. */
  | { kind: 'history'; channelId: string; after: string; limit: number }
  | { kind: 'reply'; channelId: string; messageId: string; content: string }
  | { kind: 'answer'; id: string; content: string; link: { label: string; url: string } | null }
  | { kind: 'close' }
