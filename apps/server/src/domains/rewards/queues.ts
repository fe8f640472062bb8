import type { CodeAct, CodeKind } from '@netlet/contract'
import { queue } from '../../infra/jobs.ts'

/**
 * Looks at one code on the platform. `check` changes nothing there, `follow` makes a discount of the shop's what the code
 * says now, and `create` makes one besides where there is none.
 */
export const codeQueue = queue<{ kind: CodeKind; id: number; act: CodeAct | 'follow' }>('platform-code')

/** Ends the shop's discount of a code that was deleted or renamed here, or said to be used. */
export const endCodeQueue = queue<{ code: string }>('end-platform-code')

/** Has the unused promo codes of a holder follow, whose e-mail address is another one now. */
export const holderCodesQueue = queue<{ userId: number }>('holder-platform-codes')

/** Gives the platform's customer the tag of the user's level. */
export const levelTagQueue = queue<{ userId: number }>('tag-platform-customer')

/** Goes through the platform's customers. `after`: from there on, where a run before it left off. */
export const levelTagsQueue = queue<{ after?: string }>('compare-customer-tags', {
  retryLimit: 8,
  expireInSeconds: 600
})

/** What commands of this domain send to; the work is done by promotions. */
export const rewardsQueues = [codeQueue, endCodeQueue, holderCodesQueue, levelTagQueue, levelTagsQueue]
