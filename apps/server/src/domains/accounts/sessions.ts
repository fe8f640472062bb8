import { and, desc, eq, inArray, isNull, ne, or, sql, type SQL } from '../../infra/db/drizzle.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DAY } from '../../infra/clock.ts'
import type { Config } from '../../infra/config.ts'
import type { Unit } from '../../infra/command.ts'
import { hashToken, randomToken } from '../../infra/secrets.ts'
import { sessions } from './tables.ts'

export const SESSION_COOKIE = 'netlet_session'
/** A session ends this long after its last use. */
export const SESSION_LIFE = 30 * DAY

export type NewSession = {
  userId: number
  ip: string
  userAgent: string | undefined
  /** The administrator who views the shop as this user, and the session to return to. */
  impersonator?: { id: number; sessionHash: Buffer }
}

/** Of one user; the one that was used longest ago ends. */
const MOST_SESSIONS = 50

/** Inserts a session and returns its token, which only the browser's cookie will contain. The user is locked. */
export async function insertSession({ tx, now }: Unit, session: NewSession): Promise<string> {
  const token = randomToken()
  await tx.insert(sessions).values({
    tokenHash: hashToken(token),
    userId: session.userId,
    impersonatorId: session.impersonator?.id ?? null,
    parentHash: session.impersonator?.sessionHash ?? null,
    ip: session.ip,
    userAgent: session.userAgent?.slice(0, 300) ?? null,
    createdAt: now,
    lastSeenAt: now,
    expiresAt: new Date(now.getTime() + SESSION_LIFE)
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
 * Gives a session a new token, so that a copied cookie stops working. @returns it; undefined if the session has ended
 */
export async function renewSession({ tx }: Unit, tokenHash: Buffer): Promise<string | undefined> {
  const token = randomToken()
  const renewed = await tx
    .update(sessions)
    .set({ tokenHash: hashToken(token) })
    .where(eq(sessions.tokenHash, tokenHash))
    .returning({ id: sessions.id })
  return renewed.length > 0 ? token : undefined
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

export const sessionTokenOf = (request: FastifyRequest): string | undefined => request.cookies[SESSION_COOKIE]

export function setSessionCookie(reply: FastifyReply, config: Pick<Config, 'secureCookies'>, token: string): void {
  reply.setCookie(SESSION_COOKIE, token, {
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure: config.secureCookies,
    // As long as browsers allow: the server decides when a session ends, and each use extends it.
    maxAge: (400 * DAY) / 1000
  })
}

export function clearSessionCookie(reply: FastifyReply, config: Pick<Config, 'secureCookies'>): void {
  reply.clearCookie(SESSION_COOKIE, { path: '/', httpOnly: true, sameSite: 'lax', secure: config.secureCookies })
}
