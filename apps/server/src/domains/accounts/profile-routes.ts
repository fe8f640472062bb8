import { refuse, routes } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import type { FastifyReply } from 'fastify'
import { type Mount, SENT, refuseWhileImpersonating } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { createApiKey, createApiToken, listApiKeys, revokeApiKey } from './api-keys.ts'
import { confirmCaller } from './confirm-caller.ts'
import { oauthTokenOf, setOauthCookie, unbindDiscord } from './discord-binding.ts'
import { finishDiscordBind, finishDiscordLogin, startDiscord } from './discord.ts'
import { invitedList } from './list-users.ts'
import { browserOf, signIn } from './session-routes.ts'
import { users } from './tables.ts'
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
    async ({ caller, params, body }) => refuseWhileImpersonating(caller) ?? endOwnSession(ctx, caller, params.id, body)
  )
  mount(
    calls.endOtherSessions,
    async ({ caller, body }) => refuseWhileImpersonating(caller) ?? endOtherSessions(ctx, caller, body)
  )
  mount(
    calls.changeEmailCode,
    async ({ caller, body, request }) =>
      refuseWhileImpersonating(caller) ?? sendEmailChangeCode(ctx, caller, body, deviceCookieOf(request, ctx.config))
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
    const deleted = await deleteOwnAccount(ctx, caller, ports, body)
    if (!deleted.ok) return deleted
    clearSessionCookie(reply, ctx.config)
    clearDeviceCookie(reply, ctx.config)
    return deleted
  })
}

/** Calls about a user's chat account, invitations and API keys. */
export function profileRoutes(mount: Mount, ctx: AppContext): void {
  const calls = routes.accounts

  function leave(started: Awaited<ReturnType<typeof startDiscord>>, reply: FastifyReply) {
    if (!started.ok) return started
    setOauthCookie(reply, ctx.config, started.data.browserToken)
    return ok({ discord_auth_url: started.data.url })
  }

  mount(calls.discordLogin, async ({ query, caller, reply }) => {
    if (query.mode === 'bind') return refuse(caller.kind === 'user' ? 'password_needed' : 'unauthorized')
    return leave(await startDiscord(ctx, caller, 'login'), reply)
  })
  mount(calls.bindDiscord, async ({ caller, body, reply }) => {
    const refused = refuseWhileImpersonating(caller)
    if (refused) return refused
    const confirmed = await confirmCaller(ctx, caller, body)
    return confirmed.ok ? leave(await startDiscord(ctx, caller, 'bind'), reply) : confirmed
  })
  mount(
    calls.unbindDiscord,
    async ({ caller, body }) => refuseWhileImpersonating(caller) ?? unbindDiscord(ctx, caller, body)
  )
  mount(calls.discordRedirect, async ({ caller, query, request, reply }) => {
    const browser = { ...browserOf(request, ctx.config), oauthToken: oauthTokenOf(request, ctx.config) }
    const { location, session } = await finishDiscordLogin(ctx, caller, query, browser)
    if (session) signIn(reply, ctx.config, session)
    await reply.redirect(location)
    return SENT
  })
  mount(calls.discordBindRedirect, async ({ query, caller, request, reply }) => {
    const { location } = await finishDiscordBind(ctx, caller, query, oauthTokenOf(request, ctx.config))
    await reply.redirect(location)
    return SENT
  })

  mount(calls.inviteCode, async ({ caller }) => {
    const [user] = await ctx.db
      .select({ code: users.inviteCode, millionths: users.coinMillionths })
      .from(users)
      .where(eq(users.id, caller.id))
    const { code, millionths } = user ?? { code: '', millionths: 0 }
    return ok({
      invite_code: code,
      invite_url: `${ctx.config.publicUrl}/createAccount?invite_code=${code}`,
      coin_fraction: Math.floor(millionths / 10_000) / 100
    })
  })
  mountList(mount, ctx, calls.inviteLog, ({ caller }) => invitedList(caller.id))

  mount(calls.apiKeys, async ({ caller }) => ok(await listApiKeys(ctx.db, caller.id)))
  mount(
    calls.createApiKey,
    async ({ caller, body }) => refuseWhileImpersonating(caller) ?? createApiKey(ctx, caller, body)
  )
  mount(calls.createApiToken, async ({ caller, body }) => createApiToken(ctx, caller, body))
  mount(
    calls.revokeApiKey,
    async ({ caller, params }) => refuseWhileImpersonating(caller) ?? revokeApiKey(ctx, caller, params.id)
  )
}
