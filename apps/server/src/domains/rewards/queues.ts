import type { CodeAct, CodeKind } from '@netlet/contract'
import { queue } from '../../infra/jobs.ts'

/**
 * Checks one code on the platform. `check` changes nothing there, `follow` updates the shop's own discount, `create`
 * also creates a missing one.
 */
export const codeQueue = queue<{ kind: CodeKind; id: number; act: CodeAct | 'follow' }>('platform-code')

/** Ends the shop's discount of a code that was deleted, renamed or marked as used here. */
export const endCodeQueue = queue<{ code: string }>('end-platform-code')

/** Updates a holder's unused promo codes after a change of the e-mail address. */
export const holderCodesQueue = queue<{ userId: number }>('holder-platform-codes')

/** Gives the platform's customer the tag of the user's level. */
export const levelTagQueue = queue<{ userId: number }>('tag-platform-customer')

/** Goes through the platform's customers. `after`: where the last run stopped. */
export const levelTagsQueue = queue<{ after?: string }>('compare-customer-tags', {
  retryLimit: 8,
  expireInSeconds: 600
})

/** Sent to by commands of this domain; promotions do the work. */
export const rewardsQueues = [codeQueue, endCodeQueue, holderCodesQueue, levelTagQueue, levelTagsQueue]
