import { type ChangePasswordBody, type CurrentUser, preferredLanguage, refuse, routes } from '@netlet/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Mount, refuseWhileImpersonating } from '../../infra/http/mount.ts'
import { command } from '../../infra/command.ts'
import type { Config } from '../../infra/config.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { createCaptcha } from './captcha.ts'
import { clientAddress, forwardedClient } from '../../infra/http/client-address.ts'
import { deviceCookieOf, setDeviceCookie, signDevice } from './device-cookie.ts'
import { sendEmailCode } from './email-codes.ts'
import { endAccess, notifyPasswordChanged } from './end-access.ts'
import { setForgottenPassword, verifyForgotCode } from './forgot-password.ts'
import { logIn } from './log-in.ts'
import { signUp } from './sign-up.ts'
import type { Browser, LoggedIn } from './open-session.ts'
import type { AccountPorts } from './ports.ts'
import { currentUser } from './present-user.ts'
import { clearSessionCookie, endSession, sessionTokenOf, setSessionCookie } from './sessions.ts'
import { hashToken } from '../../infra/secrets.ts'
import { eq } from '../../infra/db/drizzle.ts'
import type { z } from 'zod'
import type { UserActor } from '../../infra/actor.ts'
import { beginAttempt, changesKey } from './attempts.ts'
import { confirmCaller, lockConfirmed } from './confirm-caller.ts'
import { oauthTokenOf, unbind } from './discord-binding.ts'
import { hashChosen } from './passwords.ts'
import { users } from './tables.ts'

/** Within 15 minutes. Changes end mailed reset codes, so a thief could block the owner's reset by repeating them. */
const MAX_CHANGES = 3

/**
 * Changes the caller's password. Other sessions and all API keys end; this session stays with a new token. The chat
 * account stays unless the form says otherwise.
 * @returns the token, and a new device cookie, which depends on the password
 */
async function changePassword(
  ctx: AppContext,
  by: UserActor,
  form: z.output<typeof ChangePasswordBody>
): Promise<Result<{ device: string; token: string | undefined }>> {
  const confirmed = await confirmCaller(ctx, by, { password: form.old_password }, 'old_password')
  if (!confirmed.ok) return confirmed
  const attempt = await beginAttempt(ctx, by, [changesKey(by.id)])
  if ((attempt.counts.get(changesKey(by.id)) ?? 0) > MAX_CHANGES) {
    await attempt.discard()
    return refuse('too_many')
  }
  const [owner] = await ctx.db.select({ email: users.email }).from(users).where(eq(users.id, by.id))
  const chosen = await hashChosen(form.new_password, { username: by.username, ...owner }, 'new_password')
  if (!chosen.ok) return chosen
  const passwordHash = chosen.data
  return command(ctx, by, async unit => {
    const user = await lockConfirmed(unit, confirmed.data)
    if (!user) return refuse('unauthorized')
    await unit.tx.update(users).set({ passwordHash }).where(eq(users.id, user.id))
    const token = await endAccess(unit, user, { cause: 'password', keep: by.sessionHash, byOwner: true })
    if (form.unbind_discord) await unbind(unit, user)
    notifyPasswordChanged(unit, user)
    unit.audit('user.change_password', user.id, { after: { password: true } })
    return ok({ device: signDevice(ctx.secrets, { id: user.id, passwordHash }), token })
  })
}

export const browserOf = (request: FastifyRequest, config: Config): Browser => ({
  ip: clientAddress(request),
  forwardedFor: forwardedClient(request),
  userAgent: request.headers['user-agent'],
  token: sessionTokenOf(request, config),
  device: deviceCookieOf(request, config)
})

/** Gives the browser its session and its proof of the login. */
export function signIn(reply: FastifyReply, config: Config, { token, device }: LoggedIn): void {
  setSessionCookie(reply, config, token)
  setDeviceCookie(reply, config, device)
}

/** Gives the browser its session, and answers with its user. */
export async function signInAndReply(
  ctx: AppContext,
  ports: AccountPorts,
  result: Result<LoggedIn>,
  reply: FastifyReply
): Promise<Result<CurrentUser>> {
  if (!result.ok) return result
  signIn(reply, ctx.config, result.data)
  return ok(await currentUser(ctx, ports, { id: result.data.userId, impersonator: null }))
}

/** Login, sign-up, passwords. */
export function sessionRoutes(mount: Mount, ctx: AppContext, ports: AccountPorts): void {
  const calls = routes.accounts

  const loggedIn = (result: Result<LoggedIn>, reply: FastifyReply) => signInAndReply(ctx, ports, result, reply)

  /** A new password invalidates all device cookies and this session's token, so the browser gets new ones. */
  function recognised(
    result: Result<{ device?: string | undefined; token?: string | undefined }>,
    reply: FastifyReply
  ): Result<null> {
    if (!result.ok) return result
    if (result.data.device) setDeviceCookie(reply, ctx.config, result.data.device)
    if (result.data.token) setSessionCookie(reply, ctx.config, result.data.token)
    return done
  }

  mount(calls.captcha, ({ caller }) => createCaptcha(ctx, caller))
  mount(calls.login, async ({ caller, body, request, reply }) =>
    loggedIn(await logIn(ctx, caller, body, browserOf(request, ctx.config)), reply)
  )
  mount(calls.session, async ({ caller }) => ok(await currentUser(ctx, ports, caller)))
  mount(calls.whoIsSignedIn, async ({ caller }) =>
    // An API key is not a sign-in, and must not reveal more than its scopes allow.
    ok(caller.kind === 'user' && !caller.apiKey ? await currentUser(ctx, ports, caller) : null)
  )
  mount(calls.currentUser, async ({ caller }) => ok(await currentUser(ctx, ports, caller)))
  mount(calls.logout, async ({ caller, request, reply }) => {
    const token = sessionTokenOf(request, ctx.config)
    if (token) await command(ctx, caller, unit => endSession(unit, hashToken(token)))
    clearSessionCookie(reply, ctx.config)
    return done
  })
  mount(calls.signUp, async ({ caller, body, request, reply }) => {
    const browser = { ...browserOf(request, ctx.config), oauthToken: oauthTokenOf(request, ctx.config) }
    const language = body.language ?? preferredLanguage(request.headers['accept-language'])
    return loggedIn(await signUp(ctx, caller, { ...body, language }, browser), reply)
  })
  mount(calls.emailValidate, async ({ caller, body, request }) =>
    sendEmailCode(ctx, caller, {
      email: body.email,
      purpose: body.type,
      device: deviceCookieOf(request, ctx.config),
      language: body.language
    })
  )
  mount(calls.forgotVerify, async ({ caller, body }) => verifyForgotCode(ctx, caller, body))
  mount(calls.forgot, async ({ caller, body, reply }) =>
    recognised(await setForgottenPassword(ctx, caller, body), reply)
  )
  mount(
    calls.changePassword,
    async ({ caller, body, reply }) =>
      refuseWhileImpersonating(caller) ?? recognised(await changePassword(ctx, caller, body), reply)
  )
}
