import { z } from 'zod'
import { message } from './form-messages.ts'
import { API_KEY_SCOPES } from './limits.ts'
import { route } from './route.ts'
import { confirmation, isConfirmed, unconfirmed } from './second-factor.ts'
import { Done, IdParams, Time, text } from './shapes.ts'

export const ApiKey = z.object({
  id: z.number(),
  name: z.string(),
  hint: z.string(),
  scopes: z.array(z.enum(API_KEY_SCOPES)),
  created_at: Time,
  last_used_at: Time.nullable()
})
export type ApiKey = z.infer<typeof ApiKey>

export const ApiKeyForm = z
  .object({
    name: text(message('enter_a_name'), 64),
    scopes: z
      .array(z.enum(API_KEY_SCOPES))
      .min(1, message('must_select'))
      .max(API_KEY_SCOPES.length, message('must_select')),
    ...confirmation
  })
  .refine(isConfirmed, unconfirmed)

/** The calls for the user's own API keys, a part of `accounts`. */
export const apiKeyRoutes = {
  apiKeys: route('GET', '/api/users/api_keys/', {
    summary: 'The own API keys',
    access: 'user',
    reply: z.array(ApiKey)
  }),
  createApiKey: route('POST', '/api/users/api_keys/', {
    summary: 'Make an API key; it is shown this once, and asks for the password',
    access: 'user',
    body: ApiKeyForm,
    reply: ApiKey.extend({ key: z.string() })
  }),
  revokeApiKey: route('DELETE', '/api/users/api_keys/:id/', {
    summary: 'Revoke an API key',
    access: 'user',
    params: IdParams,
    reply: Done
  })
}
