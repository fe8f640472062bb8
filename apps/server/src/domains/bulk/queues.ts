import { queue } from '../../infra/jobs.ts'

export const bulkRunQueue = queue<{ runId: number }>('run-bulk-action')
export const bulkCleanupQueue = queue<object>('clean-up-bulk-runs')

export const bulkQueues = [bulkRunQueue, bulkCleanupQueue]
