import { queue } from '../../infra/jobs.ts'

/** Brings one server's agent to its desired state. The sweep asks again each minute for every server that is behind. */
export const convergeQueue = queue<{ serverId: number }>('converge-server', {
  retryLimit: 8,
  retryDelay: 1,
  retryDelayMax: 15,
  deleteAfterSeconds: 3600
})

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

/** Sends every agent its deny lists again, after an edit of the access rules. */
export const denyListsQueue = queue<object>('renew-deny-lists')
