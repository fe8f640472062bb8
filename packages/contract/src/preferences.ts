import { z } from 'zod'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { Done, storableJson } from './shapes.ts'

const PreferenceParams = z.object({ key: z.string().regex(/^[a-z][a-z0-9._-]{0,63}$/, message('unknown_key')) })

/** Largest number of preferences per user. */
export const MAX_PREFERENCES = 200

/** Any JSON of moderate size. null deletes it. */
const Preference = z
  .unknown()
  .refine(value => value !== undefined, message('must_be_json'))
  .refine(value => JSON.stringify(value ?? null).length <= 32_000, message('at_most_characters', { max: 32_000 }))
  .refine(storableJson, message('forbidden_character'))

/** The calls for a user's preferences, a part of `accounts`. */
export const preferenceRoutes = {
  preferences: route('GET', '/api/users/preferences/:key', {
    summary: 'Your saved columns or views under a key',
    access: 'user',
    params: PreferenceParams,
    reply: z.unknown()
  }),
  savePreferences: route('PUT', '/api/users/preferences/:key', {
    summary: 'Save columns or views under a key, and replace what was there',
    access: 'user',
    params: PreferenceParams,
    body: z.object({ value: Preference }),
    reply: Done
  })
}
