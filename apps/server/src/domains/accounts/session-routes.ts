import { routes, type CurrentUser } from '@netlet/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Mount } from '../../infra/http/mount.ts'
import { command } from '../../infra/command.ts'
import { refuseWhileImpersonating } from '../../infra/http/while-impersonating.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { createCaptcha } from './captcha.ts'
import { changePassword } from './change-password.ts'
import { clientAddress } from '../../infra/http/client-address.ts'
import { oauthTokenOf } from './discord-cookie.ts'
import { sendEmailCode } from './email-codes.ts'
import { setForgottenPassword, verifyForgotCode } from './forgot-password.ts'
import { logIn, type Browser, type LoggedIn } from './log-in.ts'
import type { AccountPorts } from './ports.ts'
import { currentUser } from './present-user.ts'
import { clearSessionCookie, endSession, sessionTokenOf, setSessionCookie } from './sessions.ts'
import { signUp } from './sign-up.ts'
import { hashToken } from '../../infra/secrets.ts'

/** The browser that a request comes from. */
export const browserOf = (request: FastifyRequest): Browser => ({
  ip: clientAddress(request),
  userAgent: request.headers['user-agent'],
  token: sessionTokenOf(request)
})

/** Login, sign-up, passwords. */
export function sessionRoutes(mount: Mount, ctx: AppContext, ports: AccountPorts): void {
  const calls = routes.accounts

  async function loggedIn(result: Result<LoggedIn>, reply: FastifyReply): Promise<Result<CurrentUser>> {
    if (!result.ok) return result
    setSessionCookie(reply, ctx.config, result.data.token)
    return ok(await currentUser(ctx.db, ports, { id: result.data.userId, impersonator: null }))
  }

  mount(calls.captcha, async ({ caller }) => ok(await createCaptcha(ctx, caller)))
  mount(calls.login, async ({ caller, body, request, reply }) =>
    loggedIn(await logIn(ctx, caller, body, browserOf(request)), reply)
  )
  mount(calls.session, async ({ caller }) => ok(await currentUser(ctx.db, ports, caller)))
  mount(calls.currentUser, async ({ caller }) => ok(await currentUser(ctx.db, ports, caller)))
  mount(calls.logout, async ({ caller, request, reply }) => {
    const token = sessionTokenOf(request)
    if (token) await command(ctx, caller, unit => endSession(unit, hashToken(token)))
    clearSessionCookie(reply, ctx.config)
    return done
  })
  mount(calls.signUp, async ({ caller, body, request, reply }) => {
    const browser = { ...browserOf(request), oauthToken: oauthTokenOf(request) }
    return loggedIn(await signUp(ctx, caller, body, browser), reply)
  })
  mount(calls.emailValidate, async ({ caller, body }) => sendEmailCode(ctx, caller, body))
  mount(calls.forgotVerify, async ({ caller, body }) => verifyForgotCode(ctx, caller, body))
  mount(calls.forgot, async ({ caller, body }) => setForgottenPassword(ctx, caller, body))
  mount(
    calls.changePassword,
    async ({ caller, body }) => refuseWhileImpersonating(caller) ?? changePassword(ctx, caller, body)
  )
}
