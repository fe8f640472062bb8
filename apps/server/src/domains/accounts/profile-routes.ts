import { refuse, routes } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { FastifyReply } from 'fastify'
import { SENT, type Mount } from '../../infra/http/mount.ts'
import { refuseWhileImpersonating } from '../../infra/http/while-impersonating.ts'
import { mountList } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { createApiKey, listApiKeys, revokeApiKey } from './api-keys.ts'
import { confirmPassword } from './confirm-password.ts'
import { unbindDiscord } from './discord-binding.ts'
import { oauthTokenOf, setOauthCookie } from './discord-cookie.ts'
import { finishDiscordBind, finishDiscordLogin, startDiscord } from './discord.ts'
import { invitedList } from './list-users.ts'
import { browserOf, signIn } from './session-routes.ts'
import { users } from './tables.ts'

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
    const confirmed = await confirmPassword(ctx, caller, body.password)
    return confirmed.ok ? leave(await startDiscord(ctx, caller, 'bind'), reply) : confirmed
  })
  mount(
    calls.unbindDiscord,
    async ({ caller, body }) => refuseWhileImpersonating(caller) ?? unbindDiscord(ctx, caller, body.password)
  )
  mount(calls.discordRedirect, async ({ caller, query, request, reply }) => {
    const browser = { ...browserOf(request), oauthToken: oauthTokenOf(request) }
    const { location, session } = await finishDiscordLogin(ctx, caller, query, browser)
    if (session) signIn(reply, ctx.config, session)
    await reply.redirect(location)
    return SENT
  })
  mount(calls.discordBindRedirect, async ({ query, caller, request, reply }) => {
    const { location } = await finishDiscordBind(ctx, caller, query, oauthTokenOf(request))
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
  mount(
    calls.revokeApiKey,
    async ({ caller, params }) => refuseWhileImpersonating(caller) ?? revokeApiKey(ctx, caller, params.id)
  )
}
