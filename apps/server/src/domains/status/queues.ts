import { queue } from '../../infra/jobs.ts'

/** Mails subscribers of one update, those with ids above `after`. */
export const statusMailsQueue = queue<{ updateId: number; after: number }>('status-mails')

export const sampleStatusQueue = queue<object>('sample-status', { retryLimit: 0, deleteAfterSeconds: 3600 })
