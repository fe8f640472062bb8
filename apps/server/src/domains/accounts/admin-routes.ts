import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import { done, ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { listUserApiKeys } from './api-keys.ts'
import { banUser, setUserPassword, unbanUser } from './ban-user.ts'
import { deleteUser } from './delete-user.ts'
import { unbindUserDiscord } from './discord-binding.ts'
import { editUser } from './edit-user.ts'
import { userList } from './list-users.ts'
import { loginList } from './logins.ts'
import type { AccountPorts } from './ports.ts'
import { currentUser } from './present-user.ts'
import { browserOf } from './session-routes.ts'
import { setSessionCookie } from './sessions.ts'
import { switchBack, switchUser } from './switch-user.ts'
import { findUser } from './user-detail.ts'
import { endUserSession, endUserSessions, listUserSessions } from './user-sessions.ts'

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
    const switched = await switchUser(ctx, caller, body.user_id, browserOf(request))
    if (!switched.ok) return switched
    setSessionCookie(reply, ctx.config, switched.data.token)
    return ok(await currentUser(ctx.db, ports, { id: switched.data.userId, impersonator: caller }))
  })
  mount(calls.switchBack, async ({ caller, request, reply }) => {
    const back = await switchBack(ctx, caller, browserOf(request))
    if (!back.ok) return back
    setSessionCookie(reply, ctx.config, back.data.token)
    return ok(await currentUser(ctx.db, ports, { id: back.data.userId, impersonator: null }))
  })
}
