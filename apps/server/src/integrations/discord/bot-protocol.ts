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
  /** How long one call of the API may take (milliseconds). */
  callMs: number
  /** The pause after a registration of the commands that failed; it doubles with each (milliseconds). */
  registerMs: number
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
  | { kind: 'message'; message: RawMessage; inThread: boolean }
  | { kind: 'command'; id: string; name: string; userId: string; locale: string }
  /** The commands are registered (null), or are not: why. */
  | { kind: 'commands'; problem: string | null }
  /** Something that does not end the bot's work. */
  | { kind: 'note'; text: string }
  | { kind: 'failed'; problem: ChatBotProblem; detail: string; retryAfterMs: number }
  | ({ kind: 'done'; call: number } & CallResult)

/** Why a call failed. `status`: the platform's HTTP status where it answered; `retryAfterMs`: the wait that it asks for. */
export type CallFailure = {
  ok: false
  status: number | null
  problem: ChatBotProblem
  message: string
  retryAfterMs: number
}
export type CallResult = { ok: true; value: unknown } | CallFailure

export type ToBot = { call: number } & BotCall
export type BotCall =
  /** The first `limit` messages after an id, oldest first. */
  | { kind: 'history'; channelId: string; after: string; limit: number }
  | { kind: 'reply'; channelId: string; messageId: string; content: string }
  | { kind: 'answer'; id: string; content: string; link: { label: string; url: string } | null }
  | { kind: 'close' }
