import { queue } from '../../infra/jobs.ts'

/** Brings one server's agent to what is wanted. The sweep asks again each minute for every server that is behind. */
export const convergeQueue = queue<{ serverId: number }>('converge-server', {
  retryLimit: 8,
  retryDelay: 1,
  retryDelayMax: 15,
  deleteAfterSeconds: 3600
})

export const publicCertificateQueue = queue<object>('look-at-certificate', { retryLimit: 0, deleteAfterSeconds: 3600 })

/**
 * The same for servers whose agents did not answer, or not as agents do. One that fails sends its next job itself, after a
 * pause; the sweep brings back what a killed process left behind.
 */
export const convergeFailingQueue = queue<{ serverId: number }>('converge-failing-server', {
  retryLimit: 2,
  retryDelay: 5,
  deleteAfterSeconds: 3600
})

/** Looks where the names of certificates for proxy clients lead: of one server, or of all. */
export const proxyNamesQueue = queue<{ serverId?: number }>('look-at-proxy-names', {
  retryLimit: 0,
  // A hundred names of which none is answered.
  expireInSeconds: 300,
  deleteAfterSeconds: 3600
})

/** Each minute: is every agent there? */
export const healthQueue = queue<object>('check-servers', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Every few minutes: asks for the repair of each server. */
export const repairAllQueue = queue<object>('repair-fleet', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Compares one agent with what is wanted. A server of its own job each: one that hangs keeps no other waiting. */
export const repairQueue = queue<{ serverId: number }>('repair-server', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Installs the agent over SSH, or loads a server's ranges. A failed step is shown; only a crash is tried again. */
export const provisionQueue = queue<{
  serverId: number
  init: boolean
  ranges: boolean
  /** Only the agent's settings are written. */
  settings?: boolean | undefined
  /** Its settings stay those that were applied last, whatever was saved since. */
  asApplied?: boolean | undefined
  askedAt?: string | undefined
}>('provision-server', { retryLimit: 2, expireInSeconds: 900, deleteAfterSeconds: 3600 })

/** Takes an upgrade of several servers a step further. */
export const upgradeQueue = queue<{ upgradeId: number }>('advance-upgrade', { deleteAfterSeconds: 3600 })

/** The same for all that go on, each minute: whatever a process left behind. */
export const upgradesQueue = queue<object>('advance-upgrades', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Each minute: has the counters of each server fetched. */
export const trafficQueue = queue<object>('collect-traffic', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Fetches the counters of one server. What fails is taken up by the next minute's. */
export const serverTrafficQueue = queue<{ serverId: number }>('collect-server-traffic', {
  retryLimit: 0,
  deleteAfterSeconds: 600
})

/** Gives an order's users their limits, after these have changed. */
export const limitsQueue = queue<{ orderId: number }>('renew-order-limits', { deleteAfterSeconds: 3600 })

/** Tries credentials at one server's proxies. The credentials are not in it. */
export const proveQueue = queue<{ serverId: number }>('prove-access', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Each minute: has those tried that are due. */
export const proveDueQueue = queue<object>('prove-due-access', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Gives every agent its deny lists again, after an edit of the access rules. */
export const denyListsQueue = queue<object>('renew-deny-lists')
