import { type LoginBody, refuse } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import type { z } from 'zod'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { lower } from '../../infra/db/columns.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { limitedClient, widestNetwork } from '../../infra/http/client-address.ts'
import { clearFailures } from './attempts.ts'
import { knownDevice } from './device-cookie.ts'
import { beginLogin } from './log-in-limits.ts'
import { type Browser, countLogin, type LoggedIn } from './open-session.ts'
import { openOrChallenge } from './second-factor/log-in.ts'
import { ofAccount, passwordsAreFull, verifyPassword } from './passwords.ts'
import { recordSecurityEvent } from './security-events.ts'
import { users } from './tables.ts'

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
    return openOrChallenge(unit, ctx.secrets, first, browser)
  })
  if (!opened.ok) return opened
  return 'ticket' in opened.data ? refuse('second_factor_needed', { data: opened.data }) : ok(opened.data)
}
