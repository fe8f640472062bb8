import { and, desc, eq, gt, isNotNull, isNull } from 'drizzle-orm'
import { HOUR, MINUTE } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { hashToken, randomToken } from '../../infra/secrets.ts'
import { oauthStates } from './tables.ts'

/** How long the browser may be away at the chat platform, and how long the sign-up form may then take. */
const JOURNEY = 10 * MINUTE
const PROOF_LIFE = HOUR

export type DiscordAccount = { id: string; name: string }
export type Journey = { mode: 'login' | 'bind'; userId: number | null }

/**
 * Starts a journey to the chat platform. `state` comes back in the address; `browserToken` belongs in a cookie, so
 * that no one can finish in another browser what was started in this one.
 */
export async function startJourney(
  db: Executor,
  { mode, userId }: Journey,
  now: Date
): Promise<{ state: string; browserToken: string }> {
  const state = randomToken()
  const browserToken = randomToken()
  await db.insert(oauthStates).values({
    stateHash: hashToken(state),
    browserHash: hashToken(browserToken),
    mode,
    userId,
    createdAt: now,
    expiresAt: new Date(now.getTime() + JOURNEY)
  })
  return { state, browserToken }
}

/** Ends a journey: once, and only in the browser that started it. Null where there is none such. */
export async function endJourney(
  db: Executor,
  { state, browserToken, mode }: { state: string; browserToken: string; mode: Journey['mode'] },
  now: Date
): Promise<Journey | null> {
  const [ended] = await db
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
  return ended ?? null
}

/** Keeps, for the sign-up of this browser, that the platform named this account. */
export async function keepDiscordProof(db: Executor, state: string, account: DiscordAccount, now: Date): Promise<void> {
  await db
    .update(oauthStates)
    .set({ discordId: account.id, discordName: account.name, expiresAt: new Date(now.getTime() + PROOF_LIFE) })
    .where(eq(oauthStates.stateHash, hashToken(state)))
}

/** Takes the proof that this browser logged in to that chat account; undefined where it did not. */
export async function takeDiscordProof(
  tx: Executor,
  discordId: string,
  browserToken: string | undefined,
  now: Date
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
