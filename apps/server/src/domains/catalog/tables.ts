import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { createdAt, id, instant, lower, money, ref } from '../../infra/db/columns.ts'
import { serverGroups } from '../fleet/tables.ts'
import { aclRules } from '../inventory/tables.ts'

export const collections = pgTable('collections', {
  id: id(),
  platformId: text().notNull().unique(),
  name: text().notNull(),
  description: text().notNull().default(''),
  imageUrl: text(),
  /** Set where an administrator wrote name or description: a sync leaves them alone. */
  editedAt: instant(),
  createdAt: createdAt(),
  deletedAt: instant()
})

export const tags = pgTable(
  'tags',
  {
    id: id(),
    /** As the platform writes it: what a sync goes by, also after an administrator gave the tag another name. */
    platformName: text().notNull().unique('tags_platform_key'),
    /** As the shop shows it. */
    name: text().notNull(),
    description: text().notNull().default(''),
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
    imageUrl: text(),
    /** Offered by us. */
    active: boolean().notNull().default(true),
    /** Still on the platform. */
    valid: boolean().notNull().default(true),
    /** The platform's copy changed after we took it. */
    oldFlag: boolean().notNull().default(false),
    /** The platform's own time of its last change: an older event that comes late changes nothing. */
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

/** What is sold: addresses out of one server group, in blocks of `cartStep`, for `proxyTime` days. */
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
    /** The location, as shown. */
    description: text().notNull().default(''),
    option1: text(),
    option2: text(),
    option3: text(),
    /** Per address. */
    price: money().notNull(),
    cartStep: integer().notNull().default(1),
    /** Days. */
    proxyTime: integer().notNull().default(30),
    isActive: boolean().notNull().default(true),
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
    check('variants_price', sql`${t.price} >= 0`)
  ]
)

/** Prices that differ from the platform's, as the last comparison found them: see price-drift.ts. */
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
