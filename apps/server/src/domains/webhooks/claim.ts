import { and, eq, sql } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { users } from '../accounts/tables.ts'
import { jobOptions, sendWebhookQueue } from './queues.ts'
import { webhookDeliveries, webhookEndpoints, webhookEvents } from './tables.ts'

export type EndpointRow = typeof webhookEndpoints.$inferSelect
export type DeliveryRow = typeof webhookDeliveries.$inferSelect
export type Claimed = { delivery: DeliveryRow; endpoint: EndpointRow; event: typeof webhookEvents.$inferSelect }

/** Longer than any exchange takes: an older job has died. */
const CLAIM_MS = MINUTE
/** The most deliveries to one endpoint in a minute. */
const A_MINUTE = { customer: 60, operators: 300 }

/**
 * Claims a delivery for this job. If it is not due, or its endpoint pauses or has reached its limit, a later job is
 * enqueued; a delivery that is no longer needed ends.
 * @returns null if there is nothing to send now
 * @throws while another job sends it, so that this one takes over if that one dies
 */
export const claimDelivery = (ctx: AppContext, deliveryId: number, jobId: string): Promise<Claimed | null> =>
  command(ctx, SYSTEM, async unit => {
    const { tx, now } = unit
    const found = await lockDelivery(unit, deliveryId)
    if (found?.delivery.state !== 'waiting') return null
    const { delivery, endpoint, isActive } = found
    if (delivery.claimedAt && delivery.jobId !== jobId && delivery.claimedAt.getTime() > now.getTime() - CLAIM_MS)
      throw new Error(`Another job sends webhook delivery ${deliveryId}`)
    if (endpoint.deletedAt || !endpoint.enabled || !isActive) {
      await endDelivery(unit, found, 'cancelled')
      return null
    }
    const wait = waitOf(delivery, endpoint, now)
    if (wait > 0) {
      const nextAt = new Date(now.getTime() + wait)
      await tx.update(webhookDeliveries).set({ nextAt }).where(eq(webhookDeliveries.id, deliveryId))
      unit.jobs.send(sendWebhookQueue, { deliveryId }, jobOptions(deliveryId, endpoint, wait))
      return null
    }
    const minute = minuteOf(now)
    const isSame = endpoint.countedSince?.getTime() === minute.getTime()
    await tx
      .update(webhookEndpoints)
      .set({ countedSince: minute, sent: isSame ? sql`${webhookEndpoints.sent} + 1` : 1 })
      .where(eq(webhookEndpoints.id, endpoint.id))
    const [claimed] = await tx
      .update(webhookDeliveries)
      .set({ jobId, claimedAt: now, tries: sql`${webhookDeliveries.tries} + 1` })
      .where(eq(webhookDeliveries.id, deliveryId))
      .returning()
    return claimed ? { delivery: claimed, endpoint, event: found.event } : null
  })

async function lockDelivery({ tx }: Unit, deliveryId: number) {
  const [known] = await tx
    .select({ endpointId: webhookDeliveries.endpointId })
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.id, deliveryId))
  if (!known) return undefined
  const [owner] = await tx
    .select({ endpoint: webhookEndpoints, isActive: sql<boolean>`coalesce(${users.isActive}, true)` })
    .from(webhookEndpoints)
    .leftJoin(users, eq(users.id, webhookEndpoints.userId))
    .where(eq(webhookEndpoints.id, known.endpointId))
    .for('no key update', { of: webhookEndpoints })
  const [row] = await tx
    .select({ delivery: webhookDeliveries, event: webhookEvents })
    .from(webhookDeliveries)
    .innerJoin(webhookEvents, eq(webhookEvents.id, webhookDeliveries.eventId))
    .where(and(eq(webhookDeliveries.id, deliveryId)))
    .for('no key update', { of: webhookDeliveries })
  return row && owner ? { ...row, ...owner } : undefined
}

const minuteOf = (now: Date): Date => new Date(Math.floor(now.getTime() / MINUTE) * MINUTE)

/** @returns milliseconds to wait; 0: it can be sent now */
function waitOf(delivery: DeliveryRow, endpoint: EndpointRow, now: Date): number {
  const asked = isAsked(delivery)
  const early = delivery.nextAt.getTime() - now.getTime()
  if (early > 0) return early
  const most = endpoint.userId === null ? A_MINUTE.operators : A_MINUTE.customer
  const minute = minuteOf(now)
  if (endpoint.countedSince?.getTime() === minute.getTime() && endpoint.sent >= most)
    return minute.getTime() + MINUTE - now.getTime() + Math.random() * MINUTE
  // Requested sends ignore the pause, and an event must not expire without a try because of it.
  const rests = (endpoint.pausedUntil?.getTime() ?? 0) - now.getTime()
  if (asked || rests <= 0) return 0
  const left = delivery.expiresAt.getTime() - now.getTime()
  // Spread, so that waiting deliveries do not start together.
  return Math.max(0, Math.min(rests + Math.random() * 10_000, left))
}

/** The first try of a test or of a repeated delivery. */
const isAsked = ({ askedAt, tries }: DeliveryRow): boolean => askedAt !== null && tries === 0

export async function endDelivery(
  unit: Unit,
  { delivery, endpoint }: Pick<Claimed, 'delivery' | 'endpoint'>,
  state: 'sent' | 'failed' | 'cancelled'
): Promise<void> {
  await unit.tx
    .update(webhookDeliveries)
    .set({ state, endedAt: unit.now, claimedAt: null, jobId: null })
    .where(eq(webhookDeliveries.id, delivery.id))
  unit.publish('webhook', endpoint.id, endpoint.userId ?? undefined)
}
