import { type Confirmation, refuse } from '@netlet/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { UserActor } from '../../infra/actor.ts'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { Config } from '../../infra/config.ts'
import type { AppContext } from '../../infra/context.ts'
import { and, desc, eq, gt, isNotNull, isNull } from '../../infra/db/drizzle.ts'
import { type Result, done } from '../../infra/result.ts'
import { hashToken, randomToken } from '../../infra/secrets.ts'
import { enqueueMail } from '../mail/index.ts'
import { lockUser } from './balance.ts'
import { confirmCaller, lockConfirmed } from './confirm-caller.ts'
import { readCookie, writeCookie } from './sessions.ts'
import { USER_CONFLICTS } from './create-user.ts'
import { refuseOperator } from './operators.ts'
import type { UserRow } from './present-user.ts'
import { oauthStates, sessions, users } from './tables.ts'

/**
 * Binds a chat account to the signed-in user. The flow began with a password check, and a new password ends it
 * (`endAccess`).
 */
export function bindDiscord(ctx: AppContext, by: UserActor, { id, name }: DiscordAccount): Promise<Result<null>> {
  return command(ctx, by, { unique: USER_CONFLICTS }, async unit => {
    const { tx, now } = unit
    const [user] = await tx
      .update(users)
      .set({ discordId: id, discordName: name })
      .where(eq(users.id, by.id))
      .returning({ username: users.username, email: users.email, language: users.language })
    // A change of the password has ended the session.
    const session = by.sessionHash && eq(sessions.tokenHash, by.sessionHash)
    if (!user || !session || (await tx.$count(sessions, session)) === 0) return refuse('unauthorized')
    const at = now.toISOString()
    enqueueMail(unit, {
      to: user.email,
      language: user.language,
      template: 'chat-account-bound',
      data: { username: user.username, at, name },
      key: `chat-account-bound:${by.id}:${at}`
    })
    unit.audit('user.bind_discord', by.id, { after: { discordId: id, discordName: name } })
    unit.publish('user', by.id, by.id)
    return done
  })
}

export async function unbindDiscord(ctx: AppContext, by: UserActor, confirmation: Confirmation): Promise<Result<null>> {
  const confirmed = await confirmCaller(ctx, by, confirmation)
  if (!confirmed.ok) return confirmed
  return command(ctx, by, async unit => {
    const user = await lockConfirmed(unit, confirmed.data)
    if (!user) return refuse('unauthorized')
    return (await unbind(unit, user)) ? done : refuse('not_bound')
  })
}

/** Unbinds a user's chat account, for an administrator. */
export function unbindUserDiscord(ctx: AppContext, by: UserActor, userId: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const user = await lockUser(unit.tx, userId)
    if (!user) return refuse('not_found')
    const refused = refuseOperator(by, user)
    if (refused) return refused
    return (await unbind(unit, user)) ? done : refuse('not_bound')
  })
}

/** Unbinds a locked user's chat account. False if there is none. */
export async function unbind(unit: Unit, user: UserRow): Promise<boolean> {
  const { discordId, discordName } = user
  if (discordId === null) return false
  await unit.tx.update(users).set({ discordId: null, discordName: null }).where(eq(users.id, user.id))
  const at = unit.now.toISOString()
  enqueueMail(unit, {
    to: user.email,
    language: user.language,
    template: 'chat-account-unbound',
    data: { username: user.username, at, name: discordName ?? discordId },
    key: `chat-account-unbound:${user.id}:${at}`
  })
  unit.audit('user.unbind_discord', user.id, { before: { discordId, discordName } })
  unit.publish('user', user.id, user.id)
  return true
}

const COOKIE = { name: 'netlet_oauth', path: '/api' } as const

/** The token of the browser that started an OAuth flow with the chat platform. */
export const oauthTokenOf = (request: FastifyRequest, config: Pick<Config, 'secureCookies'>): string | undefined =>
  readCookie(request, config, COOKIE)

export const setOauthCookie = (reply: FastifyReply, config: Pick<Config, 'secureCookies'>, token: string): void =>
  writeCookie(reply, config, COOKIE, token, 2 * HOUR)

/** How long the browser may stay at the chat platform, and how long the sign-up form may then take. */
const STATE_LIFE = 10 * MINUTE
const PROOF_LIFE = HOUR

export type DiscordAccount = { id: string; name: string }
export type OauthState = { mode: 'login' | 'bind'; userId: number | null }

/**
 * Creates the state of an OAuth flow with the chat platform. `state` returns in the address; `browserToken` goes into a
 * cookie, so that only this browser can finish the flow.
 */
export async function createOauthState(
  { tx, now }: Unit,
  { mode, userId }: OauthState
): Promise<{ state: string; browserToken: string }> {
  const state = randomToken()
  const browserToken = randomToken()
  await tx.insert(oauthStates).values({
    stateHash: hashToken(state),
    browserHash: hashToken(browserToken),
    mode,
    userId,
    createdAt: now,
    expiresAt: new Date(now.getTime() + STATE_LIFE)
  })
  return { state, browserToken }
}

/**
 * PKCE's verifier of a flow. Only the browser's cookie holds what it is made of, so neither the database nor the platform
 * can redeem a code for another browser.
 */
export const verifierOf = (browserToken: string): string => hashToken(`pkce ${browserToken}`).toString('base64url')

/** Uses a state up, once and only in the browser that started the flow. Null if there is none. */
export async function consumeOauthState(
  { tx, now }: Unit,
  { state, browserToken, mode }: { state: string; browserToken: string; mode: OauthState['mode'] }
): Promise<OauthState | null> {
  const [consumed] = await tx
    .update(oauthStates)
    .set({ usedAt: now })
    .where(
      and(
        eq(oauthStates.stateHash, hashToken(state)),
        eq(oauthStates.browserHash, hashToken(browserToken)),
        eq(oauthStates.mode, mode),
        isNull(oauthStates.usedAt),
        gt(oauthStates.expiresAt, now)
      )
    )
    .returning({ mode: oauthStates.mode, userId: oauthStates.userId })
  return consumed ?? null
}

/** Stores the chat account that the platform confirmed, for this browser's sign-up. */
export async function storeDiscordProof({ tx, now }: Unit, state: string, account: DiscordAccount): Promise<void> {
  await tx
    .update(oauthStates)
    .set({ discordId: account.id, discordName: account.name, expiresAt: new Date(now.getTime() + PROOF_LIFE) })
    .where(eq(oauthStates.stateHash, hashToken(state)))
}

/** Uses up the proof that this browser logged in to the chat account; undefined if there is none. */
export async function consumeDiscordProof(
  { tx, now }: Unit,
  discordId: string,
  browserToken: string | undefined
): Promise<DiscordAccount | undefined> {
  if (!browserToken) return undefined
  const proven = and(
    eq(oauthStates.browserHash, hashToken(browserToken)),
    eq(oauthStates.discordId, discordId),
    isNotNull(oauthStates.usedAt),
    gt(oauthStates.expiresAt, now)
  )
  const [proof] = await tx
    .select({ name: oauthStates.discordName })
    .from(oauthStates)
    .where(proven)
    .orderBy(desc(oauthStates.createdAt))
    .limit(1)
  if (!proof) return undefined
  await tx.delete(oauthStates).where(proven)
  return { id: discordId, name: proof.name ?? discordId }
}
