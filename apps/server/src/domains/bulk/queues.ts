import { queue } from '../../infra/jobs.ts'

export const bulkRunQueue = queue<{ runId: number }>('bulk.run')
export const bulkCleanupQueue = queue<object>('bulk.cleanup')

export const bulkQueues = [bulkRunQueue, bulkCleanupQueue]
