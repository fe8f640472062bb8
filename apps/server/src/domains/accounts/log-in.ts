import { type LoginBody, refuse, type SignUpBody } from '@netlet/contract'
import { and, eq, sql } from '../../infra/db/drizzle.ts'
import type { z } from 'zod'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { lower } from '../../infra/db/columns.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { limitedClient, widestNetwork } from '../../infra/http/client-address.ts'
import { beginAttempt, clearFailures } from './attempts.ts'
import { knownDevice } from './device-cookie.ts'
import { beginLogin } from './log-in-limits.ts'
import { type Browser, countLogin, type LoggedIn, openSession } from './open-session.ts'
import { openOrAsk } from './second-factor/log-in.ts'
import { hashChosen, ofAccount, passwordsAreFull, verifyPassword } from './passwords.ts'
import { recordSecurityEvent } from './security-events.ts'
import { users } from './tables.ts'
import type { Executor } from '../../infra/db/client.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { insertUser, USER_CONFLICTS } from './create-user.ts'
import { consumeDiscordProof } from './discord-binding.ts'
import { consumeEmailCode, tryEmailCode } from './email-codes.ts'

/**
 * Logs in by username or e-mail. A wrong name and a wrong password have the same timing and message. In a flood from
 * many networks known browsers come first, and others get 'unavailable'. An account with a second factor gets a ticket
 * for the second step instead of a session.
 */
export async function logIn(
  ctx: AppContext,
  by: Actor,
  form: z.output<typeof LoginBody>,
  browser: Browser
): Promise<Result<LoggedIn>> {
  const name = form.username.toLowerCase()
  const [user] = await ctx.db
    .select({
      id: users.id,
      passwordHash: users.passwordHash,
      isActive: users.isActive,
      isSuperuser: users.isSuperuser
    })
    .from(users)
    .where(eq(lower(name.includes('@') ? users.email : users.username), name))
  const device = user && knownDevice(ctx.secrets, browser.device, user)
  const caller =
    user && device !== undefined ? ofAccount(user.id) : { key: widestNetwork(limitedClient(browser)), first: false }
  const isCrowdedOut = () => passwordsAreFull(caller)
  if (isCrowdedOut()) return refuse('unavailable')
  const begun = await beginLogin(ctx, by, {
    userId: user?.id,
    name,
    ip: browser.forwardedFor ?? browser.ip,
    device,
    captcha: { id: form.captcha_id, answer: form.captcha }
  })
  if (!begun.ok) return begun
  const attempt = begun.data
  // Concurrent attempts have filled the queue.
  if (isCrowdedOut()) {
    await attempt.discard()
    return refuse('unavailable')
  }
  if (!(await verifyPassword(user?.passwordHash, form.password, caller)) || !user) {
    // At the same time, so that the answer for an operator's name takes hardly longer.
    await Promise.all([
      attempt.fail(),
      user?.isSuperuser && recordSecurityEvent(ctx, by, 'fail_login', { userId: user.id })
    ])
    return refuse('wrong_login', { data: attempt.nextNeedsCaptcha ? { require_captcha: true } : null })
  }
  await attempt.discard()
  if (!user.isActive) return refuse('banned')
  const opened = await command(ctx, by, async unit => {
    await clearFailures(unit, attempt.keys)
    if (!(await countLogin(unit, user.id))) return refuse('too_many')
    const first = { userId: user.id, method: 'password', passwordHash: user.passwordHash } as const
    return openOrAsk(unit, ctx.secrets, first, browser)
  })
  if (!opened.ok) return opened
  return 'ticket' in opened.data ? refuse('second_factor_needed', { data: opened.data }) : ok(opened.data)
}

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
