import { createHash } from 'node:crypto'
import { z } from 'zod'
import { exchange, parseJson, type HttpReply } from '../http-exchange.ts'
import { Name } from '../foreign-texts.ts'

export type DiscordReason =
  | 'not_configured'
  | 'invalid_code'
  | 'unauthorized'
  | 'throttled'
  | 'timeout'
  | 'network'
  | 'server_error'
  | 'bad_reply'

/** `message` is for the browser's user or the operator, and contains no secret. */
export type DiscordFailure = { ok: false; reason: DiscordReason; message: string }
export type DiscordResult<T> = { ok: true; value: T } | DiscordFailure

export type DiscordOptions = {
  clientId: string
  clientSecret: string
  /** Default https://discord.com. */
  baseUrl?: string
  fetch?: typeof fetch
  /** Default 10 s. */
  timeoutMs?: number
}

/** `name` is the name to show: the display name, or the username if there is none. */
export type DiscordUser = { id: string; username: string; globalName: string | null; name: string }

const Token = z.object({ access_token: z.string().min(1).max(1000), token_type: Name })
const User = z.object({
  id: z.string().regex(/^\d{1,20}$/),
  username: z.string().min(1).max(100),
  global_name: Name.nullish()
})

const party = 'The chat platform'
const failed = (reason: DiscordReason, message: string): DiscordFailure => ({ ok: false, reason, message })
const notConfigured = failed('not_configured', 'Enter the client ID and client secret under Web Settings, Discord.')

/** OAuth2 sign-in with the chat platform: authorize URL, code for token, token for user. */
export function createDiscord(options: DiscordOptions) {
  const { clientId, clientSecret, fetch: request = fetch, timeoutMs = 10_000 } = options
  const base = (options.baseUrl ?? 'https://discord.com').replace(/\/+$/, '')
  const limits = { fetch: request, timeoutMs }

  async function userOf(authorization: string): Promise<DiscordResult<DiscordUser>> {
    const headers = { authorization, accept: 'application/json' }
    const reply = await exchange(party, `${base}/api/v10/users/@me`, { headers }, limits)
    if (!reply.ok) return reply
    const user = read(reply, User)
    if (!user.ok) return user
    const { id, username, global_name: globalName = null } = user.value
    return { ok: true, value: { id, username, globalName, name: globalName || username } }
  }

  return {
    /**
     * Where to send the browser; null if no client id is set. `state` has to be unguessable, and checked on return.
     * `verifier` (43 to 128 characters) stays secret until the code is exchanged, so that a stolen code is of no use.
     */
    authorizeUrl(input: { redirectUri: string; state: string; verifier: string }): string | null {
      if (clientId === '') return null
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: clientId,
        scope: 'identify',
        redirect_uri: input.redirectUri,
        state: input.state,
        code_challenge: createHash('sha256').update(input.verifier).digest('base64url'),
        code_challenge_method: 'S256',
        prompt: 'none'
      })
      return `${base}/oauth2/authorize?${query.toString()}`
    },

    /** Exchanges the redirect's code for an access token. 'invalid_code': used, expired, or of another flow. */
    async exchangeCode(input: {
      code: string
      redirectUri: string
      verifier: string
    }): Promise<DiscordResult<{ accessToken: string }>> {
      if (clientId === '' || clientSecret === '') return notConfigured
      const reply = await exchange(
        party,
        `${base}/api/oauth2/token`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
          body: new URLSearchParams({
            grant_type: 'authorization_code',
            client_id: clientId,
            client_secret: clientSecret,
            code: input.code,
            redirect_uri: input.redirectUri,
            code_verifier: input.verifier
          }).toString()
        },
        limits
      )
      if (!reply.ok) return reply
      // The platform answers a bad code with 400 invalid_grant, and bad client credentials with 401 invalid_client.
      if (reply.status === 400) return failed('invalid_code', 'The login has expired. Please start again.')
      const token = read(reply, Token)
      return token.ok ? { ok: true, value: { accessToken: token.value.access_token } } : token
    },

    async checkClient(): Promise<DiscordResult<null>> {
      if (clientId === '' || clientSecret === '') return notConfigured
      const reply = await exchange(
        party,
        `${base}/api/oauth2/token`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
          body: new URLSearchParams({
            grant_type: 'client_credentials',
            scope: 'identify',
            client_id: clientId,
            client_secret: clientSecret
          }).toString()
        },
        limits
      )
      if (!reply.ok) return reply
      const token = read(reply, Token)
      return token.ok ? { ok: true, value: null } : token
    },

    async botUser(token: string): Promise<DiscordResult<DiscordUser>> {
      return userOf(`Bot ${token}`)
    },

    async currentUser(accessToken: string): Promise<DiscordResult<DiscordUser>> {
      return userOf(`Bearer ${accessToken}`)
    }
  }
}

export type Discord = ReturnType<typeof createDiscord>

function read<T>({ status, text }: HttpReply, schema: z.ZodType<T>): DiscordResult<T> {
  if (status === 401 || status === 403)
    return failed(
      'unauthorized',
      'The chat platform refused the client ID or secret. Check them under Web Settings, Discord.'
    )
  if (status === 429) return failed('throttled', 'The chat platform limits the request rate. Try again in a minute.')
  if (status >= 500) return failed('server_error', `The chat platform has an internal error (HTTP ${status}).`)
  const body = schema.safeParse(status === 200 ? parseJson(text) : undefined)
  if (body.success) return { ok: true, value: body.data }
  return failed('bad_reply', `The chat platform sent an unexpected reply (HTTP ${status}).`)
}
