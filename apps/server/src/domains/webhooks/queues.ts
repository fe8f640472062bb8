import { HOUR } from '../../infra/clock.ts'
import { queue, URGENT } from '../../infra/jobs.ts'

/** Carries a delivery's id; what is sent stays in the database. */
export const sendWebhookQueue = queue<{ deliveryId: number }>('send-webhook', {
  deleteAfterSeconds: HOUR / 1000
})
export const sweepWebhooksQueue = queue('sweep-webhooks')

/** Who answers within this time, without a failure before, gets the reserved places. In milliseconds. */
const QUICK_MS = 2_000
/** Of an endpoint that was never tried: it waits for others like it, not for those that are known to hang. */
const NEWCOMER = 5

type Speed = { id: number; userId: number | null; failures: number; lastMs: number | null }

/**
 * How a delivery's job is sent. Jobs of one customer are worked on one at a time; the places of the queue beyond those for
 * everybody are for endpoints that have shown that they answer quickly, so that slow ones wait for each other only. In the
 * places for everybody new endpoints come before those.
 */
export const jobOptions = (deliveryId: number, endpoint: Speed, startIn?: number) => ({
  key: String(deliveryId),
  group: endpoint.userId === null ? `endpoint:${endpoint.id}` : `user:${endpoint.userId}`,
  priority: priorityOf(endpoint),
  ...(startIn === undefined ? {} : { startIn: Math.max(0, Math.round(startIn)) })
})

function priorityOf({ failures, lastMs }: Speed): number {
  if (failures > 0) return 0
  if (lastMs === null) return NEWCOMER
  return lastMs <= QUICK_MS ? URGENT : 0
}
