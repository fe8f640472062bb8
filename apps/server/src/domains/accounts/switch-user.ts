import { refuse } from '@netlet/contract'
import { and, eq, gt, isNull } from 'drizzle-orm'
import { transact } from '../../infra/db/transact.ts'
import type { UserActor } from '../../infra/actor.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { record } from '../audit/index.ts'
import type { Browser, LoggedIn } from './log-in.ts'
import { endSession, startSession } from './sessions.ts'
import { sessions, users } from './tables.ts'

/** Opens a session as a user for an administrator, whose own one is kept beside it. */
export async function switchUser(
  ctx: Pick<AppContext, 'db' | 'now'>,
  caller: UserActor,
  userId: number,
  browser: Browser
): Promise<Result<LoggedIn>> {
  const { sessionHash } = caller
  if (!sessionHash) return refuse('cannot_switch')
  return transact(ctx.db, async tx => {
    const [user] = await tx
      .select({ id: users.id, username: users.username, isActive: users.isActive, isSuperuser: users.isSuperuser })
      .from(users)
      .where(and(eq(users.id, userId), isNull(users.deletedAt)))
      .for('share')
    if (!user) return refuse('not_found')
    if (!user.isActive || user.isSuperuser) return refuse('cannot_switch')
    const token = await startSession(tx, {
      userId,
      ip: browser.ip,
      userAgent: browser.userAgent,
      now: ctx.now(),
      impersonator: { id: caller.id, sessionHash }
    })
    const entry = { action: 'switch user', targetType: 'user', targetId: userId, after: { username: user.username } }
    await record(tx, caller, entry)
    return ok({ token, userId })
  })
}

/**
 * Brings the administrator back. The session that was kept is exchanged for a new one: its token is known to nobody
 * any more, only its hash.
 */
export async function switchBack(
  ctx: Pick<AppContext, 'db' | 'now'>,
  caller: UserActor,
  browser: Browser
): Promise<Result<LoggedIn>> {
  const { sessionHash, impersonator } = caller
  if (!sessionHash || impersonator === null)
    return refuse('conflict', { msg: "You are not viewing another user's account" })
  const now = ctx.now()
  return transact(ctx.db, async tx => {
    const [visit] = await tx
      .select({ parentHash: sessions.parentHash })
      .from(sessions)
      .where(eq(sessions.tokenHash, sessionHash))
      .for('update')
    if (!visit?.parentHash) return refuse('unauthorized')
    const [admin] = await tx
      .select({ id: users.id, username: users.username })
      .from(sessions)
      .innerJoin(users, and(eq(users.id, sessions.userId), eq(users.isActive, true), eq(users.isSuperuser, true)))
      .where(
        and(eq(sessions.tokenHash, visit.parentHash), eq(sessions.userId, impersonator.id), gt(sessions.expiresAt, now))
      )
    if (!admin) return refuse('unauthorized')
    await endSession(tx, sessionHash)
    const token = await startSession(tx, { userId: admin.id, ip: browser.ip, userAgent: browser.userAgent, now })
    await record(
      tx,
      { ...caller, ...admin, impersonator: null },
      { action: 'switch back', targetType: 'user', targetId: caller.id }
    )
    return ok({ token, userId: admin.id })
  })
}
