import { randomUUID } from 'node:crypto'
import { refuse, type ForgotBody, type ForgotVerifyBody } from '@netlet/contract'
import { and, eq, gt } from '../../infra/db/drizzle.ts'
import type { z } from 'zod'
import { MINUTE } from '../../infra/clock.ts'
import { lower } from '../../infra/db/columns.ts'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { clearFailuresOf } from './attempts.ts'
import { signDevice } from './device-cookie.ts'
import { unbind } from './discord-binding.ts'
import { consumeEmailCode, storedProof, tryEmailCode } from './email-codes.ts'
import { endAccess, notifyPasswordChanged } from './end-access.ts'
import { hashChosen } from './passwords.ts'
import { userColumns } from './present-user.ts'
import { methodsOf } from './second-factor/check.ts'
import { emailCodes, users } from './tables.ts'

/** How long the proof is valid. */
const PROOF_LIFE = 15 * MINUTE

/** Takes the mailed code and returns the proof that a new password needs. */
export async function verifyForgotCode(
  ctx: AppContext,
  by: Actor,
  form: z.output<typeof ForgotVerifyBody>
): Promise<Result<{ verify_id: string }>> {
  const code = { id: form.email_code_id, email: form.email, purpose: 'forgot' as const }
  const wrongCode = fieldRefusal('email_code', 'wrong_email_code')
  if (!(await tryEmailCode(ctx, by, { ...code, code: form.email_code }))) return wrongCode
  return command(ctx, by, async unit => {
    const verifyId = randomUUID()
    const proof = { verifyId: storedProof(verifyId), expiresAt: new Date(unit.now.getTime() + PROOF_LIFE) }
    if (!(await consumeEmailCode(unit, code, proof))) return wrongCode
    return ok({ verify_id: verifyId })
  })
}

/**
 * Sets a new password with that proof, once. All sessions, API keys, and other codes and proofs end, and the chat
 * account is unbound, because a thief may have bound one.
 * @returns the browser's new device cookie; none for an account with a second factor, which this browser has not proven
 */
export async function setForgottenPassword(
  ctx: AppContext,
  by: Actor,
  form: z.output<typeof ForgotBody>
): Promise<Result<{ device: string | undefined }>> {
  const now = ctx.now()
  const email = form.email.toLowerCase()
  const proven = and(
    eq(emailCodes.verifyId, storedProof(form.verify_id)),
    eq(lower(emailCodes.email), email),
    eq(emailCodes.purpose, 'forgot'),
    gt(emailCodes.expiresAt, now)
  )
  // Hashing is expensive and anyone may call this, so check first whether the proof exists.
  if ((await ctx.db.$count(emailCodes, proven)) === 0) return refuse('wrong_verification')
  const [owner] = await ctx.db
    .select({ username: users.username })
    .from(users)
    .where(eq(lower(users.email), email))
  const chosen = await hashChosen(form.password, { email, ...owner })
  if (!chosen.ok) return chosen
  const passwordHash = chosen.data
  return command(ctx, by, async unit => {
    // Lock the user first, as commands that end codes do: of two concurrent proofs the second one finds itself ended.
    const [user] = await unit.tx
      .select(userColumns)
      .from(users)
      .where(and(eq(lower(users.email), email), eq(users.isActive, true)))
      .for('update')
    if (!user) return refuse('wrong_verification')
    const taken = await unit.tx
      .update(emailCodes)
      .set({ verifyId: null })
      .where(proven)
      .returning({ id: emailCodes.id })
    if (taken.length === 0) return refuse('wrong_verification')
    await unit.tx.update(users).set({ passwordHash }).where(eq(users.id, user.id))
    await endAccess(unit, user, { cause: 'password' })
    await unbind(unit, user)
    await clearFailuresOf(unit, user)
    notifyPasswordChanged(unit, user)
    unit.audit('user.reset_password', user.id, { after: { password: true } })
    const isProven = (await methodsOf(unit.tx, user.id)).length === 0
    return ok({ device: isProven ? signDevice(ctx.secrets, { id: user.id, passwordHash }) : undefined })
  })
}
