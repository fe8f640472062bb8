import { queue } from '../../infra/jobs.ts'

/** Brings one server's agent to what is wanted. The sweep asks again each minute for every server that is behind. */
export const convergeQueue = queue<{ serverId: number }>('converge-server', {
  retryLimit: 8,
  retryDelay: 1,
  retryDelayMax: 15,
  deleteAfterSeconds: 3600
})

/**
 * The same for servers whose agents did not answer, or not as agents do. One that fails sends its next job itself, after a
 * pause; the sweep brings back what a killed process left behind.
 */
export const convergeFailingQueue = queue<{ serverId: number }>('converge-failing-server', {
  retryLimit: 2,
  retryDelay: 5,
  deleteAfterSeconds: 3600
})

/** Each minute: is every agent there? */
export const healthQueue = queue<object>('check-servers', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Every few minutes: asks for the repair of each server. */
export const repairAllQueue = queue<object>('repair-fleet', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Compares one agent with what is wanted. A server of its own job each: one that hangs keeps no other waiting. */
export const repairQueue = queue<{ serverId: number }>('repair-server', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Installs the agent over SSH, or loads a server's ranges. A failed step is shown; only a crash is tried again. */
export const provisionQueue = queue<{ serverId: number; init: boolean; ranges: boolean; askedAt?: string }>(
  'provision-server',
  {
    retryLimit: 2,
    expireInSeconds: 900,
    deleteAfterSeconds: 3600
  }
)

/** Gives every agent its deny lists again, after an edit of the access rules. */
export const denyListsQueue = queue<object>('renew-deny-lists')
