import { sql, type SQL } from '../../infra/db/drizzle.ts'
import {
  type AnyPgColumn,
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text
} from 'drizzle-orm/pg-core'
import { EVENT_OUTCOMES, RESOLUTIONS, type Params } from '@netlet/contract'
import type { ShopifyFailure } from '../../integrations/shopify/index.ts'
import { bytes, createdAt, id, instant, oneOf } from '../../infra/db/columns.ts'

/**
 * Does an event report money, and is it listed in the inbox? All do that are neither about a product nor an
 * announcement (`isAnnouncement`). @param topic its column
 */
export const isAboutMoney = (topic: AnyPgColumn): SQL =>
  sql`(${topic} not like 'products/%' and ${topic} not in ('orders/create', 'order_transactions/create'))`

/** The platform's id of a product event's product, or the first characters of an invalid id. */
export const productOf = (payload: AnyPgColumn): SQL<string | null> => sql<string | null>`left(${payload} ->> 'id', 30)`

/** Every webhook of the platform, by its event id, so that a repeat changes nothing. */
export const platformEvents = pgTable(
  'platform_events',
  {
    eventId: text().primaryKey(),
    /** The id in lists and forms. */
    id: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().unique(),
    topic: text().notNull(),
    payload: jsonb().$type<unknown>().notNull(),
    receivedAt: createdAt(),
    processedAt: instant(),
    /** How often its handling has failed for a lasting reason. */
    failures: integer().notNull().default(0),
    /** The database's message if the database is at fault: the event waits until that ends. */
    waitsFor: text(),
    /** See EVENT_OUTCOMES of the contract; null until it is handled. */
    outcome: text({ enum: EVENT_OUTCOMES }),
    /** Parameters of the outcome's sentence. */
    detail: jsonb().$type<Params>(),
    /** The platform's order, and the order of ours that it names. */
    platformOrderId: text(),
    platformOrderName: text(),
    orderPublicId: text(),
    /** An administrator has to resolve its outcome. */
    needsResolution: boolean('needs_hand').notNull().default(false),
    resolution: text({ enum: RESOLUTIONS }),
    resolutionNote: text(),
    resolvedBy: text(),
    resolvedAt: instant()
  },
  t => [
    index('platform_events_received').on(t.receivedAt),
    // The last event of a topic.
    index('platform_events_topic').on(t.topic, t.receivedAt),
    // For retention.
    index('platform_events_payload')
      .on(t.receivedAt)
      .where(sql`${t.payload} <> '{}'`),
    // Queried each minute, among the events of years.
    index('platform_events_waiting')
      .on(t.receivedAt)
      .where(sql`${t.processedAt} is null`),
    // All waiting events of a product, which are handled together.
    index('platform_events_product')
      .on(productOf(t.payload))
      .where(sql`${t.processedAt} is null and ${t.topic} like 'products/%'`),
    // The waiting events as a list, newest first.
    index('platform_events_late')
      .on(t.id)
      .where(sql`${t.processedAt} is null`),
    index('platform_events_money').on(t.id).where(isAboutMoney(t.topic)),
    index('platform_events_outcome').on(t.outcome, t.id).where(isAboutMoney(t.topic)),
    index('platform_events_open')
      .on(t.id)
      .where(sql`${t.needsResolution} and ${t.resolution} is null`),
    index('platform_events_order_name').on(t.platformOrderName, t.id),
    index('platform_events_order_id').on(t.platformOrderId, t.id),
    index('platform_events_public_id').on(t.orderPublicId, t.id),
    check('platform_events_resolution', oneOf(t.resolution, RESOLUTIONS)),
    check('platform_events_outcome', oneOf(t.outcome, EVENT_OUTCOMES))
  ]
)

/** The addresses at which this installation has registered webhooks. They tell its own subscriptions from others'. */
export const webhookAddresses = pgTable(
  'webhook_addresses',
  {
    /** The platform's shop, as an origin. */
    shop: text().notNull(),
    /** A former or the current PUBLIC_URL. */
    address: text().notNull(),
    createdAt: createdAt()
  },
  t => [primaryKey({ columns: [t.shop, t.address] })]
)

/** The latest result of each check of the platform: see check-platform.ts. */
export const platformChecks = pgTable('platform_checks', {
  name: text().primaryKey(),
  at: instant().notNull(),
  result: jsonb().$type<unknown>().notNull()
})

/** Former secrets of the platform's webhooks, accepted for a limited time. */
export const formerWebhookSecrets = pgTable('former_webhook_secrets', {
  id: id(),
  /** Sealed. */
  secret: bytes().notNull(),
  endsAt: instant().notNull(),
  createdAt: createdAt()
})

/** The platform's access tokens for the app's key and secret, and the state of the next request: see token.ts. */
export const platformTokens = pgTable(
  'platform_tokens',
  {
    /** SHA-256 of shop, key and secret: other credentials have another token. */
    credentials: bytes().primaryKey(),
    /** Sealed. Null before the first one. */
    token: bytes(),
    obtainedAt: instant(),
    endsAt: instant(),
    /** Since when requests fail, with which failure, and when the next one is due. */
    failingSince: instant(),
    failure: jsonb().$type<ShopifyFailure>(),
    retryAt: instant()
  },
  t => [
    check(
      'platform_tokens_whole',
      sql`(${t.token} is null) = (${t.endsAt} is null) and (${t.token} is null) = (${t.obtainedAt} is null)`
    )
  ]
)
