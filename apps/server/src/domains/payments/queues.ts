import { queue } from '../../infra/jobs.ts'

/** Settles one recorded orders/paid event. */
export const settleQueue = queue<{ eventId: string }>('settle-payment')

/** Tells the platform how its order fares. */
export const tagQueue = queue<{ platformOrderId: string; tags: string[]; note?: string }>('tag-platform-order')

/** Each minute: events that were recorded and not dealt with. */
export const resettleQueue = queue<object>('resettle-payments', { retryLimit: 0, deleteAfterSeconds: 3600 })

/** Each hour: reminders of orders that expire within three days. */
export const remindQueue = queue<object>('remind-expiries', { retryLimit: 2, deleteAfterSeconds: 3600 })

/** Every few minutes: payments that no webhook told of. */
export const reconcileQueue = queue<object>('reconcile-payments', { retryLimit: 0, deleteAfterSeconds: 3600 })
