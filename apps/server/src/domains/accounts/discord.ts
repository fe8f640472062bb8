import { refuse } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { createDiscord, type Discord } from '../../integrations/discord/index.ts'
import type { Config } from '../../infra/config.ts'
import { sqlState } from '../../infra/db/client.ts'
import type { UserActor } from '../../infra/actor.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { readSettings } from '../settings/index.ts'
import { endJourney, keepDiscordProof, startJourney, type DiscordAccount, type Journey } from './discord-states.ts'
import { enter, type Browser } from './log-in.ts'
import { users } from './tables.ts'

type Parts = Pick<AppContext, 'config' | 'db' | 'log' | 'now' | 'secrets'>
type Mode = Journey['mode']

/** What the platform appended to the address that it sent the browser back to. */
export type Return = { code?: string; state?: string; error?: string }

const PATHS = { login: '/api/auth/discord/redirect', bind: '/api/auth/discord/bind_redirect' } as const

/** Where to send the browser, and what to put into its cookie. */
export async function startDiscord(
  ctx: Parts,
  mode: Mode,
  caller: UserActor | null
): Promise<Result<{ url: string; browserToken: string }>> {
  // A key may read and renew; a chat account is a way to log in.
  if (mode === 'bind' && (!caller || caller.scopes)) return refuse('unauthorized')
  const { discord, redirectUri } = await connect(ctx, mode)
  // Asked for once without a state: whether the platform is configured is known before a journey is written down.
  if (!discord.authorizeUrl({ redirectUri, state: '' })) return refuse('discord_unavailable')
  const userId = mode === 'bind' && caller ? caller.id : null
  const { state, browserToken } = await startJourney(ctx.db, { mode, userId }, ctx.now())
  const url = discord.authorizeUrl({ redirectUri, state })
  return url ? ok({ url, browserToken }) : refuse('discord_unavailable')
}

/** Ends a login: where the browser goes now, and the new session where there is one. */
export async function finishDiscordLogin(
  ctx: Parts,
  returned: Return,
  browser: Browser & { oauthToken: string | undefined }
): Promise<{ location: string; token?: string }> {
  const arrived = await arrive(ctx, 'login', returned, browser.oauthToken)
  if (!arrived) return { location: '/login?discord=failed' }
  const { account, state } = arrived
  const now = ctx.now()
  const [user] = await ctx.db
    .update(users)
    .set({ discordName: account.name })
    .where(eq(users.discordId, account.id))
    .returning({ id: users.id, isActive: users.isActive })
  if (!user) {
    await keepDiscordProof(ctx.db, state, account, now)
    return { location: `/createAccount?discord_id=${encodeURIComponent(account.id)}` }
  }
  if (!user.isActive) return { location: '/login?discord=banned' }
  return { location: '/product', token: await ctx.db.transaction(tx => enter(tx, user.id, browser, now)) }
}

/** Ends a bind: where the browser goes now. Whoever started it has to be the one who is signed in. */
export async function finishDiscordBind(
  ctx: Parts,
  returned: Return,
  caller: UserActor | null,
  oauthToken: string | undefined
): Promise<{ location: string }> {
  const settings = '/dashboard/index/setting'
  const arrived = await arrive(ctx, 'bind', returned, oauthToken)
  if (!arrived || !caller || arrived.userId !== caller.id || caller.impersonator !== null)
    return { location: `${settings}?discord=failed` }
  const { id, name } = arrived.account
  try {
    await ctx.db.update(users).set({ discordId: id, discordName: name }).where(eq(users.id, caller.id))
  } catch (error) {
    if (sqlState(error) !== '23505') throw error
    return { location: `${settings}?discord=failed&reason=taken` }
  }
  return { location: `${settings}?discord=success&name=${encodeURIComponent(name)}` }
}

type Arrived = { account: DiscordAccount; state: string; userId: number | null }

async function arrive(
  ctx: Parts,
  mode: Mode,
  { code, state, error }: Return,
  browserToken: string | undefined
): Promise<Arrived | null> {
  if (!state || !browserToken) return null
  const journey = await endJourney(ctx.db, { state, browserToken, mode }, ctx.now())
  if (!journey || error || !code) return null
  const { discord, redirectUri } = await connect(ctx, mode)
  const exchanged = await discord.exchangeCode({ code, redirectUri })
  const found = exchanged.ok ? await discord.currentUser(exchanged.value.accessToken) : exchanged
  if (!found.ok) {
    ctx.log.warn({ reason: found.reason, detail: found.message }, 'chat platform login failed')
    return null
  }
  return { account: { id: found.value.id, name: found.value.name }, state, userId: journey.userId }
}

async function connect(ctx: Parts, mode: Mode): Promise<{ discord: Discord; redirectUri: string }> {
  const settings = await readSettings(ctx.db, ctx.secrets)
  const discord = createDiscord({
    clientId: settings.discord_client_id,
    clientSecret: settings.discord_client_secret,
    baseUrl: ctx.config.discordUrl
  })
  const own = mode === 'bind' ? settings.discord_bind_redirect_uri : settings.discord_redirect_uri
  return { discord, redirectUri: own || standardRedirect(ctx.config, mode) }
}

const standardRedirect = (config: Pick<Config, 'publicUrl'>, mode: Mode): string => `${config.publicUrl}${PATHS[mode]}`
