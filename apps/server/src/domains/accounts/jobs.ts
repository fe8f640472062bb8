import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { warnOfEndingKeys } from './api-keys.ts'
import { lt } from '../../infra/db/drizzle.ts'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Retained } from '@netlet/contract'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { dayOf, NETWORKS_KEPT } from './api-key-use.ts'
import { LOGINS_KEPT } from './logins.ts'
import { apiKeyNetworks, captchas, emailCodes, loginFailures, logins, oauthStates, sessions } from './tables.ts'
import { secondFactorTickets } from './second-factor/tables.ts'
import { COUNTED_FOR } from './forwarded-limits.ts'
import { CODES_KEPT } from './email-codes.ts'

const warnOfKeysQueue = queue<object>('warn-of-ending-keys', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const accountJobs: Job[] = [
  job(warnOfKeysQueue, {
    purpose: 'Emails the owners of API keys and tokens a week before they expire.',
    cron: '23 * * * *',
    run: ctx => warnOfEndingKeys(ctx)
  })
]

const expired = (what: Retained, table: PgTable, time: PgColumn, ms: number, why: string): RetentionEntry => ({
  what,
  keep: { ms },
  why,
  remove: (unit, before, limit) => removeRows(unit, table, lt(time, before), limit),
  count: db => countRows(db, table, time)
})

/** Removes sessions, codes and logins that have no effect any more. */
export const accountRetention: RetentionEntry[] = [
  expired('sessions', sessions, sessions.expiresAt, 0, 'An expired session gives no access.'),
  expired('logins', logins, logins.at, LOGINS_KEPT, 'Where an account was used in the last year, to detect theft.'),
  expired(
    'email_codes',
    emailCodes,
    emailCodes.expiresAt,
    CODES_KEPT,
    'Kept for 1 day after a code expires. Rate limits count it, and a user who enters it learns that it expired.'
  ),
  expired('captchas', captchas, captchas.expiresAt, 0, 'An expired captcha is not accepted.'),
  expired(
    'login_failures',
    loginFailures,
    loginFailures.at,
    COUNTED_FOR,
    'Older failures and requests no longer count towards limits.'
  ),
  expired('oauth_states', oauthStates, oauthStates.expiresAt, 0, 'Chat platform logins that users did not finish.'),
  expired(
    'second_factor_tickets',
    secondFactorTickets,
    secondFactorTickets.expiresAt,
    0,
    'Logins and new second factors that users did not finish in time.'
  ),
  {
    what: 'api_key_networks',
    keep: { ms: NETWORKS_KEPT },
    why: 'Networks that used each API key. After this time, the shop reports the same network as new again.',
    remove: (unit, before, limit) =>
      removeRows(unit, apiKeyNetworks, lt(apiKeyNetworks.lastUsedOn, dayOf(before)), limit),
    count: db => countRows(db, apiKeyNetworks, apiKeyNetworks.lastUsedOn)
  }
]
