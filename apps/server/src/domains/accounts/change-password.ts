import { refuse, type ChangePasswordBody } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { z } from 'zod'
import { command } from '../../infra/command.ts'
import type { UserActor } from '../../infra/actor.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { beginAttempt, changesKey } from './attempts.ts'
import { confirmPassword, lockConfirmed } from './confirm-password.ts'
import { signDevice } from './device-cookie.ts'
import { unbind } from './discord-binding.ts'
import { endAccess, tellPasswordChanged } from './end-access.ts'
import { hashPassword } from './passwords.ts'
import { users } from './tables.ts'

/** Within 15 minutes. Changes end mailed reset codes, so a thief could block the owner's reset by repeating them. */
const MAX_CHANGES = 3

/**
 * Changes the caller's password. Other sessions and all API keys end; this session stays with a new token. The chat
 * account stays unless the form says otherwise.
 * @returns the token, and a new device cookie, which depends on the password
 */
export async function changePassword(
  ctx: AppContext,
  by: UserActor,
  form: z.output<typeof ChangePasswordBody>
): Promise<Result<{ device: string; token: string | undefined }>> {
  const confirmed = await confirmPassword(ctx, by, form.old_password, 'old_password')
  if (!confirmed.ok) return confirmed
  const attempt = await beginAttempt(ctx, by, [changesKey(by.id)])
  if ((attempt.counts.get(changesKey(by.id)) ?? 0) > MAX_CHANGES) {
    await attempt.discard()
    return refuse('too_many')
  }
  const passwordHash = await hashPassword(form.new_password)
  return command(ctx, by, async unit => {
    const user = await lockConfirmed(unit, confirmed.data)
    if (!user) return refuse('unauthorized')
    await unit.tx.update(users).set({ passwordHash }).where(eq(users.id, user.id))
    const token = await endAccess(unit, user, { cause: 'password', keep: by.sessionHash })
    if (form.unbind_discord) await unbind(unit, user)
    tellPasswordChanged(unit, user)
    unit.audit('user.change_password', user.id, { after: { password: true } })
    return ok({ device: signDevice(ctx.config, { id: user.id, passwordHash }), token })
  })
}
