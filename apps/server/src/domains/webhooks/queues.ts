import { HOUR } from '../../infra/clock.ts'
import { queue, URGENT } from '../../infra/jobs.ts'

/** Carries a delivery's id; what is sent stays in the database. */
export const sendWebhookQueue = queue<{ deliveryId: number }>('send-webhook', {
  deleteAfterSeconds: HOUR / 1000
})
export const sweepWebhooksQueue = queue('sweep-webhooks')

/** Who answers within this time, without a failure before, gets the reserved places. In milliseconds. */
const QUICK_MS = 2_000

type Speed = { id: number; userId: number | null; failures: number; lastMs: number | null }

/**
 * How a delivery's job is sent. Jobs of one customer are worked on one at a time; the places of the queue beyond those for
 * everybody are for endpoints that have shown that they answer quickly, so that slow ones wait for each other only.
 */
export const jobOptions = (deliveryId: number, endpoint: Speed, startIn?: number) => ({
  key: String(deliveryId),
  group: endpoint.userId === null ? `endpoint:${endpoint.id}` : `user:${endpoint.userId}`,
  priority: endpoint.failures === 0 && endpoint.lastMs !== null && endpoint.lastMs <= QUICK_MS ? URGENT : 0,
  ...(startIn === undefined ? {} : { startIn: Math.max(0, Math.round(startIn)) })
})
