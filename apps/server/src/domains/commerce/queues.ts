import { queue } from '../../infra/jobs.ts'

type EventJob = { eventId: string }

/** Settles one stored orders/paid event. */
export const settlePaymentQueue = queue<EventJob>('settle-payment')

/** Applies one stored product event. A queue of its own: no payment waits behind an import of products. */
export const applyProductEventQueue = queue<EventJob>('apply-product-event')

export const sweepEventsQueue = queue<object>('sweep-platform-events', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const tagOrderQueue = queue<{ platformOrderId: string; tags: string[]; note?: string }>('tag-platform-order')

export const registerWebhooksQueue = queue<object>('register-webhooks')
