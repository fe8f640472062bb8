import { refuse, type Confirmation } from '@netlet/contract'
import { and, eq, isNull } from '../../infra/db/drizzle.ts'
import type { UserActor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { enqueueMail } from '../mail/index.ts'
import { beginAttempt } from './attempts.ts'
import { useProof } from './second-factor/check.ts'
import { sessionTicket, takeTry, useTicket } from './second-factor/tickets.ts'
import { lockUser } from './balance.ts'
import { ofAccount, passwordsAreFull, verifyPassword } from './passwords.ts'
import { recordSecurityEvent } from './security-events.ts'
import { users } from './tables.ts'

const MAX_TRIES = 20
/** After this many wrong ones the owner is notified, once a day. */
const TELL_FROM = 10

/** A caller who was right, with the hash of the password. */
export type Confirmed = { userId: number; passwordHash: string }

/**
 * Checks the signed-in user's password, or a second factor of the account, or both if both are given, before actions that outlast the session.
 * Wrong ones count, so that an unattended session cannot be used for guessing; only for this session, so that its owner
 * elsewhere is not blocked. The following command calls `lockConfirmed`.
 */
export async function confirmCaller(
  ctx: AppContext,
  by: UserActor,
  confirmation: Confirmation,
  field = 'password'
): Promise<Result<Confirmed>> {
  const caller = ofAccount(by.id)
  const { second_factor } = confirmation
  if (asksPassword(confirmation) && passwordsAreFull(caller)) return refuse('unavailable')
  const key = guessesKey(by.id, by.sessionHash)
  const attempt = await beginAttempt(ctx, by, [key])
  const wrong = attempt.counts.get(key) ?? 0
  if (wrong > MAX_TRIES) {
    await attempt.discard()
    return refuse('too_many')
  }
  const [user] = await ctx.db.select({ passwordHash: users.passwordHash }).from(users).where(eq(users.id, by.id))
  const rightPassword =
    user &&
    (!asksPassword(confirmation) || (await verifyPassword(user.passwordHash, confirmation.password ?? '', caller)))
  // With a wrong password the code stays unused.
  const right = rightPassword && (!second_factor || (await checkSecondFactor(ctx, by, second_factor)))
  if (!right) {
    const verb = rightPassword ? 'fail_second_factor' : 'fail_confirmation'
    if (by.isSuperuser) await recordSecurityEvent(ctx, by, verb, { userId: by.id })
    if (wrong >= TELL_FROM) await notifyOwner(ctx, by)
    if (!rightPassword) return fieldRefusal(field, 'wrong_password')
    return fieldRefusal('code', second_factor?.method === 'passkey' ? 'wrong_passkey' : 'wrong_second_factor')
  }
  await attempt.discard()
  return ok({ userId: by.id, passwordHash: user.passwordHash })
}

const asksPassword = ({ password, second_factor }: Confirmation) => password !== undefined || !second_factor

/** Uses up a code, or the answer to this session's challenge. */
async function checkSecondFactor(
  ctx: AppContext,
  by: UserActor,
  proof: NonNullable<Confirmation['second_factor']>
): Promise<boolean> {
  const hash = sessionTicket(by, 'confirm')
  const asked = proof.method === 'passkey' ? await takeTry(ctx, by, hash, 'confirm') : undefined
  return command(ctx, by, async unit => {
    const user = await lockUser(unit.tx, by.id)
    if (!user) return false
    if (asked) await useTicket(unit, hash)
    return useProof(unit, ctx, user, proof, asked ?? { challenge: null, origin: null })
  })
}

/** The key for wrong passwords in a session. */
export const guessesKey = (userId: number, sessionHash: Buffer | null): string =>
  `password:${userId}:${sessionHash?.toString('base64url') ?? ''}`

/** Warns the owner of password guesses in one of its sessions. */
function notifyOwner(ctx: AppContext, by: UserActor): Promise<void> {
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
