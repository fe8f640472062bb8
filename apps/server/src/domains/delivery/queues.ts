import { queue } from '../../infra/jobs.ts'

/** All of an order's proxies work: tell the customer. */
export const deliveredQueue = queue<{ orderId: number }>('order-delivered', { policy: 'standard' })

export type TaskJob = { orderId: number; taskId: string }

/** A piece of work on one order that someone asked for. */
export const orderTaskQueue = queue<TaskJob>('order-task')

/** How long a check may run: 10,000 proxies that all stay silent. */
const CHECK_SECONDS = 1800

/**
 * Checks wait for the world outside, so they have a queue of their own: nobody's new password waits behind them. The
 * heartbeat tells one that takes long from one whose process died.
 */
export const checkTaskQueue = queue<TaskJob>('check-order', { expireInSeconds: CHECK_SECONDS, heartbeatSeconds: 30 })

export const queueOf = (task: string) => (task === 'check' ? checkTaskQueue : orderTaskQueue)

/** When to ask again for a task whose job cannot be there any more. In milliseconds. */
export const lostAfter = (task: string): number => (task === 'check' ? CHECK_SECONDS * 1000 : 60_000)

export const sweepQueue = queue<object>('sweep-deliveries', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const rescueQueue = queue<object>('rescue-orders', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const expireQueue = queue<object>('expire-orders', { retryLimit: 0, deleteAfterSeconds: 3600 })
