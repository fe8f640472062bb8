import { refuse, type OwnSession } from '@netlet/contract'
import { and, desc, eq, gt, isNull } from 'drizzle-orm'
import { countryOf } from '../../integrations/geoip/index.ts'
import type { UserActor } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { done, type Result } from '../../infra/result.ts'
import { deviceName } from './device-name.ts'
import { endSession } from './sessions.ts'
import { sessions } from './tables.ts'

const MOST_SHOWN = 100

/** A user's own sessions; an administrator who views the shop as the user has none of them. */
const own = (userId: number) => and(eq(sessions.userId, userId), isNull(sessions.impersonatorId))

/** Where a user is signed in, last used first, the latest hundred. */
export async function listSessions(ctx: Pick<AppContext, 'db' | 'now'>, by: UserActor): Promise<OwnSession[]> {
  const rows = await ctx.db
    .select()
    .from(sessions)
    .where(and(own(by.id), gt(sessions.expiresAt, ctx.now())))
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
      is_current: by.sessionHash !== null && row.tokenHash.equals(by.sessionHash)
    }
  })
}

/** Ends one of the caller's sessions. */
export function endOwnSession(ctx: AppContext, by: UserActor, id: number): Promise<Result<null>> {
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
