import type { ChatBotProblem } from '@netlet/contract'
import { Worker } from 'node:worker_threads'
import { z } from 'zod'
import type { BotCall, BotCommand, CallFailure, CallResult, FromBot, RawMessage } from './bot-protocol.ts'
import { Name } from '../foreign-texts.ts'

export type { BotCommand, CallFailure } from './bot-protocol.ts'

const Snowflake = z.string().regex(/^\d{1,20}$/)
const Message = z.object({
  id: Snowflake,
  channel_id: Snowflake,
  guild_id: Snowflake.optional(),
  type: z.number(),
  timestamp: z.iso.datetime({ offset: true }),
  webhook_id: Name.nullish(),
  author: z.object({ id: Snowflake, bot: z.boolean().optional(), system: z.boolean().optional() })
})

/** A member's message in a channel of a guild. */
export type ChatMessage = { id: string; channelId: string; authorId: string; at: Date }
export type AskedCommand = { id: string; name: string; userId: string; locale: string }

export type BotHandlers = {
  /** A session has begun. Later messages are newer than it. */
  onSession(): void
  onReady(name: string): void
  onLost(): void
  onResumed(): void
  /** Null if the commands are registered, otherwise why not. */
  onCommands(problem: string | null): void
  /** `inThread`: as far as the platform reported the channel. */
  onMessage(message: ChatMessage, inThread: boolean): void
  onCommand(command: AskedCommand): void
  onNote(text: string): void
  /** The last call, made once; the bot is closed. `retryAfterMs`: the wait that the platform requests. */
  onFailed(problem: ChatBotProblem, detail: string, retryAfterMs: number): void
}

export type BotOptions = {
  token: string
  commands: readonly BotCommand[]
  /** Default https://discord.com. */
  baseUrl: string | undefined
  /** How long the platform may take to connect (ms). */
  connectMs: number
  /** How long one API call may take (ms). */
  callMs: number
  /** The pause after a failed registration of the commands; it doubles each time (ms). */
  registerMs: number
}

/** Memory limit of the bot's thread, so that a fault in it does not take the process down. */
const MEMORY_MB = 192
const CALL_MS = 30_000
const CLOSE_MS = 2000
const CLOSED: CallFailure = {
  ok: false,
  status: null,
  problem: 'unreachable',
  message: 'The bot is closed.',
  retryAfterMs: 0
}
const DEFAULT = 0
const REPLY = 19

/**
 * Connects a bot to the chat platform's gateway, in a separate thread with the library. Checks the platform's data
 * here, and leaves out bots, webhooks, system messages and direct messages.
 */
export function openBot(
  { token, commands, baseUrl, connectMs, callMs, registerMs }: BotOptions,
  handlers: BotHandlers
) {
  const base = (baseUrl ?? 'https://discord.com').replace(/\/+$/, '')
  const thread = new Worker(new URL('./bot-thread.ts', import.meta.url), {
    workerData: { token, api: `${base}/api`, commands, connectMs, callMs, registerMs },
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB }
  })
  const calls = new Map<number, (result: CallResult) => void>()
  let count = 0
  let over = false

  async function end(): Promise<void> {
    over = true
    for (const settle of calls.values()) settle(CLOSED)
    await thread.terminate()
  }

  function fail(problem: ChatBotProblem, detail: string, retryAfterMs = 0): void {
    if (over) return
    void end()
    handlers.onFailed(problem, detail, retryAfterMs)
  }

  function receive(said: FromBot): void {
    if (said.kind === 'done') calls.get(said.call)?.(said)
    if (over) return
    if (said.kind === 'session') handlers.onSession()
    if (said.kind === 'ready') handlers.onReady(said.name)
    if (said.kind === 'lost') handlers.onLost()
    if (said.kind === 'resumed') handlers.onResumed()
    if (said.kind === 'commands') handlers.onCommands(said.problem)
    if (said.kind === 'note') handlers.onNote(said.text)
    if (said.kind === 'command') handlers.onCommand(said)
    if (said.kind === 'failed') fail(said.problem, said.detail, said.retryAfterMs)
    if (said.kind === 'message') {
      const message = readMessage(said.message)
      if (message && said.message['guild_id'] !== undefined) handlers.onMessage(message, said.inThread)
    }
  }

  thread.on('message', receive)
  thread.on('error', error => fail('crashed', `The bot ended: ${error.message.slice(0, 300)}`))
  thread.on('exit', () => fail('crashed', 'The bot ended.'))

  async function call(asked: BotCall, withinMs = CALL_MS): Promise<CallResult> {
    if (over) return CLOSED
    count++
    const id = count
    return new Promise(settle => {
      const timer = setTimeout(() => done({ ...CLOSED, problem: 'silent', message: 'No answer in time.' }), withinMs)
      const done = (result: CallResult) => {
        clearTimeout(timer)
        calls.delete(id)
        settle(result)
      }
      calls.set(id, done)
      thread.postMessage({ call: id, ...asked }, [])
    })
  }

  return {
    /** Members' messages after an id, oldest first, and the last id that was read (null if there are none). */
    async history(channelId: string, after: string, limit: number): Promise<History> {
      const result = await call({ kind: 'history', channelId, after, limit })
      if (!result.ok) return result
      const raw = result.value as RawMessage[]
      const last = Snowflake.safeParse(raw.at(-1)?.['id'])
      const messages = raw.map(readMessage).filter(message => message !== null)
      return { ok: true, messages, last: last.success ? last.data : null, more: raw.length >= limit }
    },

    async reply(message: ChatMessage, content: string): Promise<{ ok: boolean; final: boolean }> {
      const result = await call({ kind: 'reply', channelId: message.channelId, messageId: message.id, content })
      // A refusal is permanent, for example for a channel that the bot may not write in. Other failures may pass.
      const final = !result.ok && result.status !== null && result.status < 500 && result.status !== 429
      return { ok: result.ok, final }
    },

    /** Answers a command. Only the member who used it sees the answer. */
    async answer(id: string, content: string, link: { label: string; url: string } | null): Promise<void> {
      const result = await call({ kind: 'answer', id, content, link })
      if (!result.ok && !over) handlers.onNote(`A command could not be answered: ${result.message}`)
    },

    /** Closes the connection if that is quick, and ends the thread. No handler is called after it. */
    async close(): Promise<void> {
      if (over) return
      const closing = call({ kind: 'close' }, CLOSE_MS)
      over = true
      await closing
      await end()
    }
  }
}

type History = { ok: true; messages: ChatMessage[]; last: string | null; more: boolean } | CallFailure

/** Null if no member wrote the message, or it is malformed. */
function readMessage(raw: RawMessage): ChatMessage | null {
  const parsed = Message.safeParse(raw)
  if (!parsed.success) return null
  const { id, channel_id, type, timestamp, webhook_id, author } = parsed.data
  if ((type !== DEFAULT && type !== REPLY) || webhook_id || author.bot || author.system) return null
  return { id, channelId: channel_id, authorId: author.id, at: new Date(timestamp) }
}
