import { refuse, routes, type Language } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { UserActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { refuseWhileImpersonating } from '../../infra/http/while-impersonating.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { blockOf, readChoices, saveChoices } from '../mail/index.ts'
import { users } from './tables.ts'

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
