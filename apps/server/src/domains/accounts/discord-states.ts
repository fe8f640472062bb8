import { and, desc, eq, gt, isNotNull, isNull } from '../../infra/db/drizzle.ts'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { hashToken, randomToken } from '../../infra/secrets.ts'
import { readCookie, writeCookie } from './cookies.ts'
import { oauthStates } from './tables.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../infra/config.ts'

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
