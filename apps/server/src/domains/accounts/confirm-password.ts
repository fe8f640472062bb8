import { refuse, type Reason } from '@netlet/contract'
import { and, eq, isNull } from 'drizzle-orm'
import type { UserActor } from '../../infra/actor.ts'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { beginAttempt } from './attempts.ts'
import { verifyPassword } from './passwords.ts'
import { users } from './tables.ts'

const MAX_TRIES = 20

/** A password that was right, with the hash that it was right for. */
export type Confirmed = { userId: number; passwordHash: string }

/**
 * Checks the password of whoever is signed in: what outlasts a session asks for it. Wrong ones are counted, since an
 * unattended session must not serve to guess it. The command that follows calls `lockConfirmed`.
 */
export async function confirmPassword(
  ctx: AppContext,
  by: UserActor,
  password: string,
  { field, reason }: { field: string; reason: Reason } = { field: 'password', reason: 'wrong_password' }
): Promise<Result<Confirmed>> {
  const key = `password:${by.id}`
  const attempt = await beginAttempt(ctx, by, [key])
  if ((attempt.counts.get(key) ?? 0) > MAX_TRIES) {
    await attempt.discard()
    return refuse('too_many')
  }
  const [user] = await ctx.db.select({ passwordHash: users.passwordHash }).from(users).where(eq(users.id, by.id))
  if (!user || !(await verifyPassword(user.passwordHash, password))) return fieldRefusal(field, reason)
  await attempt.discard()
  return ok({ userId: by.id, passwordHash: user.passwordHash })
}

/** Locks the user; undefined where the password was changed since, or the user banned or deleted. */
export async function lockConfirmed({ tx }: Unit, { userId, passwordHash }: Confirmed) {
  const [user] = await tx
    .select()
    .from(users)
    .where(and(eq(users.id, userId), eq(users.isActive, true), isNull(users.deletedAt)))
    .for('update')
  return user?.passwordHash === passwordHash ? user : undefined
}
