import { type OwnSession, type UserDetail, refuse, routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import { type Result, done, ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { listUserApiKeys } from './api-keys.ts'
import { deleteUser } from './delete-user.ts'
import { unbindUserDiscord } from './discord-binding.ts'
import { banUser, editUser, setUserPassword, unbanUser } from './edit-user.ts'
import { userList } from './list-users.ts'
import { loginList } from './logins.ts'
import type { AccountPorts } from './ports.ts'
import { currentUser, presentUser, userColumns } from './present-user.ts'
import { browserOf } from './session-routes.ts'
import { endSession, endSessionsOf, setSessionCookie } from './sessions.ts'
import { and, count, eq, gt, isNull } from '../../infra/db/drizzle.ts'
import { blockOf } from '../mail/index.ts'
import { apiKeys, sessions, users } from './tables.ts'
import type { UserActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { lockUser } from './balance.ts'
import { refuseOperator } from './operators.ts'
import { sessionsOf } from './own-sessions.ts'
import { factorsOf } from './second-factor/factors.ts'
import { switchBack, switchUser } from './open-session.ts'

/** Where a user is signed in, for an administrator. */
const listUserSessions = (ctx: Pick<AppContext, 'db' | 'now'>, by: UserActor, userId: number): Promise<OwnSession[]> =>
  sessionsOf(ctx, userId, by.sessionHash)

/** Ends one session of any user, and those opened from it to view the shop as others. */
function endUserSession(ctx: AppContext, by: UserActor, id: number): Promise<Result<null>> {
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
function endUserSessions(ctx: AppContext, by: UserActor, userId: number): Promise<Result<null>> {
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

/** One user with its figures in the shop. */
async function findUser(
  { db, now }: Pick<AppContext, 'db' | 'now'>,
  { levelThresholds, pendingCoins, figures }: Pick<AccountPorts, 'levelThresholds' | 'pendingCoins' | 'figures'>,
  id: number
): Promise<Result<UserDetail>> {
  const [[row], thresholds, pending, owned, signedIn, keys, factors] = await Promise.all([
    db
      .select(userColumns)
      .from(users)
      .where(and(eq(users.id, id), isNull(users.deletedAt))),
    levelThresholds(db),
    pendingCoins(db, id),
    figures(db, id),
    db.$count(sessions, and(eq(sessions.userId, id), isNull(sessions.impersonatorId), gt(sessions.expiresAt, now()))),
    db.$count(apiKeys, and(eq(apiKeys.userId, id), isNull(apiKeys.revokedAt))),
    factorsOf(db, id)
  ])
  if (!row) return refuse('not_found')
  const [inviter] = row.invitedBy
    ? await db.select({ id: users.id, username: users.username }).from(users).where(eq(users.id, row.invitedBy))
    : []
  const blocked = await blockOf(db, row.email)
  return ok({
    ...presentUser(row, thresholds),
    language: row.language,
    mail_blocked: blocked,
    invited_by: inviter ?? null,
    pending_points: pending,
    owed_points: row.coinsOwed,
    sessions: signedIn,
    api_keys: keys,
    second_factors: factors.length,
    figures: owned
  })
}

export function adminRoutes(mount: Mount, ctx: AppContext, ports: AccountPorts): void {
  const calls = routes.accounts

  mountList(mount, ctx, calls.users, () => userList(ports))
  mount(calls.user, async ({ params }) => findUser(ctx, ports, params.id))
  mount(calls.userSessions, async ({ caller, params }) => ok(await listUserSessions(ctx, caller, params.id)))
  mount(calls.endUserSession, async ({ caller, params }) => endUserSession(ctx, caller, params.id))
  mount(calls.endUserSessions, async ({ caller, params }) => endUserSessions(ctx, caller, params.id))
  mount(calls.userApiKeys, async ({ params }) => ok(await listUserApiKeys(ctx.db, params.id)))
  mountList(mount, ctx, calls.userLogins, ({ params }) => loginList(params.id))
  mount(calls.updateUser, async ({ caller, params, body, reply }) => {
    const edited = await editUser(ctx, caller, ports, params.id, body)
    if (!edited.ok) return edited
    if (edited.data.token) setSessionCookie(reply, ctx.config, edited.data.token)
    return ok(edited.data.user)
  })
  mount(calls.ban, async ({ caller, params }) => banUser(ctx, caller, params.id))
  mount(calls.unban, async ({ caller, params }) => unbanUser(ctx, caller, params.id))
  mount(calls.unbindUserDiscord, async ({ caller, params }) => unbindUserDiscord(ctx, caller, params.id))
  mount(calls.deleteUser, async ({ caller, params }) => deleteUser(ctx, caller, ports, params.id))
  mount(calls.adminPassword, async ({ caller, params, body, reply }) => {
    const set = await setUserPassword(ctx, caller, params.id, body.password)
    if (!set.ok) return set
    if (set.data.token) setSessionCookie(reply, ctx.config, set.data.token)
    return done
  })
  mount(calls.switchUser, async ({ caller, request, reply, body }) => {
    const switched = await switchUser(ctx, caller, body.user_id, browserOf(request, ctx.config))
    if (!switched.ok) return switched
    setSessionCookie(reply, ctx.config, switched.data.token)
    return ok(await currentUser(ctx, ports, { id: switched.data.userId, impersonator: caller }))
  })
  mount(calls.switchBack, async ({ caller, request, reply }) => {
    const back = await switchBack(ctx, caller, browserOf(request, ctx.config))
    if (!back.ok) return back
    setSessionCookie(reply, ctx.config, back.data.token)
    return ok(await currentUser(ctx, ports, { id: back.data.userId, impersonator: null }))
  })
}
