import { RUN_ACTIONS } from '@netlet/contract'
import type { BulkActions, BulkWork } from './actions.ts'

/** The same work for every action. */
export const eachAction = (work: BulkWork): BulkActions =>
  Object.fromEntries(RUN_ACTIONS.map(action => [action, work])) as BulkActions
