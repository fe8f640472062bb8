import { routes } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { SENT, type Mount } from '../../infra/http/mount.ts'
import { refuseWhileImpersonating } from '../../infra/http/while-impersonating.ts'
import { mountList } from '../../infra/list/index.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { createApiKey, listApiKeys, revokeApiKey } from './api-keys.ts'
import { rewardChatMessage } from './chat-points.ts'
import { oauthTokenOf, setOauthCookie } from './discord-cookie.ts'
import { finishDiscordBind, finishDiscordLogin, startDiscord } from './discord.ts'
import { invitedList } from './list-users.ts'
import { browserOf } from './session-routes.ts'
import { setSessionCookie } from './sessions.ts'
import { users } from './tables.ts'

/** What belongs to an account: the chat platform, invitations, API keys. */
export function profileRoutes(mount: Mount, ctx: AppContext): void {
  const calls = routes.accounts

  mount(calls.discordLogin, async ({ query, caller, reply }) => {
    const refused = query.mode === 'bind' && caller.kind === 'user' ? refuseWhileImpersonating(caller) : null
    if (refused) return refused
    const started = await startDiscord(ctx, query.mode, caller.kind === 'user' ? caller : null)
    if (!started.ok) return started
    setOauthCookie(reply, ctx.config, started.data.browserToken)
    return ok({ discord_auth_url: started.data.url })
  })
  mount(calls.discordRedirect, async ({ query, request, reply }) => {
    const browser = { ...browserOf(request), oauthToken: oauthTokenOf(request) }
    const { location, token } = await finishDiscordLogin(ctx, query, browser)
    if (token) setSessionCookie(reply, ctx.config, token)
    await reply.redirect(location)
    return SENT
  })
  mount(calls.discordBindRedirect, async ({ query, caller, request, reply }) => {
    const { location } = await finishDiscordBind(
      ctx,
      query,
      caller.kind === 'user' ? caller : null,
      oauthTokenOf(request)
    )
    await reply.redirect(location)
    return SENT
  })

  mount(calls.inviteCode, async ({ caller }) => {
    const [user] = await ctx.db.select({ code: users.inviteCode }).from(users).where(eq(users.id, caller.id))
    const code = user?.code ?? ''
    return ok({ invite_code: code, invite_url: `${ctx.config.publicUrl}/createAccount?invite_code=${code}` })
  })
  mountList(mount, ctx, calls.inviteLog, ({ caller }) => invitedList(caller.id))

  mount(calls.botWebhook, async ({ body, request }) =>
    rewardChatMessage(ctx, body, {
      rawBody: request.rawBody ?? Buffer.alloc(0),
      signature: request.headers['x-signature']
    })
  )

  mount(calls.apiKeys, async ({ caller }) => ok(await listApiKeys(ctx.db, caller.id)))
  mount(
    calls.createApiKey,
    async ({ caller, body }) => refuseWhileImpersonating(caller) ?? createApiKey(ctx, caller.id, body)
  )
  mount(
    calls.revokeApiKey,
    async ({ caller, params }) => refuseWhileImpersonating(caller) ?? revokeApiKey(ctx, caller.id, params.id)
  )
}
