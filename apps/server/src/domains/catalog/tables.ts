import { PlatformStock, SYNC_KINDS, type AddressFamily, type EgressMode } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { boolean, check, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, instant, lower, money, oneOf, ref, translations } from '../../infra/db/columns.ts'
import { serverGroups } from '../servers/tables.ts'
import { aclRules } from '../inventory/tables.ts'

export const collections = pgTable('collections', {
  id: id(),
  platformId: text().notNull().unique(),
  name: text().notNull(),
  description: text().notNull().default(''),
  translations: translations(),
  imageUrl: text(),
  /** Set when an administrator edits name or description. Syncs then leave them alone. */
  editedAt: instant(),
  createdAt: createdAt(),
  deletedAt: instant()
})

export const tags = pgTable(
  'tags',
  {
    id: id(),
    /** The platform's name. Syncs match by it, even if an administrator renamed the tag. */
    platformName: text().notNull().unique('tags_platform_key'),
    /** The name in the shop. */
    name: text().notNull(),
    description: text().notNull().default(''),
    translations: translations(),
    /** The few platform products that carried it at the last sync; empty if there are many. See `carriersOf`. */
    carriers: text()
      .array()
      .notNull()
      .default(sql`'{}'`),
    createdAt: createdAt(),
    deletedAt: instant()
  },
  t => [
    uniqueIndex('tags_name_key')
      .on(lower(t.name))
      .where(sql`${t.deletedAt} is null and ${t.name} <> ''`)
  ]
)

export const products = pgTable(
  'products',
  {
    id: id(),
    platformId: text().notNull(),
    name: text().notNull(),
    description: text().notNull().default(''),
    translations: translations(),
    imageUrl: text(),
    /** Offered by us. */
    active: boolean().notNull().default(true),
    /** Still on the platform. */
    valid: boolean().notNull().default(true),
    /** On sale by its own link, but on no list. */
    unlisted: boolean().notNull().default(false),
    /** Not valid, only because it is not in the platform's Online Store, where our checkout links lead. */
    unpublished: boolean().notNull().default(false),
    /** Not valid, because the platform sells it with a selling plan only, which checkout links cannot buy. */
    subscriptionOnly: boolean().notNull().default(false),
    /** Variants came or went on the platform, and an administrator has to decide. */
    oldFlag: boolean().notNull().default(false),
    /** The platform's time of its last change. Older events that arrive late are ignored. */
    platformUpdatedAt: instant(),
    createdAt: createdAt(),
    deletedAt: instant()
  },
  t => [
    uniqueIndex('products_platform_key')
      .on(t.platformId)
      .where(sql`${t.deletedAt} is null`),
    index('products_search').using('gin', sql`${t.name} gin_trgm_ops`)
  ]
)

export const productCollections = pgTable(
  'product_collections',
  {
    productId: ref()
      .notNull()
      .references(() => products.id, { onDelete: 'cascade' }),
    collectionId: ref()
      .notNull()
      .references(() => collections.id, { onDelete: 'cascade' })
  },
  t => [
    primaryKey({ columns: [t.productId, t.collectionId] }),
    index('product_collections_collection').on(t.collectionId)
  ]
)

export const productTags = pgTable(
  'product_tags',
  {
    productId: ref()
      .notNull()
      .references(() => products.id, { onDelete: 'cascade' }),
    tagId: ref()
      .notNull()
      .references(() => tags.id, { onDelete: 'cascade' })
  },
  t => [primaryKey({ columns: [t.productId, t.tagId] }), index('product_tags_tag').on(t.tagId)]
)

export const productOptions = pgTable(
  'product_options',
  {
    productId: ref()
      .notNull()
      .references(() => products.id, { onDelete: 'cascade' }),
    position: integer().notNull(),
    name: text().notNull(),
    values: text().array().notNull()
  },
  t => [
    primaryKey({ columns: [t.productId, t.position] }),
    check('product_options_position', sql`${t.position} between 1 and 3`)
  ]
)

/** A plan: addresses from one server group, in blocks of `cartStep`, for `proxyTime` days. */
export const variants = pgTable(
  'variants',
  {
    id: id(),
    productId: ref()
      .notNull()
      .references(() => products.id),
    platformId: text().notNull(),
    /** Option values joined by ' / '. */
    name: text().notNull(),
    /** The location that the shop shows. */
    description: text().notNull().default(''),
    option1: text(),
    option2: text(),
    option3: text(),
    /** Per address. */
    price: money().notNull(),
    cartStep: integer().notNull().default(1),
    /** Days. */
    proxyTime: integer().notNull().default(30),
    /** What one address is, and where connections leave from; see the contract. */
    addressFamily: text().$type<AddressFamily>().notNull().default('ipv4'),
    egress: text().$type<EgressMode>().notNull().default('fixed'),
    /** Limits of its orders, see `PlanLimits` of the contract. Null: no limit. */
    trafficGb: integer(),
    mbps: integer(),
    connections: integer(),
    connectionsPerSecond: integer(),
    isActive: boolean().notNull().default(true),
    /** As last read. */
    platformStock: text().$type<PlatformStock>().notNull().default('none'),
    /** As last read: the checkout asks for an address and a shipping rate. */
    shipped: boolean().notNull().default(false),
    serverGroupId: ref().references(() => serverGroups.id),
    createdAt: createdAt(),
    deletedAt: instant()
  },
  t => [
    uniqueIndex('variants_platform_key')
      .on(t.platformId)
      .where(sql`${t.deletedAt} is null`),
    uniqueIndex('variants_options_key')
      .on(
        t.productId,
        sql`coalesce(${t.option1}, '')`,
        sql`coalesce(${t.option2}, '')`,
        sql`coalesce(${t.option3}, '')`
      )
      .where(sql`${t.deletedAt} is null`),
    index('variants_group').on(t.serverGroupId),
    check('variants_step', sql`${t.cartStep} in (1, 8, 16, 32, 64, 128, 256)`),
    check('variants_time', sql`${t.proxyTime} between 1 and 3650`),
    check('variants_limits', sql`least(${t.trafficGb}, ${t.mbps}, ${t.connections}, ${t.connectionsPerSecond}) > 0`),
    check('variants_family', sql`${t.addressFamily} in ('ipv4', 'ipv6')`),
    check(
      'variants_egress',
      sql`${t.egress} = 'fixed' or (${t.egress} in ('request', 'session') and ${t.addressFamily} = 'ipv6')`
    ),
    check('variants_price', sql`${t.price} >= 0`),
    check('variants_platform_stock', oneOf(t.platformStock, PlatformStock.options))
  ]
)

/** Prices that differed from the platform's at the last comparison: see price-drift.ts. */
export const priceDrifts = pgTable(
  'price_drifts',
  {
    id: id(),
    /** Either a variant or an access rule. */
    variantId: ref()
      .unique('price_drifts_variant_key')
      .references(() => variants.id, { onDelete: 'cascade' }),
    ruleId: integer()
      .unique('price_drifts_rule_key')
      .references(() => aclRules.id, { onDelete: 'cascade' }),
    platformPrice: money().notNull(),
    /** When it was first seen. */
    since: createdAt()
  },
  t => [check('price_drifts_one', sql`num_nonnulls(${t.variantId}, ${t.ruleId}) = 1`)]
)

/** A field of a row before or after a sync. */
export type Field = string | boolean | null | string[]
/** A sync's change of one row; null: the row did not exist. `key`: see snapshot.ts. */
export type Touched = {
  key: string
  name: string
  before: Record<string, Field> | null
  after: Record<string, Field> | null
}

/** The last syncs with their changes. Only the latest can be undone. */
export const catalogSyncs = pgTable(
  'catalog_syncs',
  {
    id: id(),
    what: text({ enum: SYNC_KINDS }).notNull(),
    by: text().notNull(),
    counts: jsonb().$type<{ created: number; updated: number; removed: number }>().notNull(),
    touched: jsonb().$type<Touched[]>().notNull(),
    createdAt: createdAt(),
    undoneAt: instant()
  },
  t => [check('catalog_syncs_what', oneOf(t.what, SYNC_KINDS))]
)
