import { MAX_PREFERENCES, refuse, routes } from '@netlet/contract'
import { and, count, eq, ne } from 'drizzle-orm'
import type { UserActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { refuseWhileImpersonating } from '../../infra/http/while-impersonating.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { userPreferences } from './tables.ts'

/** Values that the browser stores for a person by key. The server does not interpret them. */
export function preferenceRoutes(mount: Mount, ctx: AppContext): void {
  const calls = routes.accounts
  mount(calls.preferences, async ({ caller, params }) => ok(await readPreference(ctx.db, caller.id, params.key)))
  mount(
    calls.savePreferences,
    async ({ caller, params, body }) =>
      refuseWhileImpersonating(caller) ?? savePreference(ctx, caller, params.key, body.value)
  )
}

/** Null: no value has this key. */
async function readPreference(db: Executor, userId: number, key: string): Promise<unknown> {
  const [kept] = await db.select({ value: userPreferences.value }).from(userPreferences).where(isKept(userId, key))
  return kept?.value ?? null
}

/** Replaces a value; null deletes it. */
function savePreference(ctx: AppContext, by: UserActor, key: string, value: unknown): Promise<Result<null>> {
  return command(ctx, by, async ({ tx, now }) => {
    if (value === null) {
      await tx.delete(userPreferences).where(isKept(by.id, key))
      return done
    }
    // Two concurrent calls could both find room for one more.
    await lock(tx, 'preferences', by.id)
    const [others] = await tx
      .select({ count: count() })
      .from(userPreferences)
      .where(and(eq(userPreferences.userId, by.id), ne(userPreferences.key, key)))
    if ((others?.count ?? 0) >= MAX_PREFERENCES) return refuse('too_many_kept', { params: { max: MAX_PREFERENCES } })
    await tx
      .insert(userPreferences)
      .values({ userId: by.id, key, value, updatedAt: now })
      .onConflictDoUpdate({ target: [userPreferences.userId, userPreferences.key], set: { value, updatedAt: now } })
    return done
  })
}

const isKept = (userId: number, key: string) => and(eq(userPreferences.userId, userId), eq(userPreferences.key, key))
