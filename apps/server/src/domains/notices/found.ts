import type { NoticeCause, NoticeRules, NoticeSeverity, NoticeWords, Params } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'

/** One thing that is the case now. Without `words` it says only that what is open lasts. */
export type Found = {
  subject: string
  words?: NoticeWords
  params?: Params
  /** How many rows are behind it: told again when they have doubled. By default 1. */
  count?: number
  /** In place of its cause's, where that is less urgent. */
  severity?: NoticeSeverity
  /** By default the moment when it was found. */
  since?: Date | null
}

export type Search = {
  now: Date
  /** The figure from which on the cause is told of; 0 where it has none. */
  threshold: number
  rules: NoticeRules
  /** Subjects of the cause's notices that are open. */
  open: readonly string[]
}

/** Results after so many are left out; a search that gives so many ends none of its notices. */
export const MOST_FOUND = 50

/**
 * Finds what is the case of one cause, by the condition that the console's lists and counts go by. A bounded number of
 * queries, whatever the number of rows, and the gravest results first: `MOST_FOUND` of them count.
 */
export type NoticeFinder = {
  cause: NoticeCause
  /** It says of each notice that is open whether it lasts: all results count, and what is not among them has ended. */
  complete?: true
  /** Minutes between two searches: what takes long is done less often. */
  every: number
  find(ctx: Pick<AppContext, 'db' | 'config' | 'secrets' | 'now'>, search: Search): Promise<Found[]>
}
