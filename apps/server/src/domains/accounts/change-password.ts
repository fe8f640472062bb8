import { refuse, type ChangePasswordBody } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { z } from 'zod'
import { transact } from '../../infra/db/transact.ts'
import type { UserActor } from '../../infra/actor.ts'
import { done, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { beginAttempt, forgetFailures } from './attempts.ts'
import { hashPassword, verifyPassword } from './passwords.ts'
import { endSessionsOf } from './sessions.ts'
import { users } from './tables.ts'

const MOST_TRIES = 20

/** Changes the own password. The other sessions end, this one stays. */
export async function changePassword(
  ctx: Pick<AppContext, 'db' | 'now'>,
  caller: Pick<UserActor, 'id' | 'sessionHash'>,
  form: z.output<typeof ChangePasswordBody>
): Promise<Result<null>> {
  const key = `password:${caller.id}`
  // Whoever sits down at an open session must not get to guess the password with it.
  const attempt = await beginAttempt(ctx.db, [key], ctx.now())
  if ((attempt.counts.get(key) ?? 0) > MOST_TRIES) {
    await attempt.forgive()
    return refuse('too_many')
  }
  const [user] = await ctx.db.select({ passwordHash: users.passwordHash }).from(users).where(eq(users.id, caller.id))
  if (!(await verifyPassword(user?.passwordHash, form.old_password))) return refuse('wrong_old_password')
  const passwordHash = await hashPassword(form.new_password)
  return transact(ctx.db, async tx => {
    await forgetFailures(tx, key)
    await tx.update(users).set({ passwordHash }).where(eq(users.id, caller.id))
    await endSessionsOf(tx, caller.id, caller.sessionHash ?? undefined)
    return done
  })
}
