import { deadByQueue } from '../../infra/dead-letters.ts'
import { mailTroubles } from '../mail/index.ts'
import { MOST_FOUND, type NoticeFinder } from './found.ts'

/** What operators are told of that this domain finds itself: of mails and of jobs, which know no notices. */
export const ownFinders: NoticeFinder[] = [
  {
    cause: 'mails',
    every: 1,
    async find({ db }) {
      const { failed: count } = await mailTroubles(db)
      return count === 0 ? [] : [{ subject: '', words: 'mails', params: { count }, count }]
    }
  },
  {
    cause: 'dead_letter',
    every: 1,
    async find({ db }) {
      const rows = await deadByQueue(db, MOST_FOUND)
      return rows.map(({ queue, count }) => ({ subject: queue, words: 'dead_letter', params: { queue, count }, count }))
    }
  }
]
