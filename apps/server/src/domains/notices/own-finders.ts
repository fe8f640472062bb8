import { countDeadByQueue } from '../../infra/dead-letters.ts'
import { iso } from '../../infra/clock.ts'
import { mailTroubles, unsentMails } from '../mail/index.ts'
import { MOST_FOUND, type Found, type NoticeFinder } from './found.ts'

const waitFor = ({ count, since, reason }: { count: number; since: Date; reason: string }): Found => ({
  subject: 'service',
  words: 'mails_wait',
  params: { count, since: iso(since), reason },
  since,
  count
})

/** This domain's own finders: mails and jobs, which do not know notices. */
export const ownFinders: NoticeFinder[] = [
  {
    cause: 'mails',
    every: 1,
    async find({ db }, { now }) {
      const { failed: count } = await mailTroubles(db)
      const unsent = await unsentMails(db, now)
      return [
        ...(unsent ? [waitFor(unsent)] : []),
        ...(count === 0 ? [] : [{ subject: '', words: 'mails', params: { count }, count } as const])
      ]
    }
  },
  {
    cause: 'dead_letter',
    every: 1,
    async find({ db }) {
      const rows = await countDeadByQueue(db, MOST_FOUND)
      return rows.map(({ queue, count }) => ({ subject: queue, words: 'dead_letter', params: { queue, count }, count }))
    }
  }
]
