import { type Language, MAX_PREFERENCES, refuse, routes } from '@netlet/contract'
import { and, count, eq, ne } from '../../infra/db/drizzle.ts'
import type { UserActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import { type Mount, refuseWhileImpersonating } from '../../infra/http/mount.ts'
import { type Result, done, ok } from '../../infra/result.ts'
import { userPreferences, users } from './tables.ts'
import { blockOf, readChoices, saveChoices } from '../mail/index.ts'

/** Which mails a user gets, and in which language. */
export function mailSettingsRoutes(mount: Mount, ctx: AppContext): void {
  const calls = routes.mail
  mount(calls.choices, async ({ caller }) => {
    const address = await addressOf(ctx.db, caller.id)
    return ok({ ...(await readChoices(ctx.db, address)), blocked: await blockOf(ctx.db, address) })
  })
  mount(calls.saveChoices, async ({ caller, body }) => {
    const refused = refuseWhileImpersonating(caller)
    if (refused) return refused
    return command(ctx, caller, async unit => {
      await saveChoices(unit, await addressOf(unit.tx, caller.id), body)
      return ok(body)
    })
  })
  mount(
    calls.saveLanguage,
    async ({ caller, body }) => refuseWhileImpersonating(caller) ?? saveLanguage(ctx, caller, body.language)
  )
}

const saveLanguage = (ctx: AppContext, by: UserActor, language: Language): Promise<Result<null>> =>
  command(ctx, by, async ({ tx }) => {
    const changed = await tx.update(users).set({ language }).where(eq(users.id, by.id)).returning({ id: users.id })
    return changed.length > 0 ? done : refuse('not_found')
  })

async function addressOf(db: Executor, userId: number): Promise<string> {
  const [user] = await db.select({ email: users.email }).from(users).where(eq(users.id, userId))
  if (!user) throw new Error(`There is no user ${userId}`)
  return user.email
}

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
