import { queue } from '../../infra/jobs.ts'

/** Mails an update to subscribers with ids above `after`. */
export const statusMailsQueue = queue<{ updateId: number; after: number }>('status-mails')

export const sampleStatusQueue = queue<object>('sample-status', { retryLimit: 0, deleteAfterSeconds: 3600 })
