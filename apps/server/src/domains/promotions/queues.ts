import type { CodeKind } from '@netlet/contract'
import { queue } from '../../infra/jobs.ts'

/** Where the comparison of codes continues: a kind, and its last compared id. */
export type CodesFrom = { kind?: CodeKind; after?: number }

export const checkCodesQueue = queue<CodesFrom>('check-platform-codes', { retryLimit: 8, expireInSeconds: 600 })
