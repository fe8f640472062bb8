import type { NoticeCause, NoticeRules, NoticeSeverity, NoticeWords, Params } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'

/** A present problem. Without `words` it only confirms that an open notice lasts. */
export type Found = {
  subject: string
  words?: NoticeWords
  params?: Params
  /** How many rows are behind it. When they double, it is sent again. By default 1. */
  count?: number
  /** Replaces the cause's severity if it is more severe. */
  severity?: NoticeSeverity
  /** By default the time of the search. */
  since?: Date | null
}

export type Search = {
  now: Date
  /** The configured limit of the cause; 0 if it has none. */
  threshold: number
  rules: NoticeRules
  /** Subjects of the cause's open notices. */
  open: readonly string[]
}

/** Further results are ignored, and a search with this many results ends no notices. */
export const MOST_FOUND = 50

/**
 * Finds the present problems of one cause, with the condition of the console's lists and counts. It uses a bounded
 * number of queries and returns the most severe results first; only `MOST_FOUND` of them count.
 */
export type NoticeFinder = {
  cause: NoticeCause
  /** It decides about every open notice: all results count, and notices without a result have ended. */
  complete?: true
  /** Minutes between two searches; slow searches run less often. */
  every: number
  find(ctx: Pick<AppContext, 'db' | 'config' | 'secrets' | 'now'>, search: Search): Promise<Found[]>
}
