import { refuse } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { countryOf } from '../../integrations/geoip/index.ts'
import type { Unit } from '../../infra/command.ts'
import type { Config } from '../../infra/config.ts'
import { ok, type Result } from '../../infra/result.ts'
import { hashToken } from '../../infra/secrets.ts'
import { enqueueMail } from '../mail/index.ts'
import { clientNetwork } from './client-network.ts'
import { knownDevice, signDevice } from './device-cookie.ts'
import { browserName, deviceName } from './device-name.ts'
import { recordLogin, type LoginMethod } from './logins.ts'
import { endSession, insertSession } from './sessions.ts'
import { users } from './tables.ts'

/** The browser that a session is for. */
export type Browser = {
  ip: string
  /** For whom it forwards, where `ip` is a reverse proxy that TRUST_PROXY does not name. For limits only. */
  forwardedFor?: string | null
  userAgent: string | undefined
  /** The session that it had before; it ends. */
  token: string | undefined
  /** What it holds of its last login. */
  device: string | undefined
}

/** What the browser gets: the session's token, and the proof that it has logged in, see device-cookie.ts. */
export type LoggedIn = { token: string; device: string; userId: number }

/**
 * Creates a session for an authenticated user, in place of the one that the browser had. It looks again under the user's
 * row lock: a ban, a deletion or another password that came meanwhile leaves no session behind. The owner is mailed where
 * the browser is a new one, or is in another country; of the same browser in the same network once a day.
 * @param passwordHash what the password was right for; without one it was not asked for
 */
export async function openSession(
  unit: Unit,
  config: Pick<Config, 'appSecret'>,
  { userId, method, passwordHash }: { userId: number; method: LoginMethod; passwordHash?: string },
  browser: Browser
): Promise<Result<LoggedIn>> {
  const { tx, now } = unit
  const [user] = await tx.select().from(users).where(eq(users.id, userId)).for('no key update')
  if (!user || user.deletedAt || (passwordHash !== undefined && user.passwordHash !== passwordHash))
    return refuse('wrong_login')
  if (!user.isActive) return refuse('banned')
  const country = countryOf(browser.ip)
  const known = knownDevice(config, browser.device, user) !== undefined
  const moved = country !== null && user.lastLocation !== null && country !== user.lastLocation
  // The first login is the sign-up itself.
  if (user.lastLogin && (!known || moved)) {
    enqueueMail(unit, {
      to: user.email,
      language: user.language,
      template: 'new-login',
      data: {
        username: user.username,
        at: now.toISOString(),
        device: browser.userAgent ? deviceName(browser.userAgent) : '–',
        ip: browser.ip,
        country: country ?? '–'
      },
      key: newLoginKey(userId, now, browser)
    })
  }
  // A token that was in the browser before the login may have been put there by someone else.
  if (browser.token) await endSession(unit, hashToken(browser.token))
  await tx
    .update(users)
    .set({ lastLogin: now, lastLoginIp: browser.ip, lastLocation: country })
    .where(eq(users.id, userId))
  await recordLogin(unit, { userId, method, ip: browser.ip, country, userAgent: browser.userAgent })
  unit.publish('user', userId, userId)
  const token = await insertSession(unit, { userId, ip: browser.ip, userAgent: browser.userAgent })
  return ok({ token, device: known && browser.device ? browser.device : signDevice(config, user), userId })
}

/** A program that logs in again and again, and keeps no cookie, is one new browser. */
const newLoginKey = (userId: number, now: Date, { ip, userAgent }: Browser): string =>
  `new-login:${userId}:${now.toISOString().slice(0, 10)}:${clientNetwork(ip)}:${browserName(userAgent)}`
