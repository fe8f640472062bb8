import { sql } from 'drizzle-orm'
import { check, index, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import type { Params } from '@netlet/contract'
import { createdAt, instant, oneOf } from '../../infra/db/columns.ts'
import { EVENT_OUTCOMES } from './outcomes.ts'

/** Every webhook of the platform, by its event id: seen again, it changes nothing. */
export const platformEvents = pgTable(
  'platform_events',
  {
    eventId: text().primaryKey(),
    topic: text().notNull(),
    payload: jsonb().$type<unknown>().notNull(),
    receivedAt: createdAt(),
    processedAt: instant(),
    /** See outcomes.ts; null until it has been handled. */
    outcome: text({ enum: EVENT_OUTCOMES }),
    /** What the outcome's sentence names. */
    detail: jsonb().$type<Params>()
  },
  t => [
    index('platform_events_received').on(t.receivedAt),
    // When the last event of a topic came.
    index('platform_events_topic').on(t.topic, t.receivedAt),
    // What retention empties.
    index('platform_events_payload')
      .on(t.receivedAt)
      .where(sql`${t.payload} <> '{}'`),
    // Asked each minute, while the events of years gather.
    index('platform_events_waiting')
      .on(t.receivedAt)
      .where(sql`${t.processedAt} is null`),
    check('platform_events_outcome', oneOf(t.outcome, EVENT_OUTCOMES))
  ]
)

/** The addresses at which this installation has registered webhooks: by them it knows which subscriptions are its own. */
export const webhookAddresses = pgTable(
  'webhook_addresses',
  {
    /** The platform's shop, as an origin. */
    shop: text().notNull(),
    /** An earlier or the present PUBLIC_URL. */
    address: text().notNull(),
    createdAt: createdAt()
  },
  t => [primaryKey({ columns: [t.shop, t.address] })]
)

/** What was last found out about the platform: one row a kind of look, see checks.ts. */
export const platformChecks = pgTable('platform_checks', {
  name: text().primaryKey(),
  at: instant().notNull(),
  result: jsonb().$type<unknown>().notNull()
})
