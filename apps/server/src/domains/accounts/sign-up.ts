import { refuse, type SignUpBody } from '@netlet/contract'
import { and, eq, sql } from '../../infra/db/drizzle.ts'
import type { z } from 'zod'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import type { Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { beginAttempt } from './attempts.ts'
import { insertUser, USER_CONFLICTS } from './create-user.ts'
import { consumeDiscordProof } from './discord-binding.ts'
import { consumeEmailCode, tryEmailCode } from './email-codes.ts'
import { openSession, type Browser, type LoggedIn } from './open-session.ts'
import { hashChosen } from './passwords.ts'
import { users } from './tables.ts'

/**
 * Tries with one right mailed code. Each refusal reveals whether a name or invite code exists and costs a password
 * hash.
 */
const MAX_TRIES = 20

/**
 * Creates an account and logs it in, all or nothing: after a refusal the mailed code still works for a while. The
 * inviter's count rises at once, its points come with the first payment.
 */
export async function signUp(
  ctx: AppContext,
  by: Actor,
  form: z.output<typeof SignUpBody>,
  browser: Browser & { oauthToken: string | undefined }
): Promise<Result<LoggedIn>> {
  const code = { id: form.email_code_id, email: form.email, purpose: 'register' as const }
  const wrongCode = fieldRefusal('email_code', 'wrong_email_code')
  if (!(await tryEmailCode(ctx, by, { ...code, code: form.email_code }))) return wrongCode
  const key = `sign-up:${code.id}`
  const { counts } = await beginAttempt(ctx, by, [key])
  if ((counts.get(key) ?? 0) > MAX_TRIES) return refuse('too_many')
  const chosen = await hashChosen(form.password, form)
  if (!chosen.ok) return chosen
  const passwordHash = chosen.data
  return command(ctx, by, { unique: USER_CONFLICTS }, async unit => {
    const { tx } = unit
    if (!(await consumeEmailCode(unit, code))) return wrongCode
    const inviterId = form.invite_code ? await inviterOf(tx, form.invite_code) : null
    if (form.invite_code && inviterId === null) return fieldRefusal('invite_code', 'unknown_invite_code')
    const discord = form.discord_id ? await consumeDiscordProof(unit, form.discord_id, browser.oauthToken) : undefined
    if (form.discord_id && !discord) return fieldRefusal('discord_id', 'discord_proof_missing')
    const { username, email } = form
    const userId = await insertUser(unit, {
      username,
      email,
      passwordHash,
      invitedBy: inviterId,
      discord,
      language: form.language
    })
    if (inviterId !== null) {
      await tx
        .update(users)
        .set({ inviteCount: sql`${users.inviteCount} + 1` })
        .where(eq(users.id, inviterId))
    }
    return openSession(unit, ctx.secrets, { userId, method: 'sign_up' }, browser)
  })
}

async function inviterOf(tx: Executor, inviteCode: string): Promise<number | null> {
  const [inviter] = await tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.inviteCode, inviteCode.toLowerCase()), eq(users.isActive, true)))
  return inviter?.id ?? null
}
