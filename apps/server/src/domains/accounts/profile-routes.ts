import { routes } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { SENT, type Mount } from '../../infra/http/mount.ts'
import { refuseWhileImpersonating } from '../../infra/http/while-impersonating.ts'
import { mountList } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { createApiKey, listApiKeys, revokeApiKey } from './api-keys.ts'
import { oauthTokenOf, setOauthCookie } from './discord-cookie.ts'
import { finishDiscordBind, finishDiscordLogin, startDiscord } from './discord.ts'
import { invitedList } from './list-users.ts'
import { browserOf } from './session-routes.ts'
import { setSessionCookie } from './sessions.ts'
import { users } from './tables.ts'

/** The calls about a user's chat account, invitations and API keys. */
export function profileRoutes(mount: Mount, ctx: AppContext): void {
  const calls = routes.accounts

  mount(calls.discordLogin, async ({ query, caller, reply }) => {
    const refused = query.mode === 'bind' && caller.kind === 'user' ? refuseWhileImpersonating(caller) : null
    if (refused) return refused
    const started = await startDiscord(ctx, caller, query.mode)
    if (!started.ok) return started
    setOauthCookie(reply, ctx.config, started.data.browserToken)
    return ok({ discord_auth_url: started.data.url })
  })
  mount(calls.discordRedirect, async ({ caller, query, request, reply }) => {
    const browser = { ...browserOf(request), oauthToken: oauthTokenOf(request) }
    const { location, token } = await finishDiscordLogin(ctx, caller, query, browser)
    if (token) setSessionCookie(reply, ctx.config, token)
    await reply.redirect(location)
    return SENT
  })
  mount(calls.discordBindRedirect, async ({ query, caller, request, reply }) => {
    const { location } = await finishDiscordBind(ctx, caller, query, oauthTokenOf(request))
    await reply.redirect(location)
    return SENT
  })

  mount(calls.inviteCode, async ({ caller }) => {
    const [user] = await ctx.db.select({ code: users.inviteCode }).from(users).where(eq(users.id, caller.id))
    const code = user?.code ?? ''
    return ok({ invite_code: code, invite_url: `${ctx.config.publicUrl}/createAccount?invite_code=${code}` })
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
