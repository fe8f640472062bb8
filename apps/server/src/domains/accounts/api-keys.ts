import { refuse, type ApiKey, type Scope } from '@netlet/contract'
import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { transact } from '../../infra/db/transact.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { hashToken, randomToken } from '../../infra/secrets.ts'
import type { AppContext } from '../../infra/context.ts'
import { API_KEY_PREFIX } from './guard.ts'
import { apiKeys, users } from './tables.ts'

const MOST_KEYS = 20

const live = (userId: number) => and(eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt))

/** The own keys, newest first: what each may do, never the key itself. */
export async function listApiKeys(db: Executor, userId: number): Promise<ApiKey[]> {
  const rows = await db.select().from(apiKeys).where(live(userId)).orderBy(desc(apiKeys.id))
  return rows.map(present)
}

/** Makes a key. It is in this reply and nowhere else. */
export async function createApiKey(
  ctx: Pick<AppContext, 'db' | 'now'>,
  userId: number,
  { name, scopes }: { name: string; scopes: Scope[] }
): Promise<Result<ApiKey & { key: string }>> {
  const key = `${API_KEY_PREFIX}${randomToken()}`
  return transact(ctx.db, async tx => {
    // Whoever makes many at once waits here, so that the limit holds.
    await tx.execute(sql`select 1 from ${users} where ${users.id} = ${userId} for no key update`)
    if ((await tx.$count(apiKeys, live(userId))) >= MOST_KEYS)
      return refuse('conflict', { msg: `You have ${MOST_KEYS} API keys. Revoke one that you do not use.` })
    const [made] = await tx
      .insert(apiKeys)
      .values({
        userId,
        name,
        keyHash: hashToken(key),
        hint: key.slice(0, API_KEY_PREFIX.length + 4),
        scopes: [...new Set(scopes)],
        createdAt: ctx.now()
      })
      .returning()
    if (!made) throw new Error('the key was not stored')
    return ok({ ...present(made), key })
  })
}

export async function revokeApiKey(
  ctx: Pick<AppContext, 'db' | 'now'>,
  userId: number,
  keyId: number
): Promise<Result<null>> {
  const revoked = await ctx.db
    .update(apiKeys)
    .set({ revokedAt: ctx.now() })
    .where(and(eq(apiKeys.id, keyId), live(userId)))
    .returning({ id: apiKeys.id })
  return revoked.length > 0 ? done : refuse('not_found')
}

const present = (row: typeof apiKeys.$inferSelect): ApiKey => ({
  id: row.id,
  name: row.name,
  hint: row.hint,
  scopes: row.scopes as Scope[],
  created_at: iso(row.createdAt),
  last_used_at: isoOrNull(row.lastUsedAt)
})
