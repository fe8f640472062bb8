import { queue } from '../../infra/jobs.ts'

export const bulkRunQueue = queue<{ runId: number }>('run-bulk-action')
export const bulkResumeQueue = queue<object>('resume-bulk-runs')

export const bulkQueues = [bulkRunQueue, bulkResumeQueue]
