import { lt } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Retained } from '@netlet/contract'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { dayOf, NETWORKS_KEPT } from './api-key-use.ts'
import { LOGINS_KEPT } from './logins.ts'
import { apiKeyNetworks, captchas, emailCodes, loginFailures, logins, oauthStates, sessions } from './tables.ts'
import { secondFactorTickets } from './second-factor/tables.ts'
import { COUNTED_FOR } from './forwarded-limits.ts'
import { CODES_KEPT } from './email-codes.ts'

const expired = (what: Retained, table: PgTable, time: PgColumn, ms: number, why: string): RetentionEntry => ({
  what,
  keep: { ms },
  why,
  remove: (unit, before, limit) => removeRows(unit, table, lt(time, before), limit),
  count: db => countRows(db, table, time)
})

/** Removes sessions, codes and logins that have no effect any more. */
export const accountRetention: RetentionEntry[] = [
  expired('sessions', sessions, sessions.expiresAt, 0, 'A session that has expired opens nothing.'),
  expired('logins', logins, logins.at, LOGINS_KEPT, 'From where an account was used, for a year: to tell a theft.'),
  expired(
    'email_codes',
    emailCodes,
    emailCodes.expiresAt,
    CODES_KEPT,
    'A day after it expired: the limits of codes count it, and who types an old code is told so.'
  ),
  expired('captchas', captchas, captchas.expiresAt, 0, 'A captcha that has expired is not accepted.'),
  expired(
    'login_failures',
    loginFailures,
    loginFailures.at,
    COUNTED_FOR,
    'What failed, or was asked for, longer ago does not count any more.'
  ),
  expired('oauth_states', oauthStates, oauthStates.expiresAt, 0, 'A log-in by the chat platform that nobody finished.'),
  expired(
    'second_factor_tickets',
    secondFactorTickets,
    secondFactorTickets.expiresAt,
    0,
    'A log-in, or a new second factor, that was not finished in time.'
  ),
  {
    what: 'api_key_networks',
    keep: { ms: NETWORKS_KEPT },
    why: 'The networks that an API key was used from: the next use from one of them is told as new again.',
    remove: (unit, before, limit) =>
      removeRows(unit, apiKeyNetworks, lt(apiKeyNetworks.lastUsedOn, dayOf(before)), limit),
    count: db => countRows(db, apiKeyNetworks, apiKeyNetworks.lastUsedOn)
  }
]
