import { routes } from '@netlet/contract'
import type { AppContext } from '../../../infra/context.ts'
import { type Mount, refuseWhileImpersonating } from '../../../infra/http/mount.ts'
import { done, ok } from '../../../infra/result.ts'
import type { AccountPorts } from '../ports.ts'
import { confirmSession } from '../confirm-session.ts'
import { browserOf, signInAndReply } from '../session-routes.ts'
import { setSessionCookie } from '../sessions.ts'
import { beginSecondFactor, confirmSecondFactor } from './enrol.ts'
import { challengeLogin, finishLogIn, logInByPasskey, offerPasskeyLogin } from './log-in.ts'
import {
  challengeCaller,
  listSecondFactors,
  removeSecondFactor,
  renameSecondFactor,
  renewRecoveryCodes,
  resetUserSecondFactor
} from './manage.ts'

/** Calls for second factors, and log-ins that use one. */
export function secondFactorRoutes(mount: Mount, ctx: AppContext, ports: AccountPorts): void {
  const calls = routes.secondFactor

  mount(calls.secondFactorLogin, async ({ caller, body, request, reply }) =>
    signInAndReply(ctx, ports, await finishLogIn(ctx, caller, body, browserOf(request, ctx.config)), reply)
  )
  mount(calls.secondFactorLoginOptions, async ({ caller, body, request }) =>
    challengeLogin(ctx, caller, body.ticket, request.host)
  )
  mount(calls.passkeyLoginOptions, async ({ caller, request }) => offerPasskeyLogin(ctx, caller, request.host))
  mount(calls.passkeyLogin, async ({ caller, body, request, reply }) =>
    signInAndReply(ctx, ports, await logInByPasskey(ctx, caller, body, browserOf(request, ctx.config)), reply)
  )

  mount(calls.secondFactors, async ({ caller, request }) => ok(await listSecondFactors(ctx, caller, request.host)))
  mount(
    calls.beginSecondFactor,
    async ({ caller, body, request }) =>
      refuseWhileImpersonating(caller) ?? beginSecondFactor(ctx, caller, body, request.host)
  )
  mount(
    calls.confirmSecondFactor,
    async ({ caller, body }) => refuseWhileImpersonating(caller) ?? confirmSecondFactor(ctx, caller, body)
  )
  mount(
    calls.secondFactorOptions,
    async ({ caller, request }) => refuseWhileImpersonating(caller) ?? challengeCaller(ctx, caller, request.host)
  )
  mount(
    calls.renameSecondFactor,
    async ({ caller, body }) => refuseWhileImpersonating(caller) ?? renameSecondFactor(ctx, caller, body)
  )
  mount(
    calls.removeSecondFactor,
    async ({ caller, body }) => refuseWhileImpersonating(caller) ?? removeSecondFactor(ctx, caller, body)
  )
  mount(
    calls.newRecoveryCodes,
    async ({ caller, body }) => refuseWhileImpersonating(caller) ?? renewRecoveryCodes(ctx, caller, body)
  )
  mount(calls.confirmSession, async ({ caller, body, reply }) => {
    const confirmed = await confirmSession(ctx, caller, body)
    if (!confirmed.ok) return confirmed
    setSessionCookie(reply, ctx.config, confirmed.data.token)
    return done
  })
  mount(calls.resetSecondFactor, async ({ caller, params }) => resetUserSecondFactor(ctx, caller, params.id))
}
