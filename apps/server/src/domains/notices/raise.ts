import type { NoticeCause, NoticeWords, Params } from '@netlet/contract'
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
