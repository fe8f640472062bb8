import type { NoticeCause, NoticeWords, Params } from '@netlet/contract'
import { iso } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { queue } from '../../infra/jobs.ts'

/** Something that a command tells operators of. */
export type Raised = {
  cause: NoticeCause
  /** What it is about within its cause, as the cause's search names it. */
  subject: string
  /** Names the occurrence, such as 'payment:evt-1': the same one is no news. */
  key: string
  /** Since when it is so, ISO 8601; by default the moment of the command. */
  since?: string
  /** A sentence of the contract's, and what is in its braces. */
  words: NoticeWords
  params: Params
}

/** It holds what a notice says, which names orders: it leaves the job table after minutes. */
export const raiseNoticeQueue = queue<Raised & { at: string }>('raise-notice', { deleteAfterSeconds: 300 })

/**
 * Tells operators of something if, and only if, the command commits. What a search finds by itself within a minute needs
 * no call; what a command knows better, or nobody could find afterwards, does.
 */
export function raiseNotice(unit: Unit, raised: Raised): void {
  unit.jobs.send(raiseNoticeQueue, { ...raised, at: iso(unit.now) }, { key: raised.key })
}
