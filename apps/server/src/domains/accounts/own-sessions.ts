import { formMessages, isConfirmed, refuse, type Confirmation, type OwnSession } from '@netlet/contract'
import { and, desc, eq, gt, inArray, isNull, ne, or } from '../../infra/db/drizzle.ts'
import { countryOf } from '../../integrations/geoip/index.ts'
import type { UserActor } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { formRefusal } from '../../infra/refusals.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { confirmCaller, lockConfirmed } from './confirm-caller.ts'
import { endSession } from './sessions.ts'
import { sessions } from './tables.ts'
import { deviceName } from './logins.ts'

const MOST_SHOWN = 100

/** A user's own sessions, without those of administrators who view the shop as the user. */
const own = (userId: number) => and(eq(sessions.userId, userId), isNull(sessions.impersonatorId))

/** Where the caller is signed in: the current session, then the last used ones, at most a hundred. */
export const listSessions = (ctx: Pick<AppContext, 'db' | 'now'>, by: UserActor): Promise<OwnSession[]> =>
  sessionsOf(ctx, by.id, by.sessionHash)

/**
 * Where a user is signed in, at most a hundred, the current session first, then the last used ones.
 * @param current the hash of the asking session; null: it is not one of the user's
 */
export async function sessionsOf(
  { db, now }: Pick<AppContext, 'db' | 'now'>,
  userId: number,
  current: Buffer | null
): Promise<OwnSession[]> {
  const rows = await db
    .select()
    .from(sessions)
    .where(and(own(userId), gt(sessions.expiresAt, now())))
    .orderBy(...(current ? [desc(eq(sessions.tokenHash, current))] : []), desc(sessions.lastSeenAt), desc(sessions.id))
    .limit(MOST_SHOWN)
  return rows.map(row => {
    const ip = row.ip?.replace(/\/(32|128)$/, '') ?? null
    return {
      id: row.id,
      device: row.userAgent && deviceName(row.userAgent),
      ip,
      location: ip === null ? null : countryOf(ip),
      created_at: iso(row.createdAt),
      last_seen_at: iso(row.lastSeenAt),
      is_current: current !== null && row.tokenHash.equals(current)
    }
  })
}

/**
 * Ends one of the caller's sessions. Others than the current one need a confirmed caller, so that the thief of a session
 * cannot end the one in which the owner would notice.
 */
export async function endOwnSession(
  ctx: AppContext,
  by: UserActor,
  id: number,
  confirmation: Confirmation = {}
): Promise<Result<null>> {
  const [wanted] = await ctx.db
    .select({ tokenHash: sessions.tokenHash })
    .from(sessions)
    .where(and(own(by.id), eq(sessions.id, id)))
  if (!wanted) return refuse('not_found')
  if (!by.sessionHash || !wanted.tokenHash.equals(by.sessionHash)) {
    if (!isConfirmed(confirmation)) return formRefusal({ password: formMessages.enter_your_password })
    const confirmed = await confirmCaller(ctx, by, confirmation)
    if (!confirmed.ok) return confirmed
  }
  return command(ctx, by, async unit => {
    const [found] = await unit.tx
      .select({ tokenHash: sessions.tokenHash })
      .from(sessions)
      .where(and(own(by.id), eq(sessions.id, id)))
    if (!found) return refuse('not_found')
    await endSession(unit, found.tokenHash)
    if (!by.sessionHash || !found.tokenHash.equals(by.sessionHash))
      unit.audit('user.end_session', by.id, { before: { session: id } })
    return done
  })
}

/**
 * Ends all of the caller's other sessions, and those opened from them to view the shop as a user. API keys stay, and so
 * do administrators who view the shop as the caller.
 */
export async function endOtherSessions(
  ctx: AppContext,
  by: UserActor,
  confirmation: Confirmation
): Promise<Result<{ ended: number }>> {
  const current = by.sessionHash
  if (!current) return refuse('not_found')
  const confirmed = await confirmCaller(ctx, by, confirmation)
  if (!confirmed.ok) return confirmed
  return command(ctx, by, async unit => {
    // A concurrent login waits here and stays.
    if (!(await lockConfirmed(unit, confirmed.data))) return refuse('unauthorized')
    const others = and(own(by.id), ne(sessions.tokenHash, current))
    const hashes = unit.tx.select({ hash: sessions.tokenHash }).from(sessions).where(others)
    const gone = await unit.tx
      .delete(sessions)
      .where(or(others, inArray(sessions.parentHash, hashes)))
      .returning({ impersonatorId: sessions.impersonatorId, expiresAt: sessions.expiresAt })
    const ended = gone.filter(row => row.impersonatorId === null && row.expiresAt > unit.now).length
    if (ended > 0) unit.audit('user.end_sessions', by.id, { before: { sessions: ended + 1 }, after: { sessions: 1 } })
    return ok({ ended })
  })
}
