import { type SettingTestResult, type Settings, refuse } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lower } from '../../infra/db/columns.ts'
import { eq, inArray } from '../../infra/db/drizzle.ts'
import { type Result, ok } from '../../infra/result.ts'
import { type Discord, type DiscordResult, createDiscord } from '../../integrations/discord/index.ts'
import { type Found, findRefusal, recordAcceptance, recordRefusal } from '../notices/index.ts'
import { readSettings } from '../settings/index.ts'
import {
  type DiscordAccount,
  type OauthState,
  bindDiscord,
  consumeOauthState,
  createOauthState,
  storeDiscordProof,
  verifierOf
} from './discord-binding.ts'
import type { Browser, LoggedIn } from './open-session.ts'
import { openOrChallenge } from './second-factor/log-in.ts'
import { users } from './tables.ts'

const [SHORTEST, LONGEST] = [4, 10]
const HAS_LETTER = /[A-Za-z]/
/** How many alternatives are tried for a taken name. */
const OTHERS = 98

/**
 * A free user name made of the letters and digits of a name elsewhere; null if they make none. Only a proposal: another
 * sign-up may take it first.
 */
export async function proposeName(db: Executor, elsewhere: string): Promise<string | null> {
  const plain = elsewhere
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9]/g, '')
    .slice(0, LONGEST)
  if (!HAS_LETTER.test(plain)) return null
  const numbered = Array.from({ length: OTHERS }, (_, at) => `${plain.slice(0, LONGEST - 2)}${at + 2}`)
  const all = [plain, ...numbered]
    .map(name => name.padEnd(SHORTEST, '0'))
    // The number may have replaced the only letter.
    .filter(name => HAS_LETTER.test(name))
  const names = all.map(name => name.toLowerCase())
  const rows = await db
    .select({ name: users.username })
    .from(users)
    .where(inArray(lower(users.username), names))
  const taken = new Set(rows.map(({ name }) => name.toLowerCase()))
  return all.find(name => !taken.has(name.toLowerCase())) ?? null
}

type Mode = OauthState['mode']

/** What the platform appends to the redirect address. */
export type OauthReturn = { code?: string; state?: string; error?: string }

const PATHS = { login: '/api/auth/discord/redirect', bind: '/api/auth/discord/bind_redirect' } as const

/** The address of the flow, and the token for the browser's cookie. For a bind the caller has checked the password. */
export async function startDiscord(
  ctx: AppContext,
  by: Actor,
  mode: Mode
): Promise<Result<{ url: string; browserToken: string }>> {
  const user = mode === 'bind' && by.kind === 'user' ? by : null
  const { discord, redirectUri } = await connectTo(ctx, mode)
  return command(ctx, by, async unit => {
    const { state, browserToken } = await createOauthState(unit, { mode, userId: user?.id ?? null })
    const url = discord.authorizeUrl({ redirectUri, state, verifier: verifierOf(browserToken) })
    return url ? ok({ url, browserToken }) : refuse('discord_unavailable')
  })
}

/** Finishes a login: the next page, and the new session if it succeeded. */
export async function finishDiscordLogin(
  ctx: AppContext,
  by: Actor,
  returned: OauthReturn,
  browser: Browser & { oauthToken: string | undefined }
): Promise<{ location: string; session?: LoggedIn }> {
  const finished = await finishOauth(ctx, by, 'login', returned, browser.oauthToken)
  if ('failed' in finished) return { location: `/login?discord=failed${finished.failed}` }
  const { account, state } = finished
  return command(ctx, by, async unit => {
    const [user] = await unit.tx
      .update(users)
      .set({ discordName: account.name })
      .where(eq(users.discordId, account.id))
      .returning({ id: users.id })
    if (!user) {
      await storeDiscordProof(unit, state, account)
      const query = new URLSearchParams({ discord_id: account.id, discord_name: account.name })
      const proposed = await proposeName(unit.tx, account.name)
      if (proposed) query.set('username', proposed)
      return { location: `/createAccount?${query.toString()}` }
    }
    const opened = await openOrChallenge(unit, ctx.secrets, { userId: user.id, method: 'discord' }, browser)
    if (!opened.ok) return { location: '/login?discord=banned' }
    if (!('ticket' in opened.data)) return { location: '/product', session: opened.data }
    // After the hash, so that no log and no other site gets the ticket.
    const { ticket, second_factor } = opened.data
    const step = new URLSearchParams({ ticket, second_factor: second_factor.join(',') })
    return { location: `/login#${step.toString()}` }
  })
}

/** Finishes a bind: the next page. Only the user who started it may finish it. */
export async function finishDiscordBind(
  ctx: AppContext,
  by: Actor,
  returned: OauthReturn,
  oauthToken: string | undefined
): Promise<{ location: string }> {
  const settings = '/dashboard/index/setting'
  const finished = await finishOauth(ctx, by, 'bind', returned, oauthToken)
  if ('failed' in finished) return { location: `${settings}?discord=failed${finished.failed}` }
  if (by.kind !== 'user' || finished.userId !== by.id || by.impersonator !== null)
    return { location: `${settings}?discord=failed` }
  const { name } = finished.account
  const bound = await bindDiscord(ctx, by, finished.account)
  return bound.ok
    ? { location: `${settings}?discord=success&name=${encodeURIComponent(name)}` }
    : { location: `${settings}?discord=failed&reason=taken` }
}

type FinishedOauth = { account: DiscordAccount; state: string; userId: number | null }

/** Why the platform did not confirm an account, for the next page's address; empty if unknown. */
type FailedOauth = { failed: '' | '&reason=refused' | '&reason=unavailable' }

/** Asks the platform for the account. Fails if the state is not this browser's, or the platform does not answer. */
async function finishOauth(
  ctx: AppContext,
  by: Actor,
  mode: Mode,
  { code, state, error }: OauthReturn,
  browserToken: string | undefined
): Promise<FinishedOauth | FailedOauth> {
  if (!state || !browserToken) return { failed: '' }
  // A command of its own: the state is used up, even if the platform then fails.
  const started = await command(ctx, by, unit => consumeOauthState(unit, { state, browserToken, mode }))
  if (!started) return { failed: '' }
  if (error === 'access_denied') return { failed: '&reason=refused' }
  if (error || !code) return { failed: '' }
  const { discord, redirectUri, noteClient } = await connectTo(ctx, mode)
  const exchanged = await discord.exchangeCode({ code, redirectUri, verifier: verifierOf(browserToken) })
  await noteClient(exchanged)
  const found = exchanged.ok ? await discord.currentUser(exchanged.value.accessToken) : exchanged
  if (!found.ok) {
    ctx.log.warn({ reason: found.reason, detail: found.message }, 'chat platform login failed')
    const known =
      found.reason === 'invalid_code' || found.reason === 'unauthorized' || found.reason === 'not_configured'
    return { failed: known ? '' : '&reason=unavailable' }
  }
  return { account: { id: found.value.id, name: found.value.name }, state, userId: started.userId }
}

/** The chat platform's client for this flow. */
async function connectTo(ctx: AppContext, mode: Mode) {
  const { settings, ...client } = await connectChat(ctx)
  const own = mode === 'bind' ? settings.discord_bind_redirect_uri : settings.discord_redirect_uri
  return { ...client, redirectUri: own || `${ctx.config.publicUrl}${PATHS[mode]}` }
}

/** Asks the chat platform whether it accepts the saved client, and the bot if there is one. */
export async function testChat(ctx: AppContext): Promise<SettingTestResult> {
  const { settings, discord, noteClient } = await connectChat(ctx)
  const client = await discord.checkClient()
  await noteClient(client)
  if (!client.ok)
    return {
      ok: false,
      outcome: client.reason === 'not_configured' ? 'not_configured' : 'failed',
      params: {},
      detail: client.message
    }
  if (settings.discord_bot_token === '') return { ok: true, outcome: 'chat_answers', params: {}, detail: null }
  const bot = await discord.botUser(settings.discord_bot_token)
  if (bot.ok) return { ok: true, outcome: 'chat_bot_answers', params: { bot: bot.value.name }, detail: null }
  const detail = bot.reason === 'unauthorized' ? 'The chat platform refused the bot token.' : bot.message
  return { ok: false, outcome: 'failed', params: {}, detail }
}

type ChatClient = {
  settings: Settings
  discord: Discord
  /** Reports to operators if the platform refuses the client's secret. Visitors cannot fix that. */
  noteClient: (result: DiscordResult<unknown>) => Promise<void>
}

/** A client of the chat platform with the saved settings. */
async function connectChat(ctx: AppContext): Promise<ChatClient> {
  const settings = await readSettings(ctx.db, ctx.secrets)
  const discord = createDiscord({
    clientId: settings.discord_client_id,
    clientSecret: settings.discord_client_secret,
    baseUrl: ctx.config.discordUrl
  })
  return {
    settings,
    discord,
    async noteClient(result) {
      if (result.ok) await recordAcceptance(ctx, 'chat_client')
      else if (result.reason === 'unauthorized')
        await recordRefusal(ctx, 'chat_client', clientOf(settings), result.message)
    }
  }
}

const clientOf = ({ discord_client_id: id, discord_client_secret: secret }: Settings): string => `${id}\n${secret}`

/** The client's secret, if the chat platform refuses it. */
export async function findRefusedClient({ db, secrets }: Pick<AppContext, 'db' | 'secrets'>): Promise<Found[]> {
  return findRefusal(db, 'chat_client', clientOf(await readSettings(db, secrets)))
}
