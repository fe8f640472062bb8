import { z } from 'zod'
import { message } from './form-messages.ts'
import { API_KEY_SCOPES, MOST_KEY_DAYS, TOKEN_DAYS } from './limits.ts'
import { TOKEN_PERMISSIONS } from './permissions.ts'
import { route } from './route.ts'
import { confirmation, isConfirmed, unconfirmed } from './second-factor.ts'
import { Done, IdParams, Time, text } from './shapes.ts'

const permission = z.enum(TOKEN_PERMISSIONS, { error: message('must_select') })

/** A key of the user for programs: a customer's has scopes, an operator's token has permissions. */
export const ApiKey = z.object({
  id: z.number(),
  name: z.string(),
  hint: z.string(),
  scopes: z.array(z.enum(API_KEY_SCOPES)),
  /** Null: a customer's key. */
  permissions: z.array(permission).nullable(),
  created_at: Time,
  /** Null: it has no end. */
  expires_at: Time.nullable(),
  last_used_at: Time.nullable(),
  /** The network of the last use: an IPv4 address, or an IPv6 /64. */
  last_network: z.string().nullable()
})
export type ApiKey = z.infer<typeof ApiKey>

const name = text(message('enter_a_name'), 64)
const wrongDays = message('must_be_whole_number', { min: 1, max: MOST_KEY_DAYS })
const days = z.int({ error: wrongDays }).min(1, wrongDays).max(MOST_KEY_DAYS, wrongDays)

export const ApiKeyForm = z
  .object({
    name,
    scopes: z
      .array(z.enum(API_KEY_SCOPES))
      .min(1, message('must_select'))
      .max(API_KEY_SCOPES.length, message('must_select')),
    /** Days until it ends; null or missing: it has no end. */
    days: days.nullish(),
    ...confirmation
  })
  .refine(isConfirmed, unconfirmed)

export const ApiTokenForm = z.object({
  name,
  permissions: z.array(permission).min(1, message('must_select')).max(TOKEN_PERMISSIONS.length, message('must_select')),
  /** Days until it ends. */
  days: days.default(TOKEN_DAYS)
})
export type ApiTokenForm = z.output<typeof ApiTokenForm>

const NewApiKey = ApiKey.extend({ key: z.string() })

/** The calls for the user's own API keys, a part of `accounts`. */
export const apiKeyRoutes = {
  apiKeys: route('GET', '/api/users/api_keys/', {
    summary: 'Your API keys',
    access: 'user',
    reply: z.array(ApiKey)
  }),
  createApiKey: route('POST', '/api/users/api_keys/', {
    summary: 'Create an API key, shown only once; asks for the password',
    access: 'user',
    body: ApiKeyForm,
    reply: NewApiKey
  }),
  createApiToken: route('POST', '/api/users/api_tokens/', {
    summary: 'Create an API token with some of your permissions, shown only once',
    access: 'admin',
    permission: 'console.use',
    needsConfirmation: true,
    sessionOnly: true,
    body: ApiTokenForm,
    reply: NewApiKey
  }),
  revokeApiKey: route('DELETE', '/api/users/api_keys/:id/', {
    summary: 'Revoke an API key or token',
    access: 'user',
    params: IdParams,
    reply: Done
  })
}
