import type { ChatBotStatus } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { isoOrNull } from '../../infra/clock.ts'
import type { AppContext } from '../../infra/context.ts'
import { readSettings } from '../settings/index.ts'
import { chatBot } from './tables.ts'
import type { Found } from '../notices/index.ts'

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
