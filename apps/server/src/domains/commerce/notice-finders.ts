import type { Settings } from '@netlet/contract'
import { iso, MINUTE } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { refusedMail } from '../mail/index.ts'
import { findRefusal, type Found, type NoticeFinder } from '../notices/index.ts'
import { readSettings } from '../settings/index.ts'
import { readCheck } from './checks.ts'
import { missedWebhooks } from './missed-webhooks.ts'
import { accessOf, credentialsOf, readToken, renewalOf } from './token.ts'
import { countLateEvents, waitingEvents } from './waiting-events.ts'

/** A renewal that fails is told once it has failed for so long, or the token is that near to its end. */
const RENEWAL_FAILS = 15 * MINUTE

/**
 * A token that is about to end without a next one: asking for it fails, or nobody asks, since no worker runs that would. A
 * single failure of the platform mends itself with hours left.
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

/** Half of the time between its renewal and its end has gone: three hours are left of a day. */
const lateOf = (token: { obtainedAt: Date; endsAt: Date }): Date =>
  new Date((renewalOf(token).getTime() + token.endsAt.getTime()) / 2)

type FinderContext = Parameters<NoticeFinder['find']>[0]

/** Figures in what the database says, such as those of a process, make it no other cause. */
const causeOf = (reason: string | null): string => (reason ?? 'unknown').replace(/\d+/g, '#')

/** What operators are told of the link to the platform. */
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

/** Tokens that the shop platform and the mail service refuse, and the platform's that ends without a next one. */
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
