import { refuse, type ChangePasswordBody } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { z } from 'zod'
import { command } from '../../infra/command.ts'
import type { UserActor } from '../../infra/actor.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { beginAttempt, clearFailures } from './attempts.ts'
import { hashPassword, verifyPassword } from './passwords.ts'
import { endSessionsOf } from './sessions.ts'
import { users } from './tables.ts'

const MAX_TRIES = 20

/** Changes the caller's password. The other sessions end, this one stays. */
export async function changePassword(
  ctx: AppContext,
  by: UserActor,
  form: z.output<typeof ChangePasswordBody>
): Promise<Result<null>> {
  const key = `password:${by.id}`
  // An unattended session must not serve to guess the password.
  const attempt = await beginAttempt(ctx, by, [key])
  if ((attempt.counts.get(key) ?? 0) > MAX_TRIES) {
    await attempt.discard()
    return refuse('too_many')
  }
  const [user] = await ctx.db.select({ passwordHash: users.passwordHash }).from(users).where(eq(users.id, by.id))
  if (!(await verifyPassword(user?.passwordHash, form.old_password))) return refuse('wrong_old_password')
  const passwordHash = await hashPassword(form.new_password)
  return command(ctx, by, async unit => {
    await clearFailures(unit, key)
    await unit.tx.update(users).set({ passwordHash }).where(eq(users.id, by.id))
    await endSessionsOf(unit, by.id, by.sessionHash ?? undefined)
    return done
  })
}
