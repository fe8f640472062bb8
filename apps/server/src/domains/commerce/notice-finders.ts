import type { Settings } from '@netlet/contract'
import { iso, MINUTE } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { refusedMail } from '../mail/index.ts'
import { findRefusal, type Found, type NoticeFinder } from '../notices/index.ts'
import { readSettings } from '../settings/index.ts'
import { readCheck } from './check-platform.ts'
import { accessOf, credentialsOf, readToken, renewalOf } from './token.ts'
import { countLateEvents, waitingEvents } from './waiting-events.ts'
import { missedWebhooks } from './refused-webhooks.ts'

/** How long renewals may fail before operators get a notice. */
const RENEWAL_FAILS = 15 * MINUTE

/**
 * A token that ends soon without a successor, because requests fail or no worker makes them. A single failure recovers
 * hours before the end.
 */
async function findEndingToken(db: Executor, settings: Settings, now: Date): Promise<Found[]> {
  const row = await readToken(db, settings)
  if (!row) return []
  const { obtainedAt, endsAt, failingSince, failure } = row
  const lives = endsAt !== null && endsAt > now
  const isLate = obtainedAt && endsAt ? lateOf({ obtainedAt, endsAt }) <= now : failure !== null
  const lasts = failingSince !== null && now.getTime() - failingSince.getTime() >= RENEWAL_FAILS
  if (!isLate && !lasts) return []
  const params = { ends: endsAt ? iso(endsAt) : '–', message: failure?.message ?? '–' }
  return [{ subject: 'platform_token', words: lives ? 'token_ending' : 'token_ended', params, since: failingSince }]
}

/** Half-way between renewal and end: three hours are left of a day. */
const lateOf = (token: { obtainedAt: Date; endsAt: Date }): Date =>
  new Date((renewalOf(token).getTime() + token.endsAt.getTime()) / 2)

type FinderContext = Parameters<NoticeFinder['find']>[0]

/** Numbers in the database's message, such as process ids, do not make it another cause. */
const causeOf = (reason: string | null): string => (reason ?? 'unknown').replace(/\d+/g, '#')

export const commerceFinders: NoticeFinder[] = [
  {
    cause: 'late_events',
    every: 1,
    async find({ db }, { now }) {
      const count = await countLateEvents(db, now)
      if (count === 0) return []
      const { oldest, reason } = await waitingEvents(db)
      const params = { count, since: iso(oldest ?? now), reason: reason ?? '–' }
      return [{ subject: causeOf(reason), words: 'late_events', params, since: oldest, count }]
    }
  },
  {
    cause: 'webhooks',
    every: 15,
    async find({ db, config }, { now, open }) {
      const count = await missedWebhooks(db, now)
      const missed = { subject: 'silence', words: 'webhooks', params: { count, url: config.publicUrl }, count } as const
      if (!open.includes('foreign')) return count > 0 ? [missed] : []
      const check = await readCheck(db, 'webhooks')
      const lasts = !check || !('foreign' in check.result) || check.result.foreign.length > 0
      return [...(count > 0 ? [missed] : []), ...(lasts ? [{ subject: 'foreign' }] : [])]
    }
  }
]

/** Tokens that the platform or the mail service refuses, and a platform token that ends without a successor. */
export async function findRefusedTokens({ db, secrets, now }: FinderContext): Promise<Found[]> {
  const settings = await readSettings(db, secrets)
  const access = accessOf(settings)
  const found: Found[] = []
  if (access) found.push(...(await findRefusal(db, 'platform', credentialsOf(settings))))
  if (access === 'grant') {
    const refusals = await findRefusal(db, 'platform_key', credentialsOf(settings))
    found.push(...refusals, ...(refusals.length === 0 ? await findEndingToken(db, settings, now()) : []))
  }
  const mail = await refusedMail(db)
  if (mail) {
    const params = { service: 'Mail', message: mail.message }
    found.push({ subject: 'mail', words: 'token', params, since: mail.since })
  }
  return found
}
