import { CUSTOMER_EVENTS, OPERATOR_EVENTS, type Refusal, TEST_EVENT, type WebhookEvent, refuse } from '@netlet/contract'
import type { UserActor } from '../../infra/actor.ts'
import { HOUR } from '../../infra/clock.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { and, eq, sql } from '../../infra/db/drizzle.ts'
import { type Result, done, ok } from '../../infra/result.ts'
import { randomToken } from '../../infra/secrets.ts'
import { countRequest } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import type { EndpointRow } from './deliver.ts'
import { isOf, lockEndpoint } from './endpoints.ts'
import type { Owner } from './policy.ts'
import { jobOptions, sendWebhookQueue } from './queues.ts'
import { webhookDeliveries, webhookEndpoints, webhookEvents } from './tables.ts'

/** How long an event is tried, in milliseconds: a weekend and the day after. */
const TRY_FOR_MS = 3.25 * 24 * 3600 * 1000

export type Happened = {
  type: WebhookEvent
  /** The customer whose endpoints get it, if its type is for customers. */
  userId: number | null
  /** Ids, states and times: no password, no secret, no personal address. */
  data: Record<string, unknown>
}

const isFor = (events: readonly string[], type: WebhookEvent): boolean => events.includes(type)

/** `evt_` and 22 random characters. Receivers recognize a repeated event by it. */
const newEventId = (): string => `evt_${randomToken(16)}`

/**
 * Emits an event if, and only if, the command commits: the event, and a delivery for each endpoint that listens. One
 * statement; without listeners it writes nothing.
 */
export async function emitEvent(unit: Unit, { type, userId, data }: Happened): Promise<void> {
  const { tx, now } = unit
  const toOperators = isFor(OPERATOR_EVENTS, type)
  const toCustomer = userId !== null && isFor(CUSTOMER_EVENTS, type)
  const [at, until] = [now.toISOString(), new Date(now.getTime() + TRY_FOR_MS).toISOString()]
  const { rows } = await tx.execute<Listening>(sql`
    with listening as materialized (
      select endpoint.id, endpoint.user_id, endpoint.failures, endpoint.last_ms from ${webhookEndpoints} as endpoint
      where endpoint.enabled and endpoint.deleted_at is null and ${type} = any (endpoint.events)
        and ((${toOperators} and endpoint.user_id is null)
          or (${toCustomer} and endpoint.user_id = ${userId ?? 0}
            and exists (select from ${users} where ${users.id} = endpoint.user_id and ${users.isActive})))
    ), event as (
      insert into ${webhookEvents} (public_id, type, data, at)
      select ${newEventId()}, ${type}, ${JSON.stringify(data)}::jsonb, ${at}::timestamptz
      where exists (select from listening)
      returning id
    ), delivery as (
      insert into ${webhookDeliveries} (event_id, endpoint_id, type, next_at, expires_at, created_at)
      select event.id, listening.id, ${type}, ${at}::timestamptz, ${until}::timestamptz, ${at}::timestamptz
      from event, listening
      returning id, endpoint_id
    )
    select delivery.id as delivery_id, listening.* from delivery join listening on listening.id = delivery.endpoint_id`)
  for (const row of rows) {
    const endpoint = {
      id: Number(row.id),
      userId: row.user_id === null ? null : Number(row.user_id),
      failures: row.failures,
      lastMs: row.last_ms
    }
    unit.jobs.send(
      sendWebhookQueue,
      { deliveryId: Number(row.delivery_id) },
      jobOptions(Number(row.delivery_id), endpoint)
    )
    unit.publish('webhook', endpoint.id, endpoint.userId ?? undefined)
  }
}

type Listening = {
  delivery_id: number | string
  id: number | string
  user_id: number | string | null
  failures: number
  last_ms: number | null
}

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
  const asked = await countRequest(unit, `webhook:${owner ?? 'operators'}`, { most: max, withinMs: HOUR })
  return asked === null ? refuse('too_many') : null
}
