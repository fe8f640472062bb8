import type { ChatBotProblem, ChatBotStatus } from '@netlet/contract'
import { SYSTEM } from '../../infra/actor.ts'
import { isoOrNull } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { type SQL, sql } from '../../infra/db/drizzle.ts'
import { hashToken } from '../../infra/secrets.ts'
import type { Found } from '../notices/index.ts'
import { readSettings } from '../settings/index.ts'
import { chatBot } from './tables.ts'

/** For the holder: how long to wait before the next try, in milliseconds. */
export type BotLock = { waitMs: number }

const until = (ms: number): SQL => sql`clock_timestamp() + make_interval(secs => ${ms / 1000}::float8)`

/**
 * Takes or renews the right to run the bot; null while another process has it. A new token clears the state of the old
 * one.
 */
export function takeBotLock(
  ctx: AppContext,
  { holder, token, leaseMs }: { holder: string; token: string; leaseMs: number }
): Promise<BotLock | null> {
  const hash = hashToken(token)
  return command(ctx, SYSTEM, async ({ tx }) => {
    const { rows } = await tx.execute<{ wait: number | null; same: boolean }>(sql`
      insert into chat_bot as b (holder, lease_until, since) values (${holder}, ${until(leaseMs)}, clock_timestamp())
      on conflict (one) do update set holder = excluded.holder, lease_until = excluded.lease_until
        where b.holder is null or b.holder = excluded.holder or b.lease_until < clock_timestamp()
      returning (extract(epoch from retry_at - clock_timestamp()) * 1000)::float8 as wait,
        token_hash is not distinct from ${hash}::bytea as same`)
    const [row] = rows
    if (!row) return null
    if (row.same) return { waitMs: Math.max(0, row.wait ?? 0) }
    await tx.update(chatBot).set({
      state: 'connecting',
      since: sql`clock_timestamp()`,
      name: null,
      problem: null,
      detail: null,
      failures: 0,
      retryAt: null,
      tokenHash: hash,
      commandsProblem: null,
      unreadable: []
    })
    return { waitMs: 0 }
  })
}

/** Releases the right, so that another process need not wait for its end. */
export const releaseBotLock = (ctx: AppContext, holder: string): Promise<void> =>
  command(ctx, SYSTEM, async ({ tx }) => {
    await tx
      .update(chatBot)
      .set({ holder: null, leaseUntil: null })
      .where(sql`${chatBot.holder} = ${holder}`)
  })

/** Records the bot's state if this process still runs it. */
export const recordState = (
  ctx: AppContext,
  holder: string,
  change: { state: 'connecting' } | { state: 'connected'; name?: string }
): Promise<void> =>
  command(ctx, SYSTEM, async ({ tx }) => {
    const connected = { problem: null, detail: null, retryAt: null }
    await tx
      .update(chatBot)
      .set({ ...change, since: sql`clock_timestamp()`, ...(change.state === 'connected' ? connected : {}) })
      .where(sql`${chatBot.holder} = ${holder}`)
  })

/** Records why the bot's commands are not registered; null: they are. */
export const recordCommands = (ctx: AppContext, holder: string, commandsProblem: string | null): Promise<void> =>
  command(ctx, SYSTEM, async ({ tx }) => {
    await tx
      .update(chatBot)
      .set({ commandsProblem })
      .where(sql`${chatBot.holder} = ${holder}`)
  })

/** Records which channels of the settings the bot cannot read. */
export const recordUnreadable = (ctx: AppContext, holder: string, unreadable: string[]): Promise<void> =>
  command(ctx, SYSTEM, async ({ tx }) => {
    await tx
      .update(chatBot)
      .set({ unreadable })
      .where(sql`${chatBot.holder} = ${holder}`)
  })

export type Failure = {
  problem: ChatBotProblem
  detail: string
  /** The wait that the platform asks for, in milliseconds. */
  atLeastMs: number
  /** It had worked for a while, so counting starts with one failure. */
  afresh: boolean
}

/**
 * Records a failure and the time of the next try, which also binds a process that takes over.
 * @param backoff the pause after so many failures in a row
 * @returns the pause, in milliseconds
 */
export const recordFailure = (
  ctx: AppContext,
  holder: string,
  { problem, detail, atLeastMs, afresh }: Failure,
  backoff: (failures: number, problem: ChatBotProblem) => number
): Promise<number> =>
  command(ctx, SYSTEM, async ({ tx }) => {
    const [row] = await tx
      .select({ failures: chatBot.failures })
      .from(chatBot)
      .where(sql`${chatBot.holder} = ${holder}`)
      .for('update')
    const failures = afresh ? 1 : (row?.failures ?? 0) + 1
    const pause = Math.max(atLeastMs, backoff(failures, problem))
    await tx
      .update(chatBot)
      .set({
        state: 'waiting',
        since: sql`clock_timestamp()`,
        problem,
        detail,
        failures,
        retryAt: until(pause)
      })
      .where(sql`${chatBot.holder} = ${holder}`)
    return pause
  })

/** The chat bot's token if the platform refuses it. */
export async function findRefusedBot(ctx: Pick<AppContext, 'db' | 'secrets'>): Promise<Found[]> {
  const { state, problem, detail } = await readChatBot(ctx)
  if (state === 'off' || problem !== 'token_refused') return []
  return [{ subject: 'chat', words: 'token', params: { service: 'Chat bot', message: detail ?? '–' } }]
}

/** The chat bot's state, as its process recorded it. */
export async function readChatBot(ctx: Pick<AppContext, 'db' | 'secrets'>): Promise<ChatBotStatus> {
  const nothing = {
    since: null,
    name: null,
    problem: null,
    detail: null,
    retry_at: null,
    commands_problem: null,
    unreadable_channels: []
  }
  const { discord_bot_token: token } = await readSettings(ctx.db, ctx.secrets)
  if (token === '') return { state: 'off', ...nothing }
  const [row] = await ctx.db
    .select({
      state: chatBot.state,
      since: chatBot.since,
      name: chatBot.name,
      problem: chatBot.problem,
      detail: chatBot.detail,
      retryAt: chatBot.retryAt,
      commandsProblem: chatBot.commandsProblem,
      unreadable: chatBot.unreadable,
      runs: sql<boolean>`coalesce(${chatBot.leaseUntil} > clock_timestamp(), false)`
    })
    .from(chatBot)
  if (!row?.runs) return { state: 'absent', ...nothing, problem: row?.problem ?? null, detail: row?.detail ?? null }
  return {
    state: row.state,
    since: isoOrNull(row.since),
    name: row.name,
    problem: row.problem,
    detail: row.detail,
    retry_at: row.state === 'waiting' ? isoOrNull(row.retryAt) : null,
    commands_problem: row.commandsProblem,
    unreadable_channels: row.unreadable
  }
}
