import { queue } from '../../../infra/jobs.ts'

/** An hour: a shop of thousands of products is read at the pace that the platform allows. */
export const syncQueue = queue<{ runId: number }>('sync-catalogue', { expireInSeconds: 3600 })
