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

/** A search that gives so many may have left some out: none of its notices ends by it. */
export const MOST_FOUND = 50

/**
 * Finds what is the case of one cause, by the condition that the console's lists and counts go by. A bounded number of
 * queries, whatever the number of rows, and at most `MOST_FOUND` results, the gravest first.
 */
export type NoticeFinder = {
  cause: NoticeCause
  /** Minutes between two searches: what takes long is done less often. */
  every: number
  find(ctx: Pick<AppContext, 'db' | 'config' | 'secrets' | 'now'>, search: Search): Promise<Found[]>
}
