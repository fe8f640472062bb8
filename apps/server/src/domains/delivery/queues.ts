import type { OrderTask } from '@netlet/contract'
import { actsAsAdmin, type Actor } from '../../infra/actor.ts'
import type { Unit } from '../../infra/command.ts'
import { queue } from '../../infra/jobs.ts'

/** Tells the customer that all of an order's proxies work. */
export const deliveredQueue = queue<{ orderId: number }>('order-delivered', { policy: 'standard' })

/** `group`: whose share of the workers it takes, see `groupOf`. */
export type TaskJob = { orderId: number; taskId: string; group?: string }

/** Retries bridge short faults only, because the sweep asks again each minute for unfinished tasks. */
const SWEPT = { retryLimit: 8, retryDelayMax: 15 }

export const orderTaskQueue = queue<TaskJob>('order-task', SWEPT)

/** Checks wait for other sites, so they have a queue of their own: a new password must not wait behind them. */
export const checkTaskQueue = queue<TaskJob>('check-order', SWEPT)

/** How long a check works before the next waiting one gets its turn. In milliseconds. */
export const CHECK_SLICE_MS = 5_000

/** Whose share of the workers a task takes: the customer's, or that of the administrator who asked for it. */
export const groupOf = (userId: number, by?: Actor): string =>
  by?.kind === 'user' && actsAsAdmin(by) ? `admin ${by.impersonator?.id ?? by.id}` : `customer ${userId}`

/** Sends the job of an order's task, unless it waits already. */
export function enqueueTask(unit: Unit, task: OrderTask, job: TaskJob): void {
  const to = task === 'check' ? checkTaskQueue : orderTaskQueue
  const { orderId, taskId, group } = job
  unit.jobs.send(to, job, { key: `${orderId}:${taskId}`, ...(group === undefined ? {} : { group }) })
}

/** When to ask again for a task whose job may be gone. In milliseconds. */
export const LOST_AFTER_MS = 60_000

export const sweepQueue = queue<object>('sweep-deliveries', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const rescueQueue = queue<object>('rescue-orders', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const expireQueue = queue<object>('expire-orders', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const graceQueue = queue<object>('end-graces', { retryLimit: 0, deleteAfterSeconds: 3600 })
