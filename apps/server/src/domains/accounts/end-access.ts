import { and, eq, gt, isNull } from '../../infra/db/drizzle.ts'
import { command, type Unit } from '../../infra/command.ts'
import { enqueueMail } from '../mail/index.ts'
import { consumeEmailCode, endResetCodes, tryEmailCode } from './email-codes.ts'
import { userColumns, type UserRow } from './present-user.ts'
import { endTickets } from './second-factor/tickets.ts'
import { endSessionsOf, renewSession } from './sessions.ts'
import { apiKeys, emailCodes, oauthStates, users } from './tables.ts'
import { randomUUID } from 'node:crypto'
import { type ForgotBody, type ForgotVerifyBody, refuse } from '@netlet/contract'
import type { z } from 'zod'
import { MINUTE } from '../../infra/clock.ts'
import { lower } from '../../infra/db/columns.ts'
import type { Actor } from '../../infra/actor.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { clearFailuresOf } from './attempts.ts'
import { signDevice } from './device-cookie.ts'
import { unbind } from './discord-binding.ts'
import { hashChosen } from './passwords.ts'

type Owner = Pick<UserRow, 'id' | 'username' | 'email' | 'language'>

/**
 * Ends all access to an account except the password and the second factors: sessions, API keys, reset codes and their
 * proofs, log-ins that wait for a second factor, and open flows with the chat platform. Ended keys are audited and mailed to the owner. The caller has locked the user.
 * @param keep the session that stays, with a new token, because its cookie may have been copied
 * @returns that token
 */
export async function endAccess(
  unit: Unit,
  user: Owner,
  { cause, keep }: { cause: Cause; keep?: Buffer | null | undefined }
): Promise<string | undefined> {
  const { tx } = unit
  await endSessionsOf(unit, user.id, keep ?? undefined)
  await endResetCodes(unit, user.email)
  await endTickets(unit, user.id)
  await tx.delete(oauthStates).where(eq(oauthStates.userId, user.id))
  await endKeys(unit, user, cause)
  return keep ? renewSession(unit, keep) : undefined
}

type Cause = 'password' | 'ban' | 'rights'

async function endKeys(unit: Unit, user: Owner, cause: Cause): Promise<void> {
  const { tx, now } = unit
  const ended = await tx
    .update(apiKeys)
    .set({ revokedAt: now })
    .where(and(eq(apiKeys.userId, user.id), isNull(apiKeys.revokedAt)))
    .returning({ id: apiKeys.id, name: apiKeys.name })
  if (ended.length === 0) return
  for (const { id, name } of ended) {
    unit.audit('api_key.end', id, { before: { name }, after: { cause } })
    unit.publish('api_key', id, user.id)
  }
  const names = ended.map(key => key.name).join(', ')
  enqueueMail(unit, {
    to: user.email,
    language: user.language,
    template: 'api-keys-ended',
    data: { username: user.username, at: now.toISOString(), names, cause },
    key: `api-keys-ended:${ended[0]?.id}`
  })
}

export function tellPasswordChanged(unit: Unit, user: Owner): void {
  const at = unit.now.toISOString()
  enqueueMail(unit, {
    to: user.email,
    language: user.language,
    template: 'password-changed',
    data: { username: user.username, at },
    key: `password-changed:${user.id}:${at}`
  })
}

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
    const proof = { verifyId, expiresAt: new Date(unit.now.getTime() + PROOF_LIFE) }
    if (!(await consumeEmailCode(unit, code, proof))) return wrongCode
    return ok({ verify_id: verifyId })
  })
}

/**
 * Sets a new password with that proof, once. All sessions, API keys, and other codes and proofs end, and the chat
 * account is unbound, because a thief may have bound one.
 * @returns the browser's new device cookie
 */
export async function setForgottenPassword(
  ctx: AppContext,
  by: Actor,
  form: z.output<typeof ForgotBody>
): Promise<Result<{ device: string }>> {
  const now = ctx.now()
  const email = form.email.toLowerCase()
  const proven = and(
    eq(emailCodes.verifyId, form.verify_id),
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
    tellPasswordChanged(unit, user)
    unit.audit('user.reset_password', user.id, { after: { password: true } })
    return ok({ device: signDevice(ctx.secrets, { id: user.id, passwordHash }) })
  })
}
