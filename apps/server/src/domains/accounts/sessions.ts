import { and, desc, eq, inArray, isNull, ne, or, sql, type SQL } from '../../infra/db/drizzle.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DAY, HOUR } from '../../infra/clock.ts'
import type { Config } from '../../infra/config.ts'
import type { Unit } from '../../infra/command.ts'
import { hashToken, randomToken } from '../../infra/secrets.ts'
import { readSome } from '../settings/index.ts'
import { sessions, users } from './tables.ts'

/** Over https with the prefix `HOST`. */
export const SESSION_COOKIE = 'netlet_session'
const COOKIE = { name: SESSION_COOKIE, path: '/' } as const
/** Tells tokens from those of versions before the prefix. */
const MARK = 's.'

/** A session ends this long after its last use, and at the latest at the end of its absolute life. */
export const SESSION_LIFE = 30 * DAY

/**
 * When a session of a user ends that is used now.
 * @param since when its owner logged in
 */
export async function sessionEnd({ tx, now }: Unit, userId: number, since: Date): Promise<Date> {
  const { customer_session_days, operator_session_hours } = await readSome(tx, [
    'customer_session_days',
    'operator_session_hours'
  ])
  const [user] = await tx.select({ isSuperuser: users.isSuperuser }).from(users).where(eq(users.id, userId))
  const life = user?.isSuperuser ? operator_session_hours * HOUR : customer_session_days * DAY
  return new Date(Math.min(now.getTime() + SESSION_LIFE, since.getTime() + life))
}

const newToken = (): string => MARK + randomToken()

export type NewSession = {
  userId: number
  ip: string
  userAgent: string | undefined
  /** When its owner logged in; by default now. */
  since?: Date
  /** By default now; null in a session that its owner did not log in to. */
  confirmedAt?: Date | null
  /** The administrator who views the shop as this user, and the session to return to. */
  impersonator?: { id: number; sessionHash: Buffer }
}

/** Of one user; the one that was used longest ago ends. */
const MOST_SESSIONS = 50

/** Inserts a session and returns its token, which only the browser's cookie will contain. The user is locked. */
export async function insertSession(unit: Unit, session: NewSession): Promise<string> {
  const { tx, now } = unit
  const since = session.since ?? now
  const token = newToken()
  await tx.insert(sessions).values({
    tokenHash: hashToken(token),
    userId: session.userId,
    impersonatorId: session.impersonator?.id ?? null,
    parentHash: session.impersonator?.sessionHash ?? null,
    ip: session.ip,
    userAgent: session.userAgent?.slice(0, 300) ?? null,
    createdAt: since,
    lastSeenAt: now,
    confirmedAt: session.confirmedAt === undefined ? now : session.confirmedAt,
    expiresAt: await sessionEnd(unit, session.impersonator?.id ?? session.userId, since)
  })
  const own = and(eq(sessions.userId, session.userId), isNull(sessions.impersonatorId))
  const tooMany = tx
    .select({ id: sessions.id })
    .from(sessions)
    .where(own)
    .orderBy(desc(sessions.lastSeenAt), desc(sessions.id))
    .offset(MOST_SESSIONS)
  await tx.delete(sessions).where(inArray(sessions.id, tooMany))
  return token
}

/**
 * Gives a session a new token, so that a copied cookie stops working.
 * @param changed what else changes in the session
 * @returns the token; undefined if the session has ended
 */
export async function renewSession(
  { tx }: Unit,
  tokenHash: Buffer,
  changed: { confirmedAt?: Date } = {}
): Promise<string | undefined> {
  const token = newToken()
  const renewed = await tx
    .update(sessions)
    .set({ ...changed, tokenHash: hashToken(token) })
    .where(eq(sessions.tokenHash, tokenHash))
    .returning({ id: sessions.id })
  if (renewed.length === 0) return undefined
  // Those that view the shop as a user still return to it.
  await tx
    .update(sessions)
    .set({ parentHash: hashToken(token) })
    .where(eq(sessions.parentHash, tokenHash))
  return token
}

/** Ends a session, those opened from it to view the shop as a user, and the one that it was opened from. */
export async function endSession({ tx }: Unit, tokenHash: Buffer): Promise<void> {
  const parent = tx.select({ hash: sessions.parentHash }).from(sessions).where(eq(sessions.tokenHash, tokenHash))
  await tx
    .delete(sessions)
    .where(
      or(
        eq(sessions.tokenHash, tokenHash),
        eq(sessions.parentHash, tokenHash),
        inArray(sessions.tokenHash, sql`(${parent})`)
      )
    )
}

/** Ends all sessions of a user, and those that the user opened as an administrator to view the shop as others. */
export async function endSessionsOf({ tx }: Unit, userId: number, except?: Buffer): Promise<void> {
  const own: SQL | undefined = except
    ? and(eq(sessions.userId, userId), ne(sessions.tokenHash, except))
    : eq(sessions.userId, userId)
  await tx.delete(sessions).where(or(own, eq(sessions.impersonatorId, userId)))
}

/**
 * A session from before the cookie's prefix is still read from the former cookie. Its token has no mark, so another host
 * of the site cannot put a session of its own there.
 */
export function sessionTokenOf(request: FastifyRequest, config: Pick<Config, 'secureCookies'>): string | undefined {
  const former = readFormer(request, config, COOKIE)
  return readCookie(request, config, COOKIE) ?? (former?.startsWith(MARK) ? undefined : former)
}

/** Kept as long as browsers allow: the server decides when a session ends, and each use extends it. */
export const setSessionCookie = (reply: FastifyReply, config: Pick<Config, 'secureCookies'>, token: string): void =>
  writeCookie(reply, config, COOKIE, token, 400 * DAY)

export const clearSessionCookie = (reply: FastifyReply, config: Pick<Config, 'secureCookies'>): void =>
  clearCookie(reply, config, COOKIE)

type Secure = Pick<Config, 'secureCookies'>

/** `path` applies to plain http. */
export type Cookie = { name: string; path: '/' | '/api' }

/** Browsers take a cookie of this name only from this host over https, so another host of the site cannot set it. */
const HOST = '__Host-'

const nameOf = ({ secureCookies }: Secure, { name }: Cookie): string => (secureCookies ? HOST + name : name)

const optionsOf = ({ secureCookies }: Secure, { path }: Cookie) =>
  ({
    path: secureCookies ? '/' : path,
    httpOnly: true,
    // Lax, because a login by the chat platform returns from another site.
    sameSite: 'lax',
    secure: secureCookies
  }) as const

export const readCookie = (request: FastifyRequest, config: Secure, cookie: Cookie): string | undefined =>
  request.cookies[nameOf(config, cookie)]

/** The cookie without the prefix, as a version before it set it over https. */
export const readFormer = (request: FastifyRequest, { secureCookies }: Secure, { name }: Cookie): string | undefined =>
  secureCookies ? request.cookies[name] : undefined

/** @param life in milliseconds */
export function writeCookie(reply: FastifyReply, config: Secure, cookie: Cookie, value: string, life: number): void {
  clearFormer(reply, config, cookie)
  reply.setCookie(nameOf(config, cookie), value, { ...optionsOf(config, cookie), maxAge: life / 1000 })
}

export function clearCookie(reply: FastifyReply, config: Secure, cookie: Cookie): void {
  clearFormer(reply, config, cookie)
  reply.clearCookie(nameOf(config, cookie), optionsOf(config, cookie))
}

function clearFormer(reply: FastifyReply, config: Secure, cookie: Cookie): void {
  if (readFormer(reply.request, config, cookie) === undefined) return
  reply.clearCookie(cookie.name, { ...optionsOf(config, cookie), path: cookie.path })
}
