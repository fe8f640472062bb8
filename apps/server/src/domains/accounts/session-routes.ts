import { routes, type CurrentUser } from '@netlet/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Mount } from '../../infra/http/mount.ts'
import { refuseWhileImpersonating } from '../../infra/http/while-impersonating.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { createCaptcha } from './captcha.ts'
import { changePassword } from './change-password.ts'
import { clientAddress } from './client-address.ts'
import { oauthTokenOf } from './discord-cookie.ts'
import { sendEmailCode } from './email-codes.ts'
import { setForgottenPassword, verifyForgotCode } from './forgot-password.ts'
import { logIn, type Browser, type LoggedIn } from './log-in.ts'
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

/** Getting in and out: login, sign-up, passwords. */
export function sessionRoutes(mount: Mount, ctx: AppContext): void {
  const calls = routes.accounts

  async function welcome(entered: Result<LoggedIn>, reply: FastifyReply): Promise<Result<CurrentUser>> {
    if (!entered.ok) return entered
    setSessionCookie(reply, ctx.config, entered.data.token)
    return ok(await currentUser(ctx.db, { id: entered.data.userId, impersonator: null }))
  }

  mount(calls.captcha, async () => ok(await createCaptcha(ctx.db, ctx.now())))
  mount(calls.login, async ({ body, request, reply }) => welcome(await logIn(ctx, body, browserOf(request)), reply))
  mount(calls.session, async ({ caller }) => ok(await currentUser(ctx.db, caller)))
  mount(calls.currentUser, async ({ caller }) => ok(await currentUser(ctx.db, caller)))
  mount(calls.logout, async ({ request, reply }) => {
    const token = sessionTokenOf(request)
    if (token) await endSession(ctx.db, hashToken(token))
    clearSessionCookie(reply, ctx.config)
    return done
  })
  mount(calls.signUp, async ({ body, request, reply }) => {
    const browser = { ...browserOf(request), oauthToken: oauthTokenOf(request) }
    return welcome(await signUp(ctx, body, browser), reply)
  })
  mount(calls.emailValidate, async ({ body, request }) => sendEmailCode(ctx, body, clientAddress(request)))
  mount(calls.forgotVerify, async ({ body }) => verifyForgotCode(ctx, body))
  mount(calls.forgot, async ({ body }) => setForgottenPassword(ctx, body))
  mount(
    calls.changePassword,
    async ({ caller, body }) => refuseWhileImpersonating(caller) ?? changePassword(ctx, caller, body)
  )
}
