import { routes, type CurrentUser } from '@netlet/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Mount } from '../../platform/http/mount.ts'
import { whileVisiting } from '../../platform/http/visiting.ts'
import { done, ok, type Result } from '../../platform/result.ts'
import type { Shop } from '../../platform/shop.ts'
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
import { hashToken } from '../../platform/secrets.ts'

/** The browser that a request comes from. */
export const browserOf = (request: FastifyRequest): Browser => ({
  ip: clientAddress(request),
  userAgent: request.headers['user-agent'],
  token: sessionTokenOf(request)
})

/** Getting in and out: login, sign-up, passwords. */
export function sessionRoutes(mount: Mount, shop: Shop): void {
  const calls = routes.accounts

  async function welcome(entered: Result<LoggedIn>, reply: FastifyReply): Promise<Result<CurrentUser>> {
    if (!entered.ok) return entered
    setSessionCookie(reply, shop.config, entered.data.token)
    return ok(await currentUser(shop.db, { id: entered.data.userId, impersonatorId: null }))
  }

  mount(calls.captcha, async () => ok(await createCaptcha(shop.db, shop.now())))
  mount(calls.login, async ({ body, request, reply }) => welcome(await logIn(shop, body, browserOf(request)), reply))
  mount(calls.session, async ({ caller }) => ok(await currentUser(shop.db, caller)))
  mount(calls.currentUser, async ({ caller }) => ok(await currentUser(shop.db, caller)))
  mount(calls.logout, async ({ request, reply }) => {
    const token = sessionTokenOf(request)
    if (token) await endSession(shop.db, hashToken(token))
    clearSessionCookie(reply, shop.config)
    return done
  })
  mount(calls.signUp, async ({ body, request, reply }) => {
    const browser = { ...browserOf(request), oauthToken: oauthTokenOf(request) }
    return welcome(await signUp(shop, body, browser), reply)
  })
  mount(calls.emailValidate, async ({ body, request }) => sendEmailCode(shop, body, clientAddress(request)))
  mount(calls.forgotVerify, async ({ body }) => verifyForgotCode(shop, body))
  mount(calls.forgot, async ({ body }) => setForgottenPassword(shop, body))
  mount(calls.changePassword, async ({ caller, body }) => whileVisiting(caller) ?? changePassword(shop, caller, body))
}
