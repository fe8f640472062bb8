import { z } from 'zod'
import { exchange, parseJson } from '../http-exchange.ts'
import {
  done,
  failed,
  throttleMs,
  shopBase,
  type ShopifyFailure,
  type ShopifyResult,
  TEMPORARY_STATUSES
} from './result.ts'

/** Supplies the access token of a call, and renews one that expires. */
export type AccessTokens = {
  current(): Promise<ShopifyResult<string>>
  /** The next token after the platform refused this one; the same one if there is no other. */
  renewed(refused: string): Promise<ShopifyResult<string>>
  /** The next token after this one lacked a permission, which the app may have got since; the same one if it is new. */
  withNewScopes(denied: string): Promise<ShopifyResult<string>>
  /** Called if the platform refused this token and there is no other. */
  refused(token: string, message: string): Promise<void>
}

/** A token without a known expiry. */
export const fixedToken = (token: string): AccessTokens => ({
  current: async () =>
    token === ''
      ? failed('not_configured', 'Enter the shop address and the access token under Web Settings, Shopify.')
      : done(token),
  renewed: async () => done(token),
  withNewScopes: async () => done(token),
  refused: async () => undefined
})

export type GrantOptions = {
  shopUrl: string
  /** The app's API key and API secret. */
  clientId: string
  clientSecret: string
  fetch?: typeof fetch
  /** Default 10 s. */
  timeoutMs?: number
}

export type GrantedToken = { token: string; lifetimeMs: number }

/** `waitMs`: the wait that the platform requests. */
export type GrantFailure = ShopifyFailure & { waitMs?: number }

/** In seconds. The platform grants no longer lifetime, and a huge one would be no valid date. */
const LONGEST_LIFE = 366 * 24 * 3600
const Granted = z.object({
  access_token: z.string().min(1).max(1000),
  expires_in: z.number().positive().max(LONGEST_LIFE)
})
const Refused = z.object({ error: z.string().max(200), error_description: z.string().max(500).nullish() })

/**
 * Requests an access token with the app's key and secret (OAuth client credentials), the only way for apps made since
 * 2026. The token expires after a day, and only the same request renews it.
 */
export async function requestToken(options: GrantOptions): Promise<{ ok: true; value: GrantedToken } | GrantFailure> {
  const { clientId, clientSecret, fetch: request = fetch, timeoutMs = 10_000 } = options
  const base = shopBase(options.shopUrl)
  if (!base || clientId === '' || clientSecret === '')
    return failed(
      'not_configured',
      'Enter the shop address, the API key and the API secret under Web Settings, Shopify.'
    )
  const reply = await exchange(
    'The e-commerce platform',
    `${base}/admin/oauth/access_token`,
    {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: clientSecret
      }).toString()
    },
    { fetch: request, timeoutMs }
  )
  if (!reply.ok) return failed(reply.reason, reply.message)
  const { status, headers, text } = reply
  if (status === 429)
    return {
      ...failed('throttled', 'The e-commerce platform limits the request rate.'),
      waitMs: throttleMs(headers)
    }
  if (status >= 500 || TEMPORARY_STATUSES.has(status))
    return failed('server_error', `The e-commerce platform has an internal error (HTTP ${status}).`)
  if (status === 404)
    return failed('not_found', `There is no shop at ${base}. Check the shop address under Web Settings, Shopify.`)
  if (status >= 300 && status < 400)
    return failed('bad_reply', `${base} redirects elsewhere. Enter the shop's own myshopify.com address.`)
  if (status >= 400) return failed('unauthorized', refusalOf(status, text))
  const granted = Granted.safeParse(parseJson(text))
  if (!granted.success)
    return failed('bad_reply', `What responds at ${base} gave no access token for the API key and secret.`)
  return done({ token: granted.data.access_token, lifetimeMs: granted.data.expires_in * 1000 })
}

/** Advice for each refusal that the platform documents. */
const KNOWN: Readonly<Record<string, string>> = {
  application_cannot_be_found: 'no app has this API key',
  invalid_client: 'the API secret does not belong to this app',
  app_not_installed: 'the app is not installed in this shop',
  shop_not_permitted: 'the app belongs to another organization than the shop',
  unsupported_grant_type: 'this kind of app needs an access token of its own'
}

/** The platform refuses in JSON, or on a page that says "Oauth error <name>: …". */
function refusalOf(status: number, text: string): string {
  const json = Refused.safeParse(parseJson(text))
  const name = json.success ? json.data.error : /Oauth error ([a-z_]{1,60})/i.exec(text)?.[1]
  const said = (name && KNOWN[name]) || (json.success ? json.data.error_description : null) || name
  return `The e-commerce platform gives no access token for the API key and secret${said ? `: ${said}` : ''} (HTTP ${status}).`
}
