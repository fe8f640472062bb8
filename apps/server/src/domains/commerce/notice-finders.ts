import { iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { refusedMail } from '../mail/index.ts'
import type { Found, NoticeFinder } from '../notices/index.ts'
import { readCheck } from './checks.ts'
import { missedWebhooks } from './missed-webhooks.ts'
import { countLateEvents, waitingEvents } from './waiting-events.ts'

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

/** Tokens that the shop platform and the mail service refuse. */
export async function findRefusedTokens(db: Executor): Promise<Found[]> {
  const found: Found[] = []
  const check = await readCheck(db, 'shop')
  if (check && 'error' in check.result && check.result.refused) {
    const params = { service: 'E-commerce platform', message: check.result.error }
    found.push({ subject: 'platform', words: 'token', params, since: check.at })
  }
  const mail = await refusedMail(db)
  if (mail) {
    const params = { service: 'Mail', message: mail.message }
    found.push({ subject: 'mail', words: 'token', params, since: mail.since })
  }
  return found
}
