import { routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import { SENT, type Mount } from '../../infra/http/mount.ts'
import { refuseWhileImpersonating } from '../../infra/http/while-impersonating.ts'
import { ok } from '../../infra/result.ts'
import { changeEmail, sendEmailChangeCode } from './change-email.ts'
import { exportOwnData } from './data-export.ts'
import { deleteOwnAccount } from './delete-user.ts'
import { clearDeviceCookie, deviceCookieOf } from './device-cookie.ts'
import { endOtherSessions, endOwnSession, listSessions } from './own-sessions.ts'
import type { AccountPorts } from './ports.ts'
import { clearSessionCookie } from './sessions.ts'

/** Calls of people for their own account: sessions, e-mail address, data export, deletion. */
export function ownAccountRoutes(mount: Mount, ctx: AppContext, ports: AccountPorts): void {
  const calls = routes.accounts

  mount(calls.sessions, async ({ caller }) => ok(await listSessions(ctx, caller)))
  mount(
    calls.endSession,
    async ({ caller, params, body }) =>
      refuseWhileImpersonating(caller) ?? endOwnSession(ctx, caller, params.id, body?.password)
  )
  mount(
    calls.endOtherSessions,
    async ({ caller, body }) => refuseWhileImpersonating(caller) ?? endOtherSessions(ctx, caller, body.password)
  )
  mount(
    calls.changeEmailCode,
    async ({ caller, body, request }) =>
      refuseWhileImpersonating(caller) ?? sendEmailChangeCode(ctx, caller, body, deviceCookieOf(request))
  )
  mount(
    calls.changeEmail,
    async ({ caller, body }) => refuseWhileImpersonating(caller) ?? changeEmail(ctx, caller, ports, body)
  )
  mount(calls.dataExport, async ({ caller, reply }) => {
    const refused = refuseWhileImpersonating(caller)
    if (refused) return refused
    const data = await exportOwnData(ctx, caller, ports)
    if (!data.ok) return data
    await reply
      .type('application/json; charset=utf-8')
      .header('content-disposition', 'attachment; filename="my-data.json"')
      .header('cache-control', 'no-store')
      .send(data.data)
    return SENT
  })
  mount(calls.deleteAccount, async ({ caller, body, reply }) => {
    const refused = refuseWhileImpersonating(caller)
    if (refused) return refused
    const deleted = await deleteOwnAccount(ctx, caller, ports, body.password)
    if (!deleted.ok) return deleted
    clearSessionCookie(reply, ctx.config)
    clearDeviceCookie(reply, ctx.config)
    return deleted
  })
}
