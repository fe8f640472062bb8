import type { CodeKind } from '@netlet/contract'
import { queue } from '../../infra/jobs.ts'

/** From where on codes are compared: a kind, and the last id of it that was. */
export type CodesFrom = { kind?: CodeKind; after?: number }

export const checkCodesQueue = queue<CodesFrom>('check-platform-codes', { retryLimit: 8, expireInSeconds: 600 })
