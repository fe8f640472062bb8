import { HOUR } from '../../infra/clock.ts'
import { queue, URGENT } from '../../infra/jobs.ts'

/** Only the id; the payload stays in the database. */
export const sendWebhookQueue = queue<{ deliveryId: number }>('send-webhook', {
  deleteAfterSeconds: HOUR / 1000
})
export const sweepWebhooksQueue = queue('sweep-webhooks')

/** A reply within this time, without failures before, earns the reserved places. In milliseconds. */
const QUICK_MS = 2_000
/** For endpoints that were never tried: after quick ones, before those that are known to hang. */
const NEWCOMER = 5

type Speed = { id: number; userId: number | null; failures: number; lastMs: number | null }

/**
 * Options of a delivery's job. One customer's jobs run one at a time. Reserved places are for endpoints that answer
 * quickly, so that slow ones delay only each other; new endpoints go before slow ones.
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
