import { CUSTOMER_EVENTS, OPERATOR_EVENTS, type WebhookEvent } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { randomToken } from '../../infra/secrets.ts'
import { users } from '../accounts/tables.ts'
import { jobOptions, sendWebhookQueue } from './queues.ts'
import { webhookDeliveries, webhookEndpoints, webhookEvents } from './tables.ts'

/** How long an event is tried, in milliseconds: a weekend and the day after. */
export const TRY_FOR_MS = 3.25 * 24 * 3600 * 1000

export type Happened = {
  type: WebhookEvent
  /** The customer whose endpoints get it, if its type is for customers. */
  userId: number | null
  /** Ids, states and times: no password, no secret, no personal address. */
  data: Record<string, unknown>
}

const isFor = (events: readonly string[], type: WebhookEvent): boolean => events.includes(type)

/** `evt_` and 22 random characters. Receivers recognize a repeated event by it. */
export const newEventId = (): string => `evt_${randomToken(16)}`

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
