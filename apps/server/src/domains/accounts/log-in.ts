import { refuse, type LoginBody } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { z } from 'zod'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { lower } from '../../infra/db/columns.ts'
import type { Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { limitedClient, widestNetwork } from '../../infra/http/client-network.ts'
import { clearFailures, FAILURE_WINDOW } from './attempts.ts'
import { knownDevice } from './device-cookie.ts'
import { countAsk } from './forwarded-limits.ts'
import { beginLogin } from './log-in-limits.ts'
import { openSession, type Browser, type LoggedIn } from './open-session.ts'
import { ofAccount, passwordsAreFull, verifyPassword } from './passwords.ts'
import { users } from './tables.ts'

/** With the right password: each one leaves a session and a row in the list of log-ins. */
const LOGINS = { most: 100, withinMs: FAILURE_WINDOW }

/**
 * Logs in by username or e-mail. A wrong name and a wrong password have the same timing and message. In a flood from
 * many networks known browsers come first, and others get 'unavailable'.
 */
export async function logIn(
  ctx: AppContext,
  by: Actor,
  form: z.output<typeof LoginBody>,
  browser: Browser
): Promise<Result<LoggedIn>> {
  const name = form.username.toLowerCase()
  const [user] = await ctx.db
    .select({ id: users.id, passwordHash: users.passwordHash, isActive: users.isActive })
    .from(users)
    .where(eq(lower(name.includes('@') ? users.email : users.username), name))
  const device = user && knownDevice(ctx.config, browser.device, user)
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
    await attempt.fail()
    return refuse('wrong_login', { data: attempt.nextNeedsCaptcha ? { require_captcha: true } : null })
  }
  await attempt.discard()
  if (!user.isActive) return refuse('banned')
  return command(ctx, by, async unit => {
    await clearFailures(unit, attempt.keys)
    if ((await countAsk(unit, `log-in:${user.id}`, LOGINS)) === null) return refuse('too_many')
    return openSession(
      unit,
      ctx.config,
      { userId: user.id, method: 'password', passwordHash: user.passwordHash },
      browser
    )
  })
}
