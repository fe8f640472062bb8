import { formMessages, refuse, type OwnSession } from '@netlet/contract'
import { and, desc, eq, gt, isNull } from 'drizzle-orm'
import { countryOf } from '../../integrations/geoip/index.ts'
import type { UserActor } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { formRefusal } from '../../infra/refusals.ts'
import { done, type Result } from '../../infra/result.ts'
import { confirmPassword } from './confirm-password.ts'
import { deviceName } from './device-name.ts'
import { endSession } from './sessions.ts'
import { sessions } from './tables.ts'

const MOST_SHOWN = 100

/** A user's own sessions; an administrator who views the shop as the user has none of them. */
const own = (userId: number) => and(eq(sessions.userId, userId), isNull(sessions.impersonatorId))

/** Where the caller is signed in, last used first, the latest hundred. */
export const listSessions = (ctx: Pick<AppContext, 'db' | 'now'>, by: UserActor): Promise<OwnSession[]> =>
  sessionsOf(ctx, by.id, by.sessionHash)

/**
 * Where a user is signed in, last used first, the latest hundred.
 * @param current the hash of the session that asks; null: it is none of the user's
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
    .orderBy(desc(sessions.lastSeenAt), desc(sessions.id))
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
 * Ends one of the caller's sessions; another one than the present one for the password only: who found or stole a session
 * must not end the one in which its owner notices.
 */
export async function endOwnSession(
  ctx: AppContext,
  by: UserActor,
  id: number,
  password: string | undefined
): Promise<Result<null>> {
  const [wanted] = await ctx.db
    .select({ tokenHash: sessions.tokenHash })
    .from(sessions)
    .where(and(own(by.id), eq(sessions.id, id)))
  if (!wanted) return refuse('not_found')
  if (!by.sessionHash || !wanted.tokenHash.equals(by.sessionHash)) {
    if (!password) return formRefusal({ password: formMessages.enter_your_password })
    const confirmed = await confirmPassword(ctx, by, password)
    if (!confirmed.ok) return confirmed
  }
  return command(ctx, by, async unit => {
    const [found] = await unit.tx
      .select({ tokenHash: sessions.tokenHash })
      .from(sessions)
      .where(and(own(by.id), eq(sessions.id, id)))
    if (!found) return refuse('not_found')
    await endSession(unit, found.tokenHash)
    return done
  })
}
