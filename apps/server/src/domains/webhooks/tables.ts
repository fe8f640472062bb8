import { DELIVERY_STATES, OFF_REASONS, WEBHOOK_EVENTS, WEBHOOK_FAILURES, type WebhookEvent } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { boolean, check, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { bytes, createdAt, id, instant, oneOf, ref } from '../../infra/db/columns.ts'
import { users } from '../accounts/tables.ts'

/** Endpoints and their state. A deleted one stays as long as its log. */
export const webhookEndpoints = pgTable(
  'webhook_endpoints',
  {
    id: id(),
    /** The customer whose orders it gets; null: it is the operators' and gets all. */
    userId: ref().references(() => users.id, { onDelete: 'cascade' }),
    url: text().notNull(),
    description: text().notNull(),
    events: text().array().$type<WebhookEvent[]>().notNull(),
    enabled: boolean().notNull().default(true),
    offReason: text({ enum: OFF_REASONS }),
    /** Sealed: 'whsec_' and base64. The former one also signs until its end. */
    secret: bytes().notNull(),
    formerSecret: bytes(),
    formerUntil: instant(),
    /** Failed tries in a row, since when, and until when it gets only tests. */
    failures: integer().notNull().default(0),
    failingSince: instant(),
    pausedUntil: instant(),
    lastSentAt: instant(),
    /** The time of its last reply in milliseconds. Slow ones do not get reserved places. */
    lastMs: integer(),
    /** The counted minute, and the deliveries in it. */
    countedSince: instant(),
    sent: integer().notNull().default(0),
    createdAt: createdAt(),
    deletedAt: instant()
  },
  t => [
    // Read with every event, by owner.
    index('webhook_endpoints_listening')
      .on(t.userId)
      .where(sql`${t.enabled} and ${t.deletedAt} is null`),
    index('webhook_endpoints_search').using('gin', sql`${t.url} gin_trgm_ops`),
    index('webhook_endpoints_user').on(t.userId, t.id),
    index('webhook_endpoints_live')
      .on(t.id)
      .where(sql`${t.deletedAt} is null`),
    index('webhook_endpoints_deleted')
      .on(t.deletedAt)
      .where(sql`${t.deletedAt} is not null`),
    check('webhook_endpoints_off_reason', oneOf(t.offReason, OFF_REASONS)),
    check('webhook_endpoints_former', sql`(${t.formerSecret} is null) = (${t.formerUntil} is null)`)
  ]
)

/** Events with a listening endpoint, written in the transaction of their cause. */
export const webhookEvents = pgTable(
  'webhook_events',
  {
    id: id(),
    /** The header `webhook-id`. */
    publicId: text().notNull().unique('webhook_events_public_id'),
    type: text({ enum: WEBHOOK_EVENTS }).notNull(),
    /** The payload's `data` without the links. */
    data: jsonb().$type<Record<string, unknown>>().notNull(),
    at: createdAt()
  },
  t => [index('webhook_events_at').on(t.at), check('webhook_events_type', oneOf(t.type, WEBHOOK_EVENTS))]
)

/** One event for one endpoint. */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    id: id(),
    eventId: ref()
      .notNull()
      .references(() => webhookEvents.id, { onDelete: 'cascade' }),
    endpointId: ref()
      .notNull()
      .references(() => webhookEndpoints.id, { onDelete: 'cascade' }),
    /** The event's, for the log's filters. */
    type: text({ enum: WEBHOOK_EVENTS }).notNull(),
    state: text({ enum: DELIVERY_STATES }).notNull().default('waiting'),
    /** Tries since it was created or requested again. */
    tries: integer().notNull().default(0),
    status: integer(),
    failure: text({ enum: WEBHOOK_FAILURES }),
    /** When the next try is due, and from when on a failed try is the last. */
    nextAt: instant().notNull(),
    expiresAt: instant().notNull(),
    /** The job that sends it, and when it began. */
    jobId: text(),
    claimedAt: instant(),
    /** When its owner last requested it, as a test or a repeat. */
    askedAt: instant(),
    createdAt: createdAt(),
    endedAt: instant()
  },
  t => [
    index('webhook_deliveries_event').on(t.eventId),
    index('webhook_deliveries_endpoint').on(t.endpointId, t.id),
    index('webhook_deliveries_state').on(t.state, t.id),
    index('webhook_deliveries_type').on(t.type, t.id),
    index('webhook_deliveries_due')
      .on(t.nextAt)
      .where(sql`${t.state} = 'waiting'`),
    check('webhook_deliveries_type', oneOf(t.type, WEBHOOK_EVENTS)),
    check('webhook_deliveries_state', oneOf(t.state, DELIVERY_STATES)),
    check('webhook_deliveries_failure', oneOf(t.failure, WEBHOOK_FAILURES))
  ]
)

/** One try. */
export const webhookAttempts = pgTable(
  'webhook_attempts',
  {
    id: id(),
    deliveryId: ref()
      .notNull()
      .references(() => webhookDeliveries.id, { onDelete: 'cascade' }),
    at: createdAt(),
    status: integer(),
    failure: text({ enum: WEBHOOK_FAILURES }),
    detail: text(),
    durationMs: integer().notNull(),
    /** The first bytes of the reply. */
    answer: text().notNull()
  },
  t => [
    index('webhook_attempts_delivery').on(t.deliveryId, t.id),
    check('webhook_attempts_failure', oneOf(t.failure, WEBHOOK_FAILURES))
  ]
)
