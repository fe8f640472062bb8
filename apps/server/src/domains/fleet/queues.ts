import { queue } from '../../platform/jobs.ts'

/**
 * Lets one server's agent follow what is wanted. The sweep asks again each minute for every server that is behind, so
 * a job need not outlive a long absence: it only bridges short ones quickly.
 */
export const convergeQueue = queue<{ serverId: number }>('converge-server', {
  retryLimit: 8,
  retryDelay: 1,
  retryDelayMax: 15,
  deleteAfterSeconds: 3600
})
