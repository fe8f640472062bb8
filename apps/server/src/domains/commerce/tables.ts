import { sql, type SQL } from 'drizzle-orm'
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

/** Is an event about money? Each that is about no product is. @param topic the column of it */
export const isAboutMoney = (topic: AnyPgColumn): SQL => sql`${topic} not like 'products/%'`

/** The product that a product's event is about, as the platform's id, or the start of what is no id. */
export const productOf = (payload: AnyPgColumn): SQL<string | null> => sql<string | null>`left(${payload} ->> 'id', 30)`

/** Every webhook of the platform, by its event id: seen again, it changes nothing. */
export const platformEvents = pgTable(
  'platform_events',
  {
    eventId: text().primaryKey(),
    /** What lists and forms name it by. */
    id: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().unique(),
    topic: text().notNull(),
    payload: jsonb().$type<unknown>().notNull(),
    receivedAt: createdAt(),
    processedAt: instant(),
    /** How often its handling has failed for a reason that lasts. */
    failures: integer().notNull().default(0),
    /** What the database said when it could not be handled: it waits for as long as that lasts. */
    waitsFor: text(),
    /** See EVENT_OUTCOMES of the contract; null until it has been handled. */
    outcome: text({ enum: EVENT_OUTCOMES }),
    /** What the outcome's sentence names. */
    detail: jsonb().$type<Params>(),
    /** The platform's order that it is about, and ours that it names. */
    platformOrderId: text(),
    platformOrderName: text(),
    orderPublicId: text(),
    /** Its outcome has to be looked at by an administrator, who ends it by a resolution. */
    needsResolution: boolean('needs_hand').notNull().default(false),
    resolution: text({ enum: RESOLUTIONS }),
    resolutionNote: text(),
    resolvedBy: text(),
    resolvedAt: instant()
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
    // All that waits about one product is handled at once.
    index('platform_events_product')
      .on(productOf(t.payload))
      .where(sql`${t.processedAt} is null and ${t.topic} like 'products/%'`),
    // The same as a list, newest first.
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

/** Secrets that signed the platform's webhooks before the present one, which are taken for some time. */
export const formerWebhookSecrets = pgTable('former_webhook_secrets', {
  id: id(),
  /** Sealed. */
  secret: bytes().notNull(),
  endsAt: instant().notNull(),
  createdAt: createdAt()
})

/** Access tokens that the platform gave for the app's key and secret, and how asking for the next one goes: see token.ts. */
export const platformTokens = pgTable(
  'platform_tokens',
  {
    /** SHA-256 of shop, key and secret: with others, it is another token. */
    credentials: bytes().primaryKey(),
    /** Sealed. Null: none was given yet. */
    token: bytes(),
    obtainedAt: instant(),
    endsAt: instant(),
    /** Since when each try has failed, what the last one failed with, and when the next one is due. */
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
