import { refuse, type LoginBody } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { z } from 'zod'
import { countryOf } from '../../integrations/geoip/index.ts'
import type { Actor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import { lower } from '../../infra/db/columns.ts'
import { ok, type Result } from '../../infra/result.ts'
import { hashToken } from '../../infra/secrets.ts'
import type { AppContext } from '../../infra/context.ts'
import { beginAttempt, clearFailures } from './attempts.ts'
import { consumeCaptcha } from './captcha.ts'
import { clientNetwork } from './client-network.ts'
import { verifyPassword } from './passwords.ts'
import { endSession, insertSession } from './sessions.ts'
import { users } from './tables.ts'

/** Failures within the window from which on a captcha is asked for, and from which on nothing is tried any more. */
const CAPTCHA_FROM = 3
const MAX_PER_ACCOUNT = 20
const MAX_PER_CLIENT = 50

/** The browser that a session is for. */
export type Browser = {
  ip: string
  /** For whom it forwards, where `ip` is a reverse proxy that TRUST_PROXY does not name. For limits only. */
  forwardedFor?: string | null
  userAgent: string | undefined
  /** The session that it had before; it ends. */
  token: string | undefined
}

export type LoggedIn = { token: string; userId: number }

/** Logs in by username or email. A wrong user and a wrong password take the same time and say the same. */
export async function logIn(
  ctx: AppContext,
  by: Actor,
  form: z.output<typeof LoginBody>,
  browser: Browser
): Promise<Result<LoggedIn>> {
  const [user] = await ctx.db
    .select({ id: users.id, passwordHash: users.passwordHash, isActive: users.isActive })
    .from(users)
    .where(eq(lower(form.username.includes('@') ? users.email : users.username), form.username.toLowerCase()))
  const account = user ? accountKey(user.id) : `name:${form.username.toLowerCase()}`
  const client = `ip:${clientNetwork(browser.forwardedFor ?? browser.ip)}`

  const attempt = await beginAttempt(ctx, by, [account, client])
  const ofAccount = attempt.counts.get(account) ?? 0
  const ofClient = attempt.counts.get(client) ?? 0
  if (ofAccount > MAX_PER_ACCOUNT || ofClient > MAX_PER_CLIENT) {
    await attempt.discard()
    return refuse('login_throttled')
  }
  const require_captcha = true
  if (ofAccount > CAPTCHA_FROM || ofClient > CAPTCHA_FROM) {
    if (form.captcha_id === undefined || form.captcha === undefined) {
      await attempt.discard()
      return refuse('captcha_required', { data: { require_captcha } })
    }
    if (!(await consumeCaptcha(ctx, by, form.captcha_id, form.captcha))) {
      await attempt.discard()
      return refuse('wrong_captcha', { data: { require_captcha } })
    }
  }
  if (!(await verifyPassword(user?.passwordHash, form.password)) || !user) {
    const demanded = ofAccount >= CAPTCHA_FROM || ofClient >= CAPTCHA_FROM
    return refuse('wrong_login', { data: demanded ? { require_captcha } : null })
  }
  await attempt.discard()
  if (!user.isActive) return refuse('banned')
  return command(ctx, by, async unit => {
    await clearFailures(unit, account)
    return ok({ token: await createSession(unit, user.id, browser), userId: user.id })
  })
}

/** Under which key an account's failures are counted. */
export const accountKey = (userId: number): string => `user:${userId}`

/** Creates a session for an authenticated user, in place of the one that the browser had. Returns its token. */
export async function createSession(unit: Unit, userId: number, browser: Browser): Promise<string> {
  // A token that was in the browser before the login may have been put there by someone else.
  if (browser.token) await endSession(unit, hashToken(browser.token))
  await unit.tx
    .update(users)
    .set({ lastLogin: unit.now, lastLoginIp: browser.ip, lastLocation: countryOf(browser.ip) })
    .where(eq(users.id, userId))
  unit.publish('user', userId, userId)
  return insertSession(unit, { userId, ip: browser.ip, userAgent: browser.userAgent })
}
