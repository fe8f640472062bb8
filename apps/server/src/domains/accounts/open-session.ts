import { refuse } from '@netlet/contract'
import { and, eq, gt, isNull } from '../../infra/db/drizzle.ts'
import { countryOf } from '../../integrations/geoip/index.ts'
import { type Unit, command } from '../../infra/command.ts'
import { type Result, ok } from '../../infra/result.ts'
import { hashToken, type Secrets } from '../../infra/secrets.ts'
import { enqueueMail } from '../mail/index.ts'
import { clientNetwork } from '../../infra/http/client-address.ts'
import { knownDevice, signDevice } from './device-cookie.ts'
import { type LoginMethod, browserName, deviceName, recordLogin } from './logins.ts'
import { FAILURE_WINDOW } from './attempts.ts'
import { countRequest } from './forwarded-limits.ts'
import { startGrace } from './second-factor/required.ts'
import { endSession, insertSession } from './sessions.ts'
import { sessions, users } from './tables.ts'
import type { UserActor } from '../../infra/actor.ts'
import type { AppContext } from '../../infra/context.ts'

type Switched = Omit<LoggedIn, 'device'>

/** Creates a session in which an administrator views the shop as a user. The administrator's own session stays. */
export async function switchUser(
  ctx: AppContext,
  by: UserActor,
  userId: number,
  browser: Browser
): Promise<Result<Switched>> {
  const { sessionHash } = by
  if (!sessionHash) return refuse('cannot_switch')
  return command(ctx, by, async unit => {
    const { tx } = unit
    const [user] = await tx
      .select({ id: users.id, username: users.username, isActive: users.isActive, isSuperuser: users.isSuperuser })
      .from(users)
      .where(and(eq(users.id, userId), isNull(users.deletedAt)))
      .for('share')
    if (!user) return refuse('not_found')
    if (!user.isActive || user.isSuperuser) return refuse('cannot_switch')
    const [own] = await tx
      .select({ createdAt: sessions.createdAt })
      .from(sessions)
      .where(eq(sessions.tokenHash, sessionHash))
    if (!own) return refuse('unauthorized')
    const token = await insertSession(unit, {
      userId,
      ip: browser.ip,
      userAgent: browser.userAgent,
      since: own.createdAt,
      confirmedAt: null,
      impersonator: { id: by.id, sessionHash }
    })
    unit.audit('user.switch', userId, { after: { username: user.username } })
    return ok({ token, userId })
  })
}

/** Returns the administrator to their own session with a new token, because we have only the old one's hash. */
export async function switchBack(ctx: AppContext, by: UserActor, browser: Browser): Promise<Result<Switched>> {
  const { sessionHash, impersonator } = by
  if (!sessionHash || impersonator === null) return refuse('not_impersonating')
  return command(ctx, by, async unit => {
    const { tx } = unit
    const [session] = await tx
      .select({ parentHash: sessions.parentHash })
      .from(sessions)
      .where(eq(sessions.tokenHash, sessionHash))
      .for('update')
    if (!session?.parentHash) return refuse('unauthorized')
    const [admin] = await tx
      .select({ id: users.id, username: users.username, since: sessions.createdAt, confirmedAt: sessions.confirmedAt })
      .from(sessions)
      .innerJoin(users, and(eq(users.id, sessions.userId), eq(users.isActive, true), eq(users.isSuperuser, true)))
      .where(
        and(
          eq(sessions.tokenHash, session.parentHash),
          eq(sessions.userId, impersonator.id),
          gt(sessions.expiresAt, unit.now)
        )
      )
    if (!admin) return refuse('unauthorized')
    await endSession(unit, sessionHash)
    const { ip, userAgent } = browser
    const { since, confirmedAt } = admin
    const token = await insertSession(unit, { userId: admin.id, ip, userAgent, since, confirmedAt })
    unit.audit('user.switch_back', by.id)
    return ok({ token, userId: admin.id })
  })
}

export type Browser = {
  ip: string
  /** The forwarded client, if `ip` is a reverse proxy that TRUST_PROXY does not name. For limits only. */
  forwardedFor?: string | null
  userAgent: string | undefined
  /** Its previous session, which ends. */
  token: string | undefined
  /** The proof of its last login. */
  device: string | undefined
}

/** The session's token, and the proof of the login, see device-cookie.ts. */
export type LoggedIn = { token: string; device: string; userId: number }

/** Who passed the first step of a log-in, and how. `passwordHash`: the checked password's; undefined: none was needed. */
export type FirstStep = { userId: number; method: LoginMethod; passwordHash?: string }

/** Locks a user who logs in, so that no session outlives a ban, a deletion or a new password. */
export async function lockToLogIn({ tx }: Unit, { userId, passwordHash }: Omit<FirstStep, 'method'>) {
  const [user] = await tx.select().from(users).where(eq(users.id, userId)).for('no key update')
  if (!user || user.deletedAt || (passwordHash !== undefined && user.passwordHash !== passwordHash))
    return refuse('wrong_login')
  return user.isActive ? ok(user) : refuse('banned')
}

/** With a right password or passkey: each leaves a session, or a ticket, and a row in the list of log-ins. */
const LOGINS = { most: 100, withinMs: FAILURE_WINDOW }

/** Counts a log-in to an account; false if there were too many. */
export const countLogin = async (unit: Unit, userId: number): Promise<boolean> =>
  (await countRequest(unit, `log-in:${userId}`, LOGINS)) !== null

/**
 * Creates a session for an authenticated user and replaces the browser's previous one. It checks again under the user's
 * lock. The owner gets a mail about a new browser or country, once a day for the same browser and network. An operator
 * begins to have time for a second factor.
 */
export async function openSession(
  unit: Unit,
  secrets: Secrets,
  first: FirstStep,
  browser: Browser
): Promise<Result<LoggedIn>> {
  const { tx, now } = unit
  const { userId, method } = first
  const locked = await lockToLogIn(unit, first)
  if (!locked.ok) return locked
  const user = locked.data
  const country = countryOf(browser.ip)
  const known = knownDevice(secrets, browser.device, user) !== undefined
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
  // An attacker may have planted a token in the browser before the login.
  if (browser.token) await endSession(unit, hashToken(browser.token))
  await tx
    .update(users)
    .set({ lastLogin: now, lastLoginIp: browser.ip, lastLocation: country })
    .where(eq(users.id, userId))
  if (user.isSuperuser) await startGrace(unit, userId)
  await recordLogin(unit, { userId, method, ip: browser.ip, country, userAgent: browser.userAgent })
  unit.publish('user', userId, userId)
  const token = await insertSession(unit, { userId, ip: browser.ip, userAgent: browser.userAgent })
  return ok({ token, device: known && browser.device ? browser.device : signDevice(secrets, user), userId })
}

/** A program that keeps logging in without cookies counts as one new browser. */
const newLoginKey = (userId: number, now: Date, { ip, userAgent }: Browser): string =>
  `new-login:${userId}:${now.toISOString().slice(0, 10)}:${clientNetwork(ip)}:${browserName(userAgent)}`
