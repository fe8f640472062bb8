import { refuse, type OwnSession } from '@netlet/contract'
import { and, count, eq, isNull } from 'drizzle-orm'
import type { UserActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { done, type Result } from '../../infra/result.ts'
import { lockUser } from './balance.ts'
import { refuseOperator } from './operators.ts'
import { sessionsOf } from './own-sessions.ts'
import { endSession, endSessionsOf } from './sessions.ts'
import { sessions } from './tables.ts'

/** Where a user is signed in, for an administrator. */
export const listUserSessions = (
  ctx: Pick<AppContext, 'db' | 'now'>,
  by: UserActor,
  userId: number
): Promise<OwnSession[]> => sessionsOf(ctx, userId, by.sessionHash)

/** Ends one session of any user, and those opened from it to view the shop as others. */
export function endUserSession(ctx: AppContext, by: UserActor, id: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const [found] = await unit.tx
      .select({ tokenHash: sessions.tokenHash, userId: sessions.userId })
      .from(sessions)
      .where(and(eq(sessions.id, id), isNull(sessions.impersonatorId)))
      .for('update')
    const user = found && (await lockUser(unit.tx, found.userId))
    if (!user) return refuse('not_found')
    const refused = refuseOperator(by, user)
    if (refused) return refused
    await endSession(unit, found.tokenHash)
    unit.audit('user.end_session', found.userId, { before: { session: id } })
    return done
  })
}

/** Ends all sessions of a user. Administrators who end their own keep the current one. API keys stay. */
export function endUserSessions(ctx: AppContext, by: UserActor, userId: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    // A concurrent login waits here and stays.
    const user = await lockUser(unit.tx, userId)
    if (!user) return refuse('not_found')
    const refused = refuseOperator(by, user)
    if (refused) return refused
    const own = and(eq(sessions.userId, userId), isNull(sessions.impersonatorId))
    const [before] = await unit.tx.select({ sessions: count() }).from(sessions).where(own)
    await endSessionsOf(unit, userId, userId === by.id ? (by.sessionHash ?? undefined) : undefined)
    unit.audit('user.end_sessions', userId, { before: { sessions: before?.sessions ?? 0 } })
    return done
  })
}
