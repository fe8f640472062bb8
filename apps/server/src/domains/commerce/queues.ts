import { queue } from '../../infra/jobs.ts'

type EventJob = { eventId: string }

/**
 * The sweep enqueues unhandled events again each minute, in addition to jobs that wait for a retry. So jobs bridge only
 * short faults; otherwise a failing event would add a job every minute.
 */
const SWEPT = { retryLimit: 8, retryDelayMax: 15 }

/** Handles one stored event about money: a payment, a refund, a cancellation or a dispute. */
export const moneyEventQueue = queue<EventJob>('settle-payment', SWEPT)

/** The waiting events of one topic about one product, by the platform's id; or one event without a product's id. */
export type ProductEventJob = { topic: string; product: string } | EventJob

/** Applies events about one product. Its own queue, so that payments do not wait behind an import of products. */
export const applyProductEventQueue = queue<ProductEventJob>('apply-product-event', SWEPT)

export const sweepEventsQueue = queue<object>('sweep-platform-events', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const tagOrderQueue = queue<{ platformOrderId: string; tags: string[]; note?: string }>('tag-platform-order')

export const renewTokenQueue = queue<object>('renew-platform-token', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const registerWebhooksQueue = queue<object>('register-webhooks')
