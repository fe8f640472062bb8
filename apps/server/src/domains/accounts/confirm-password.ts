import { refuse } from '@netlet/contract'
import { and, eq, isNull } from 'drizzle-orm'
import type { UserActor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { enqueueMail } from '../mail/index.ts'
import { beginAttempt } from './attempts.ts'
import { ofAccount, passwordsAreFull, verifyPassword } from './passwords.ts'
import { users } from './tables.ts'

const MAX_TRIES = 20
/** After this many wrong ones the owner is notified, once a day. */
const TELL_FROM = 10

/** A password that was right, with its hash. */
export type Confirmed = { userId: number; passwordHash: string }

/**
 * Checks the signed-in user's password before actions that outlast the session. Wrong ones count, so that an unattended
 * session cannot be used for guessing; only for this session, so that its owner elsewhere is not blocked. The following
 * command calls `lockConfirmed`.
 */
export async function confirmPassword(
  ctx: AppContext,
  by: UserActor,
  password: string,
  field = 'password'
): Promise<Result<Confirmed>> {
  const caller = ofAccount(by.id)
  if (passwordsAreFull(caller)) return refuse('unavailable')
  const key = guessesKey(by.id, by.sessionHash)
  const attempt = await beginAttempt(ctx, by, [key])
  const wrong = attempt.counts.get(key) ?? 0
  if (wrong > MAX_TRIES) {
    await attempt.discard()
    return refuse('too_many')
  }
  const [user] = await ctx.db.select({ passwordHash: users.passwordHash }).from(users).where(eq(users.id, by.id))
  if (!user || !(await verifyPassword(user.passwordHash, password, caller))) {
    if (wrong >= TELL_FROM) await tellOwner(ctx, by)
    return fieldRefusal(field, 'wrong_password')
  }
  await attempt.discard()
  return ok({ userId: by.id, passwordHash: user.passwordHash })
}

/** The key for wrong passwords in a session. */
export const guessesKey = (userId: number, sessionHash: Buffer | null): string =>
  `password:${userId}:${sessionHash?.toString('base64url') ?? ''}`

/** Warns the owner of password guesses in one of its sessions. */
function tellOwner(ctx: AppContext, by: UserActor): Promise<void> {
  return command(ctx, by, async unit => {
    const [owner] = await unit.tx
      .select({ username: users.username, email: users.email, language: users.language })
      .from(users)
      .where(eq(users.id, by.id))
    if (!owner) return
    const at = unit.now.toISOString()
    enqueueMail(unit, {
      to: owner.email,
      language: owner.language,
      template: 'password-guesses',
      data: { username: owner.username, at },
      key: `password-guesses:${by.id}:${at.slice(0, 10)}`
    })
  })
}

/** Locks the user; undefined if the password has changed, or the user was banned or deleted. */
export async function lockConfirmed({ tx }: Unit, { userId, passwordHash }: Confirmed) {
  const [user] = await tx
    .select()
    .from(users)
    .where(and(eq(users.id, userId), eq(users.isActive, true), isNull(users.deletedAt)))
    .for('update')
  return user?.passwordHash === passwordHash ? user : undefined
}
