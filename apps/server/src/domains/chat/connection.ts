import type { ChatBotProblem, Settings } from '@netlet/contract'
import { LRUCache } from 'lru-cache'
import type { AppContext } from '../../infra/context.ts'
import { isTemporaryFailure } from '../../infra/db/client.ts'
import { openBot, type AskedCommand, type CallFailure, type ChatMessage } from '../../integrations/discord/bot.ts'
import { chatChannels, OLDEST_CHAT_MESSAGE } from '../rewards/index.ts'
import { COMMANDS, answerCommand, howToBind, refusalIn, settingsPage } from './answer-command.ts'
import { countedChannels, countMessage, forgetInstructions, readCursor, setCursor } from './count-message.ts'

/** How many messages of a channel are read after a gap, in pages. */
const PAGE = 100
const MOST_PAGES = 10
/** How many known channels are read if the settings name none. */
const MOST_CHANNELS = 50
/** Messages that wait to be counted. The next connection counts more from the history. */
const MOST_WAITING = 5000
/** How many members get instructions at the same time. The platform limits messages by the second. */
const MAX_REPORTED_FIELDS = 5
/** Commands that a member may use within this time, in milliseconds. */
const COMMANDS_OF_WINDOW = 5
const WINDOW_MS = 10_000

export type ConnectionEvents = {
  onConnected(name?: string): void
  onLost(): void
  /** Called once, as the last event. */
  onFailed(problem: ChatBotProblem, detail: string, retryAfterMs: number): void
  /** Null: the commands are registered; otherwise why not. */
  onCommands(problem: string | null): void
  onUnreadable(channels: string[]): void
}

/**
 * One connection of the bot. It counts each channel's messages in order, first those from the time without a bot. If a
 * message cannot be counted, the connection ends, and the next one continues there.
 */
export function connectBot(
  ctx: AppContext,
  {
    settings: first,
    ...start
  }: { token: string; connectMs: number; callMs: number; registerMs: number; settings: Settings },
  events: ConnectionEvents
) {
  let settings = first
  let over = false
  let waiting = 0
  let telling = 0
  const chains = new Map<string, Promise<void>>()
  /** Channels whose history has been requested in this session. */
  const caughtUp = new Set<string>()
  const unreadable = new Set<string>()
  const recent = new LRUCache<string, number>({ max: 5000, ttl: WINDOW_MS, noUpdateTTL: true })

  const bot = openBot(
    { ...start, baseUrl: ctx.config.discordUrl, commands: COMMANDS },
    {
      onSession() {
        caughtUp.clear()
        catchUpAll()
      },
      onReady: name => events.onConnected(name),
      onResumed: () => events.onConnected(),
      onLost: () => events.onLost(),
      onCommands: problem => events.onCommands(problem),
      onMessage(message, inThread) {
        if (counts(message.channelId, inThread)) enqueue(message.channelId, () => count(message))
      },
      onCommand: command => void answer(command),
      onNote: text => ctx.log.warn({ detail: text }, 'chat bot'),
      onFailed(problem, detail, retryAfterMs) {
        over = true
        events.onFailed(problem, detail, retryAfterMs)
      }
    }
  )

  /** All channels if the settings name none, but threads only if named. */
  function counts(channelId: string, inThread: boolean): boolean {
    const channels = chatChannels(settings)
    return channels.length === 0 ? !inThread : channels.includes(channelId)
  }

  const isOver = () => over

  function fail(problem: ChatBotProblem, detail: string, retryAfterMs = 0): void {
    if (over) return
    over = true
    void bot.close()
    events.onFailed(problem, detail, retryAfterMs)
  }

  /** Runs a channel's work in order, after its history. */
  function enqueue(channelId: string, work: () => Promise<void>): void {
    if (!caughtUp.has(channelId)) {
      caughtUp.add(channelId)
      enqueue(channelId, () => catchUp(channelId))
    }
    waiting++
    if (waiting > MOST_WAITING) return fail('crashed', 'There were too many messages to count all of them.')
    const run = async () => {
      waiting--
      if (over) return
      await work().catch((error: unknown) => {
        ctx.log.error({ err: error, channel: channelId }, 'a chat message could not be counted')
        // Skips what would fail every time. The next connection retries the rest.
        if (error instanceof HistoryError) fail(error.problem, error.message, error.retryAfterMs)
        else if (isTemporaryFailure(error)) fail('crashed', 'Messages could not be counted.')
      })
    }
    chains.set(channelId, (chains.get(channelId) ?? Promise.resolve()).then(run))
  }

  function catchUpAll(): void {
    const channels = chatChannels(settings)
    for (const channelId of channels) if (!caughtUp.has(channelId)) enqueue(channelId, async () => {})
    if (channels.length > 0) return
    void catchUpCounted()
  }

  /** If the settings name no channel: all that were counted before. */
  async function catchUpCounted(): Promise<void> {
    try {
      for (const channelId of await countedChannels(ctx.db, MOST_CHANNELS))
        if (!caughtUp.has(channelId)) enqueue(channelId, async () => {})
    } catch (error) {
      ctx.log.error({ err: error }, 'the channels of the chat bot cannot be read')
      fail('crashed', 'Messages could not be counted.')
    }
  }

  /** Counts messages since the last counted one, at most a day old. */
  async function catchUp(channelId: string): Promise<void> {
    const now = ctx.now().getTime()
    const cursor = await readCursor(ctx.db, channelId)
    // A channel that is new to the bot counts from now on.
    if (cursor === null) await setCursor(ctx, channelId, firstIdOf(now))
    const oldest = firstIdOf(now - OLDEST_CHAT_MESSAGE)
    let after = cursor === null ? firstIdOf(now) : BigInt(cursor) > BigInt(oldest) ? cursor : oldest
    for (let pages = 0; pages < MOST_PAGES && !isOver(); pages++) {
      const found = await bot.history(channelId, after, PAGE)
      if (!found.ok) return markUnreadable(channelId, found)
      if (unreadable.delete(channelId)) events.onUnreadable([...unreadable])
      for (const message of found.messages) if (!isOver()) await count(message)
      if (over || found.last === null) return
      after = found.last
      await setCursor(ctx, channelId, after)
      if (!found.more) return
    }
    if (!over) ctx.log.warn({ channel: channelId }, 'more chat messages were written than are counted afterwards')
  }

  function markUnreadable(channelId: string, failure: CallFailure): void {
    const { status, message } = failure
    if (over) return
    // It was removed from the settings in the meantime.
    if (!counts(channelId, false)) return forget(channelId)
    // The channel was deleted or the bot has no access, so it gets no new messages either.
    if (status !== 403 && status !== 404) throw new HistoryError(failure)
    ctx.log.warn({ channel: channelId, detail: message }, 'the chat bot cannot read a channel of the settings')
    unreadable.add(channelId)
    events.onUnreadable([...unreadable])
  }

  /** Forgets an unreadable channel that left the settings, so that it is tried again when it returns. */
  function forget(channelId: string): void {
    unreadable.delete(channelId)
    caughtUp.delete(channelId)
  }

  async function count(message: ChatMessage): Promise<void> {
    const { tell } = await countMessage(ctx, settings, message, telling < MAX_REPORTED_FIELDS)
    if (!tell) return
    // Not awaited, so that no message is delayed.
    void tellHowToBind(message)
  }

  async function tellHowToBind(message: ChatMessage): Promise<void> {
    telling++
    const { ok, final } = await bot.reply(message, howToBind(settingsPage(ctx)))
    telling--
    if (!ok && !final) await forgetInstructions(ctx, message.authorId).catch(() => {})
  }

  async function answer(command: AskedCommand): Promise<void> {
    const asked = (recent.get(command.userId) ?? 0) + 1
    recent.set(command.userId, asked)
    const { content, link } =
      asked > COMMANDS_OF_WINDOW
        ? refusalIn(command.locale, 'slowly')
        : await answerCommand(ctx, settings, command).catch((error: unknown) => {
            ctx.log.error({ err: error, command: command.name }, 'a command of the chat could not be answered')
            return refusalIn(command.locale, 'failed')
          })
    await bot.answer(command.id, content, link)
  }

  return {
    apply(saved: Settings): void {
      const before = settings.discord_bot_channels
      settings = saved
      if (before === saved.discord_bot_channels) return
      for (const channelId of unreadable) if (!chatChannels(saved).includes(channelId)) forget(channelId)
      events.onUnreadable([...unreadable])
      catchUpAll()
    },

    /** Ends the connection. No more events are sent; messages that are being counted are finished. */
    async close(): Promise<void> {
      over = true
      await bot.close()
      await Promise.all(chains.values())
    }
  }
}

/** A channel's history could not be read, for a reason that may pass. */
class HistoryError extends Error {
  override name = 'HistoryError'
  readonly problem: ChatBotProblem
  readonly retryAfterMs: number
  constructor({ problem, message, retryAfterMs }: CallFailure) {
    super(`The messages of a channel could not be read: ${message}`)
    this.problem = problem
    this.retryAfterMs = retryAfterMs
  }
}

/** The first id of a time: the platform's ids begin with their time. */
const firstIdOf = (ms: number): string => String((BigInt(Math.trunc(ms)) - 1_420_070_400_000n) << 22n)
