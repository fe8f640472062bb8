import { queue } from '../../../infra/jobs.ts'

/** One hour: the platform limits how fast a shop with thousands of products can be read. */
export const syncQueue = queue<{ runId: number }>('sync-catalogue', { expireInSeconds: 3600 })
