import { queue } from '../../infra/jobs.ts'

type EventJob = { eventId: string }

/**
 * The sweep asks again each minute for every event that was not handled, and a job that waits for its next try stops no
 * second one: so jobs bridge short faults only, or one event that cannot be handled would gather a job a minute.
 */
const SWEPT = { retryLimit: 8, retryDelayMax: 15 }

/** Handles one stored event about money: a payment, a refund, a cancellation or a dispute. */
export const settlePaymentQueue = queue<EventJob>('settle-payment', SWEPT)

/** What waits of one topic about one product, by the platform's id; or one event that names no product. */
export type ProductEventJob = { topic: string; product: string } | EventJob

/** Applies what is stored about one product. A queue of its own: no payment waits behind an import of products. */
export const applyProductEventQueue = queue<ProductEventJob>('apply-product-event', SWEPT)

export const sweepEventsQueue = queue<object>('sweep-platform-events', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const tagOrderQueue = queue<{ platformOrderId: string; tags: string[]; note?: string }>('tag-platform-order')

export const renewTokenQueue = queue<object>('renew-platform-token', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const registerWebhooksQueue = queue<object>('register-webhooks')
