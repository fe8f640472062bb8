import { queue } from '../../platform/jobs.ts'

/** All of an order's proxies work: tell the customer. */
export const deliveredQueue = queue<{ orderId: number }>('order-delivered', { policy: 'standard' })

/** A piece of work on one order that someone asked for. */
export const orderTaskQueue = queue<{ orderId: number; taskId: string }>('order-task', { expireInSeconds: 600 })

/** Each minute: whatever was left behind by a process that died is taken up again. */
export const sweepQueue = queue<object>('sweep-deliveries', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Each minute: orders whose time is over. */
export const expireQueue = queue<object>('expire-orders', { retryLimit: 0, deleteAfterSeconds: 3600 })
