/** Messages between the bot's thread and the process that started it. */
import type { ChatBotProblem } from '@netlet/contract'

export type BotCommand = { name: string; description: string; descriptionZh: string }

export type BotStart = {
  token: string
  /** Base address of the platform's API, such as `https://discord.com/api`. */
  api: string
  commands: readonly BotCommand[]
  /** How long a connection may take, at the start and after a loss (ms). */
  connectMs: number
  /** How long one API call may take (ms). */
  callMs: number
  /** The pause after a failed registration of the commands; it doubles each time (ms). */
  registerMs: number
}

/** A message as the platform sends it, unchecked. */
export type RawMessage = Record<string, unknown>

export type FromBot =
  /** A session has begun. Earlier messages are not delivered; they are in the history. */
  | { kind: 'session' }
  /** From here on messages are answered and commands are registered. */
  | { kind: 'ready'; name: string }
  | { kind: 'lost' }
  | { kind: 'resumed' }
  | { kind: 'message'; message: RawMessage; inThread: boolean }
  | { kind: 'command'; id: string; name: string; userId: string; locale: string }
  /** Null if the commands are registered, otherwise why not. */
  | { kind: 'commands'; problem: string | null }
  /** A problem that does not stop the bot. */
  | { kind: 'note'; text: string }
  | { kind: 'failed'; problem: ChatBotProblem; detail: string; retryAfterMs: number }
  | ({ kind: 'done'; call: number } & CallResult)

/**
 * Why a call failed. `status`: the platform's HTTP status if it answered. `retryAfterMs`: the wait that it requests.
 */
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
