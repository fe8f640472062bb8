import type { NoticeCause, NoticeRules, NoticeSeverity, NoticeWords, Params } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import { iso } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { queue } from '../../infra/jobs.ts'

/** A problem that a command reports to operators. */
export type Raised = {
  cause: NoticeCause
  /** The subject within its cause, as the cause's finder names it. */
  subject: string
  /** The unique occurrence, such as 'payment:evt-1'. A known one is ignored. */
  key: string
  /** Since when, ISO 8601; by default the command's time. */
  since?: string
  /** A sentence of the contract, and its parameters. */
  words: NoticeWords
  params: Params
}

/** Its jobs are deleted after minutes, because their data names orders. */
export const raiseNoticeQueue = queue<Raised & { at: string }>('raise-notice', { deleteAfterSeconds: 300 })

/**
 * Notifies operators if, and only if, the command commits. Use it for problems that a finder could not detect later, or
 * that the command can describe better.
 */
export function raiseNotice(unit: Unit, raised: Raised): void {
  unit.jobs.send(raiseNoticeQueue, { ...raised, at: iso(unit.now) }, { key: raised.key })
}

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
