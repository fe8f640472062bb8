import { refuse } from '@netlet/contract'
import { and, eq, gt, isNull } from 'drizzle-orm'
import { command } from '../../infra/command.ts'
import type { UserActor } from '../../infra/actor.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Browser, LoggedIn } from './open-session.ts'
import { endSession, insertSession } from './sessions.ts'
import { sessions, users } from './tables.ts'

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
    const token = await insertSession(unit, {
      userId,
      ip: browser.ip,
      userAgent: browser.userAgent,
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
      .select({ id: users.id, username: users.username })
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
    const token = await insertSession(unit, { userId: admin.id, ip: browser.ip, userAgent: browser.userAgent })
    unit.audit('user.switch_back', by.id)
    return ok({ token, userId: admin.id })
  })
}
