import { refuse, TEST_EVENT, type Refusal } from '@netlet/contract'
import { and, eq } from '../../infra/db/drizzle.ts'
import type { UserActor } from '../../infra/actor.ts'
import { HOUR } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { countAsk } from '../accounts/index.ts'
import type { EndpointRow } from './claim.ts'
import { newEventId, TRY_FOR_MS } from './emit.ts'
import { isOf, lockEndpoint } from './endpoints.ts'
import type { Owner } from './policy.ts'
import { jobOptions, sendWebhookQueue } from './queues.ts'
import { webhookDeliveries, webhookEndpoints, webhookEvents } from './tables.ts'

/** Requested sends for all endpoints of one owner, who chooses where they go. */
const MAX_AN_HOUR = { customer: 30, operators: 200 }

/** Sends a test event to an endpoint once, even during its pause. @returns the delivery; its state is the result */
export const testEndpoint = (
  ctx: AppContext,
  by: UserActor,
  { id, owner }: { id: number; owner: Owner }
): Promise<Result<{ delivery_id: number }>> =>
  command(ctx, by, async unit => {
    const { tx, now } = unit
    const refused = await refusedByLimit(unit, owner)
    const endpoint = await lockEndpoint(unit, id, owner)
    if (!endpoint) return refuse('not_found')
    if (refused) return refused
    if (!endpoint.enabled) return refuse('webhook_off')
    const [event] = await tx
      .insert(webhookEvents)
      .values({ publicId: newEventId(), type: TEST_EVENT, data: { endpoint_id: id }, at: now })
      .returning({ id: webhookEvents.id })
    if (!event) throw new Error('the event was not added')
    const [made] = await tx
      .insert(webhookDeliveries)
      .values({
        eventId: event.id,
        endpointId: id,
        type: TEST_EVENT,
        nextAt: now,
        expiresAt: now,
        askedAt: now,
        createdAt: now
      })
      .returning({ id: webhookDeliveries.id })
    if (!made) throw new Error('the delivery was not added')
    send(unit, made.id, endpoint)
    return ok({ delivery_id: made.id })
  })

/**
 * Sends an ended delivery again, with a new set of tries. The event's id stays, so that receivers can recognize it.
 * @param owner the endpoint's owner; undefined: any
 */
export const resendDelivery = (ctx: AppContext, by: UserActor, id: number, owner?: Owner): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const { tx, now } = unit
    const [known] = await tx
      .select({ endpointId: webhookDeliveries.endpointId, userId: webhookEndpoints.userId })
      .from(webhookDeliveries)
      .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, webhookDeliveries.endpointId))
      .where(and(eq(webhookDeliveries.id, id), owner === undefined ? undefined : isOf(owner)))
    if (!known) return refuse('not_found')
    const refused = await refusedByLimit(unit, known.userId)
    if (refused) return refused
    const endpoint = await lockEndpoint(unit, known.endpointId, known.userId)
    if (!endpoint?.enabled) return refuse('webhook_off')
    const again = {
      state: 'waiting',
      tries: 0,
      status: null,
      failure: null,
      nextAt: now,
      expiresAt: new Date(now.getTime() + TRY_FOR_MS),
      askedAt: now,
      endedAt: null
    } as const
    const [delivery] = await tx
      .select({ state: webhookDeliveries.state })
      .from(webhookDeliveries)
      .where(eq(webhookDeliveries.id, id))
      .for('no key update')
    if (!delivery) return refuse('not_found')
    if (delivery.state === 'waiting') return refuse('webhook_waiting')
    await tx.update(webhookDeliveries).set(again).where(eq(webhookDeliveries.id, id))
    send(unit, id, endpoint)
    unit.audit('webhook.resend', known.endpointId, { after: { delivery: id, url: endpoint.url } })
    return done
  })

function send(unit: Unit, deliveryId: number, endpoint: EndpointRow): void {
  unit.jobs.send(sendWebhookQueue, { deliveryId }, jobOptions(deliveryId, endpoint))
  unit.publish('webhook', endpoint.id, endpoint.userId ?? undefined)
}

/** Every request counts, even for the same delivery, because its owner chooses the target. */
async function refusedByLimit(unit: Unit, owner: Owner): Promise<Refusal | null> {
  const max = owner === null ? MAX_AN_HOUR.operators : MAX_AN_HOUR.customer
  const asked = await countAsk(unit, `webhook:${owner ?? 'operators'}`, { most: max, withinMs: HOUR })
  return asked === null ? refuse('too_many') : null
}
