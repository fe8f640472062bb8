import { refuse, type ApiKey, type Confirmation, type Scope, type UserApiKey } from '@netlet/contract'
import { and, desc, eq, gt, isNull } from '../../infra/db/drizzle.ts'
import type { UserActor } from '../../infra/actor.ts'
import { DAY, iso, isoOrNull } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { hashToken, randomToken } from '../../infra/secrets.ts'
import type { AppContext } from '../../infra/context.ts'
import { enqueueMail } from '../mail/index.ts'
import { confirmCaller, lockConfirmed } from './confirm-caller.ts'
import { API_KEY_PREFIX } from './authenticate.ts'
import { apiKeys } from './tables.ts'

const MAX_KEYS = 20
const MOST_SHOWN = 100
/** Each new key causes a mail and a row, so creating and revoking in a loop must end. Enough to replace all keys. */
const MAX_MADE_A_DAY = 40

const live = (userId: number) => and(eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt))

/** A user's API keys, newest first, without the keys themselves. */
export async function listApiKeys(db: Executor, userId: number): Promise<ApiKey[]> {
  const rows = await db.select().from(apiKeys).where(live(userId)).orderBy(desc(apiKeys.id))
  return rows.map(present)
}

/** The same with ended keys, for an administrator. */
export async function listUserApiKeys(db: Executor, userId: number): Promise<UserApiKey[]> {
  const rows = await db
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.userId, userId))
    .orderBy(desc(apiKeys.id))
    .limit(MOST_SHOWN)
  return rows.map(row => ({ ...present(row), revoked_at: isoOrNull(row.revokedAt) }))
}

/** Creates an API key for a confirmed caller. Only this reply contains the key; we store its hash. */
export async function createApiKey(
  ctx: AppContext,
  by: UserActor,
  { name, scopes, ...confirmation }: Confirmation & { name: string; scopes: Scope[] }
): Promise<Result<ApiKey & { key: string }>> {
  const confirmed = await confirmCaller(ctx, by, confirmation)
  if (!confirmed.ok) return confirmed
  const key = `${API_KEY_PREFIX}${randomToken()}`
  return command(ctx, by, async unit => {
    const { tx, now } = unit
    const userId = by.id
    // Serializes a user's concurrent calls, so that the limit holds, and excludes a change of the password.
    const user = await lockConfirmed(unit, confirmed.data)
    if (!user) return refuse('unauthorized')
    if ((await tx.$count(apiKeys, live(userId))) >= MAX_KEYS)
      return refuse('too_many_kept', { params: { max: MAX_KEYS } })
    const ofToday = and(eq(apiKeys.userId, userId), gt(apiKeys.createdAt, new Date(now.getTime() - DAY)))
    if ((await tx.$count(apiKeys, ofToday)) >= MAX_MADE_A_DAY)
      return refuse('made_in_a_day', { params: { max: MAX_MADE_A_DAY } })
    const [made] = await tx
      .insert(apiKeys)
      .values({
        userId,
        name,
        keyHash: hashToken(key),
        hint: key.slice(0, API_KEY_PREFIX.length + 4),
        scopes: [...new Set(scopes)],
        createdAt: now
      })
      .returning()
    if (!made) throw new Error('the key was not stored')
    unit.audit('api_key.create', made.id, { after: { name, scopes: made.scopes } })
    enqueueMail(unit, {
      to: user.email,
      language: user.language,
      template: 'api-key-made',
      data: { username: user.username, at: now.toISOString(), name, scopes: made.scopes.join(', ') },
      key: `api-key-made:${made.id}`
    })
    unit.publish('api_key', made.id, userId)
    return ok({ ...present(made), key })
  })
}

export async function revokeApiKey(ctx: AppContext, by: UserActor, keyId: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const { tx, now } = unit
    const [before] = await tx
      .update(apiKeys)
      .set({ revokedAt: now })
      .where(and(eq(apiKeys.id, keyId), live(by.id)))
      .returning({ name: apiKeys.name, scopes: apiKeys.scopes })
    if (!before) return refuse('not_found')
    unit.audit('api_key.revoke', keyId, { before })
    unit.publish('api_key', keyId, by.id)
    return done
  })
}

const present = (row: typeof apiKeys.$inferSelect): ApiKey => ({
  id: row.id,
  name: row.name,
  hint: row.hint,
  scopes: row.scopes as Scope[],
  created_at: iso(row.createdAt),
  last_used_at: isoOrNull(row.lastUsedAt)
})
