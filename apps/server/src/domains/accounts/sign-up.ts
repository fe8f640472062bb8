import { refuse, type SignUpBody } from '@netlet/contract'
import { and, eq, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { transact } from '../../infra/db/transact.ts'
import type { Transaction } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { grantPoints } from '../rewards/index.ts'
import { readSettings } from '../settings/index.ts'
import { insertUser } from './create-user.ts'
import { takeDiscordProof } from './discord-states.ts'
import { consumeEmailCode, tryEmailCode } from './email-codes.ts'
import { enter, type Browser, type LoggedIn } from './log-in.ts'
import { hashPassword } from './passwords.ts'
import { users } from './tables.ts'

/**
 * Makes an account and logs it in. Everything or nothing: a refusal leaves the mailed code usable. Who invited gets
 * its points in the same transaction.
 */
export async function signUp(
  ctx: Pick<AppContext, 'config' | 'db' | 'now' | 'secrets'>,
  form: z.output<typeof SignUpBody>,
  browser: Browser & { oauthToken: string | undefined }
): Promise<Result<LoggedIn>> {
  const now = ctx.now()
  const code = { id: form.email_code_id, email: form.email, purpose: 'register' as const }
  if (!(await tryEmailCode(ctx.db, ctx.config, { ...code, code: form.email_code }, now)))
    return refuse('wrong_email_code')
  const passwordHash = await hashPassword(form.password)
  const settings = await readSettings(ctx.db, ctx.secrets)
  return transact(ctx.db, async tx => {
    if (!(await consumeEmailCode(tx, code, now))) return refuse('wrong_email_code')
    const inviter = form.invite_code ? await inviterOf(tx, form.invite_code) : null
    if (form.invite_code && inviter === null) return refuse('unknown_invite_code')
    const discord = form.discord_id ? await takeDiscordProof(tx, form.discord_id, browser.oauthToken, now) : undefined
    if (form.discord_id && !discord) {
      const msg = 'Please log in with the chat platform again, or sign up without it'
      return refuse('invalid', { msg, data: { errors: { discord_id: msg } } })
    }
    const made = await insertUser(tx, {
      username: form.username,
      email: form.email,
      passwordHash,
      invitedBy: inviter,
      discord,
      now
    })
    if (!made.ok) return made
    const userId = made.data.id
    if (inviter !== null) {
      await tx
        .update(users)
        .set({ inviteCount: sql`${users.inviteCount} + 1` })
        .where(eq(users.id, inviter))
      await grantPoints(tx, {
        userId: inviter,
        kind: 'level',
        point: settings.invite_level_points_per_user,
        reason: `Invited ${form.username}`,
        cause: `invite:${userId}`,
        now
      })
    }
    return ok({ token: await enter(tx, userId, browser, now), userId })
  })
}

async function inviterOf(tx: Transaction, inviteCode: string): Promise<number | null> {
  const [inviter] = await tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.inviteCode, inviteCode.toLowerCase()), eq(users.isActive, true)))
  return inviter?.id ?? null
}
