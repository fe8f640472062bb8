import { queue } from '../../infra/jobs.ts'

/** Brings one server's agent to its desired state. The sweep asks again each minute for every server that is behind. */
export const convergeQueue = queue<{ serverId: number }>('converge-server', {
  retryLimit: 8,
  retryDelay: 1,
  retryDelayMax: 15,
  deleteAfterSeconds: 3600
})

export const publicCertificateQueue = queue<object>('look-at-certificate', { retryLimit: 0, deleteAfterSeconds: 3600 })

/**
 * The same for servers whose agents failed to answer. After a failure the job sends the next one itself, with a pause.
 * The sweep asks again if a killed process left a server behind.
 */
export const convergeFailingQueue = queue<{ serverId: number }>('converge-failing-server', {
  retryLimit: 2,
  retryDelay: 5,
  deleteAfterSeconds: 3600
})

/** Checks where the names of proxy certificates lead, for one server or all. */
export const proxyNamesQueue = queue<{ serverId?: number }>('look-at-proxy-names', {
  retryLimit: 0,
  // A hundred names can take this long if none resolves.
  expireInSeconds: 300,
  deleteAfterSeconds: 3600
})

/** Each minute: checks every agent's health. */
export const healthQueue = queue<object>('check-servers', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Every few minutes: asks for the repair of each server. */
export const repairAllQueue = queue<object>('repair-fleet', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Compares one agent with its desired state. One job for each server, so that one that hangs delays no other. */
export const repairQueue = queue<{ serverId: number }>('repair-server', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Installs the agent over SSH, or loads a server's ranges. A failed step is shown and not retried; only a crash is. */
export const provisionQueue = queue<{
  serverId: number
  init: boolean
  ranges: boolean
  /** Writes only the agent's settings. */
  settings?: boolean | undefined
  /** Keeps the settings that were applied last, even if others have been saved since. */
  asApplied?: boolean | undefined
  askedAt?: string | undefined
}>('provision-server', { retryLimit: 2, expireInSeconds: 900, deleteAfterSeconds: 3600 })

/** Sends changed limits to the users of an order. */
export const limitsQueue = queue<{ orderId: number }>('renew-order-limits', { deleteAfterSeconds: 3600 })

/** Tries credentials at one server's proxies. The job does not contain the credentials. */
export const proveQueue = queue<{ serverId: number }>('prove-access', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Each minute: starts the tries that are due. */
export const proveDueQueue = queue<object>('prove-due-access', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Sends every agent its deny lists again, after an edit of the access rules. */
export const denyListsQueue = queue<object>('renew-deny-lists')
