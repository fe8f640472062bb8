import type { ChatBotProblem } from '@netlet/contract'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import { readSettings } from '../settings/index.ts'
import { connectBot } from './connection.ts'
import { recordCommands, recordFailure, recordState, recordUnreadable, releaseBotLock, takeBotLock } from './lease.ts'

/** All in milliseconds. */
export type ChatBotTimes = {
  /** How often settings and lease are checked. */
  everyMs: number
  /** How long a silent process keeps the bot. Together with `everyMs`, the time until another one takes over. */
  leaseMs: number
  /** How long the platform may take to connect the bot. */
  connectMs: number
  /** How long one API call may take. It is made twice before it has failed. */
  callMs: number
  /** The pause after a failed registration of the commands. It doubles each time. */
  registerMs: number
  /** After a connection this long, its end counts as the first failure. */
  goodMs: number
  backoff: (failures: number, problem: ChatBotProblem) => number
}

export const TIMES: ChatBotTimes = {
  everyMs: 5000,
  leaseMs: 20_000,
  connectMs: 45_000,
  callMs: 10_000,
  registerMs: 5000,
  goodMs: MINUTE,
  // Retries do not fix what an operator must fix, and the platform limits a bot's sessions.
  backoff: (failures, problem) =>
    problem === 'token_refused' || problem === 'intents_refused'
      ? 5 * MINUTE
      : Math.min(5 * MINUTE, 5000 * 2 ** Math.min(failures - 1, 10))
}

/** The share of the lease after which the bot stops, because a busy process's timer may be late. */
const MARGIN = 0.85

/**
 * Runs the chat bot in exactly one process while a token is set, and follows the settings.
 * @returns `stop` ends it and lets another process take over at once
 */
export function startChatBot(ctx: AppContext, changed: Partial<ChatBotTimes> = {}): { stop(): Promise<void> } {
  const times = { ...TIMES, ...changed }
  const holder = randomUUID()
  const ending = new AbortController()
  let held = false
  let complained = false
  let connection: ReturnType<typeof open> | null = null
  let guard: NodeJS.Timeout | undefined

  async function look(): Promise<void> {
    const settings = await readSettings(ctx.db, ctx.secrets)
    const token = settings.discord_bot_token
    if (token === '') return give()
    const asked = performance.now()
    const lease = await takeBotLock(ctx, { holder, token, leaseMs: times.leaseMs })
    if (!lease) {
      held = false
      return drop()
    }
    held = true
    clearTimeout(guard)
    // Another process takes over when the lease ends, even if this one is only blocked.
    guard = setTimeout(() => void drop(), times.leaseMs * MARGIN - (performance.now() - asked))
    if (connection && connection.token !== token) await drop()
    if (connection) return connection.opened.apply(settings)
    if (lease.waitMs > 0 || ending.signal.aborted) return
    await recordState(ctx, holder, { state: 'connecting' })
    connection = open(token, settings)
  }

  function open(token: string, settings: Awaited<ReturnType<typeof readSettings>>) {
    let connectedAt: number | null = null
    let noting = Promise.resolve()
    // In order, so that the last state stays.
    const note = (write: () => Promise<void>) =>
      void (noting = noting
        .then(write)
        .catch((error: unknown) => ctx.log.warn({ err: error }, 'the state of the chat bot was not noted')))
    // Clears the results of the previous connection.
    note(() => recordUnreadable(ctx, holder, []))
    const opened = connectBot(
      ctx,
      { token, settings, connectMs: times.connectMs, callMs: times.callMs, registerMs: times.registerMs },
      {
        onConnected(name) {
          connectedAt ??= performance.now()
          note(() => recordState(ctx, holder, { state: 'connected', ...(name === undefined ? {} : { name }) }))
        },
        onLost: () => note(() => recordState(ctx, holder, { state: 'connecting' })),
        onCommands: problem => note(() => recordCommands(ctx, holder, problem)),
        onUnreadable: channels => note(() => recordUnreadable(ctx, holder, channels)),
        onFailed(problem, detail, atLeastMs) {
          const afresh = connectedAt !== null && performance.now() - connectedAt >= times.goodMs
          const noted = recordFailure(ctx, holder, { problem, detail, atLeastMs, afresh }, times.backoff)
          const tell = (retryInMs?: number) =>
            ctx.log.warn({ problem, detail, retryInMs }, 'the chat bot does not work')
          // Only after the record: the next check needs its pause.
          void noted
            .then(tell, () => tell())
            .finally(() => {
              if (connection?.opened === opened) connection = null
            })
        }
      }
    )
    return { token, opened }
  }

  async function drop(): Promise<void> {
    const ended = connection
    connection = null
    await ended?.opened.close()
  }

  async function give(): Promise<void> {
    clearTimeout(guard)
    await drop()
    if (held) await releaseBotLock(ctx, holder)
    held = false
  }

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        await look()
        complained = false
      } catch (error) {
        if (!complained) ctx.log.warn({ err: error }, 'the chat bot cannot be looked after')
        complained = true
      }
      await sleep(times.everyMs, undefined, { signal: ending.signal }).catch(() => {})
    }
  }

  const running = run()
  return {
    async stop() {
      ending.abort()
      await running
      await give().catch((error: unknown) => ctx.log.warn({ err: error }, 'the chat bot was not released'))
    }
  }
}
