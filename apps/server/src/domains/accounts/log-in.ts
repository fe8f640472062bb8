import { refuse, type LoginBody } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { z } from 'zod'
import { countryOf } from '../../integrations/geoip/index.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lower } from '../../infra/db/columns.ts'
import { ok, type Result } from '../../infra/result.ts'
import { hashToken } from '../../infra/secrets.ts'
import type { AppContext } from '../../infra/context.ts'
import { beginAttempt, forgetFailures } from './attempts.ts'
import { useCaptcha } from './captcha.ts'
import { clientNetwork } from './client-address.ts'
import { verifyPassword } from './passwords.ts'
import { endSession, startSession } from './sessions.ts'
import { users } from './tables.ts'

/** Failures within the window from which on a captcha is asked for, and from which on nothing is tried any more. */
const CAPTCHA_FROM = 3
const MOST_PER_ACCOUNT = 20
const MOST_PER_CLIENT = 50

/** The browser that a session is for. */
export type Browser = {
  ip: string
  userAgent: string | undefined
  /** The session that it had before; it ends. */
  token: string | undefined
}

export type LoggedIn = { token: string; userId: number }

/** Logs in by username or email. A wrong user and a wrong password take the same time and say the same. */
export async function logIn(
  ctx: Pick<AppContext, 'db' | 'now'>,
  form: z.output<typeof LoginBody>,
  browser: Browser
): Promise<Result<LoggedIn>> {
  const { db } = ctx
  const now = ctx.now()
  const [user] = await db
    .select({ id: users.id, passwordHash: users.passwordHash, isActive: users.isActive })
    .from(users)
    .where(eq(lower(form.username.includes('@') ? users.email : users.username), form.username.toLowerCase()))
  const account = user ? accountKey(user.id) : `name:${form.username.toLowerCase()}`
  const client = `ip:${clientNetwork(browser.ip)}`

  const attempt = await beginAttempt(db, [account, client], now)
  const ofAccount = attempt.counts.get(account) ?? 0
  const ofClient = attempt.counts.get(client) ?? 0
  if (ofAccount > MOST_PER_ACCOUNT || ofClient > MOST_PER_CLIENT) {
    await attempt.forgive()
    return refuse('login_throttled')
  }
  const require_captcha = true
  if (ofAccount > CAPTCHA_FROM || ofClient > CAPTCHA_FROM) {
    if (form.captcha_id === undefined || form.captcha === undefined) {
      await attempt.forgive()
      return refuse('captcha_required', { data: { require_captcha } })
    }
    if (!(await useCaptcha(db, form.captcha_id, form.captcha, now))) {
      await attempt.forgive()
      return refuse('wrong_captcha', { data: { require_captcha } })
    }
  }
  if (!(await verifyPassword(user?.passwordHash, form.password)) || !user) {
    const demanded = ofAccount >= CAPTCHA_FROM || ofClient >= CAPTCHA_FROM
    return refuse('wrong_login', { data: demanded ? { require_captcha } : null })
  }
  await attempt.forgive()
  if (!user.isActive) return refuse('banned')
  await forgetFailures(db, account)
  return ok({ token: await db.transaction(tx => enter(tx, user.id, browser, now)), userId: user.id })
}

/** Under which key an account's failures are counted. */
export const accountKey = (userId: number): string => `user:${userId}`

/** Starts a session for a user who has proven to be it, instead of the one that the browser had. Returns its token. */
export async function enter(tx: Executor, userId: number, browser: Browser, now: Date): Promise<string> {
  // A token that was in the browser before the login may have been put there by someone else.
  if (browser.token) await endSession(tx, hashToken(browser.token))
  await tx
    .update(users)
    .set({ lastLogin: now, lastLoginIp: browser.ip, lastLocation: countryOf(browser.ip) })
    .where(eq(users.id, userId))
  return startSession(tx, { userId, ip: browser.ip, userAgent: browser.userAgent, now })
}
