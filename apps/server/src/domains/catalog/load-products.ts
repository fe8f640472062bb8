import { type Product, fromCents, toCents } from '@netlet/contract'
import { iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { type SQL, and, asc, eq, inArray, isNull, ne, not, sql } from '../../infra/db/drizzle.ts'
import { translated } from '../../infra/translations.ts'
import { versionOf } from '../../infra/version.ts'
import { groupsWithTls } from '../certificates/index.ts'
import { rulePrices } from '../inventory/index.ts'
import { aclRules } from '../inventory/tables.ts'
import { serverGroups } from '../servers/tables.ts'
import { limitsOf } from './quote.ts'
import type { KeyStock, StockBoard } from './stock-board.ts'
import {
  collections,
  priceDrifts,
  productCollections,
  productOptions,
  productTags,
  products,
  tags,
  variants
} from './tables.ts'

export type ProductRow = typeof products.$inferSelect

/** Administrators also see inactive variants and their server groups. */
export type Viewer = 'shop' | 'admin'

/** Loads all parts of products, in the rows' order, with a fixed number of queries. */
export async function loadProducts(
  db: Executor,
  stock: Pick<StockBoard, 'read'>,
  rows: readonly ProductRow[],
  viewer: Viewer
): Promise<Product[]> {
  if (rows.length === 0) return []
  const ids = rows.map(row => row.id)
  // One query after the other: a transaction has one connection.
  const variantRows = await readVariants(db, ids, viewer)
  const collectionRows = await db
    .select({
      productId: productCollections.productId,
      id: collections.id,
      collection_name: collections.name,
      translations: collections.translations
    })
    .from(productCollections)
    .innerJoin(collections, eq(collections.id, productCollections.collectionId))
    .where(and(inArray(productCollections.productId, ids), isNull(collections.deletedAt)))
    .orderBy(asc(collections.id))
  const tagRows = await db
    .select({ productId: productTags.productId, id: tags.id, tag_name: tags.name, translations: tags.translations })
    .from(productTags)
    .innerJoin(tags, eq(tags.id, productTags.tagId))
    .where(
      and(
        inArray(productTags.productId, ids),
        isNull(tags.deletedAt),
        ne(tags.name, ''),
        viewer === 'shop' ? not(isInternalTag()) : undefined
      )
    )
    .orderBy(asc(tags.id))
  const optionRows = await db
    .select()
    .from(productOptions)
    .where(inArray(productOptions.productId, ids))
    .orderBy(asc(productOptions.position))
  const groupIds = [...new Set(variantRows.flatMap(({ variant }) => variant.serverGroupId ?? []))]
  const secure = await groupsWithTls(db, groupIds)
  const stockOf = await stock.read(variantRows.flatMap(stockKeysOf))
  const prices = await rulePrices(db)
  const variantsOf = Map.groupBy(variantRows, row => row.variant.productId)
  const collectionsOf = Map.groupBy(collectionRows, row => row.productId)
  const tagsOf = Map.groupBy(tagRows, row => row.productId)
  const optionsOf = Map.groupBy(optionRows, row => row.productId)
  return rows.map(row => {
    const own = variantsOf.get(row.id) ?? []
    const product = {
      id: row.id,
      active: row.active,
      valid: row.valid,
      unlisted: row.unlisted,
      unpublished: row.unpublished,
      subscription_only: row.subscriptionOnly,
      old_flag: row.oldFlag,
      product_name: row.name,
      shopify_product_id: row.platformId,
      product_desc: row.description,
      image_url: row.imageUrl,
      lower_price: lowestPrice(own.map(({ variant }) => variant.price)),
      product_collections: (collectionsOf.get(row.id) ?? []).map(row => ({
        id: row.id,
        collection_name: row.collection_name,
        ...translated(row)
      })),
      product_tags: (tagsOf.get(row.id) ?? []).map(row => ({ id: row.id, tag_name: row.tag_name, ...translated(row) })),
      variant_options: (optionsOf.get(row.id) ?? []).map(({ name, values }) => ({
        option_name: name,
        option_values: values.map(value => ({ option_value: value }))
      })),
      variants: own.map(entry =>
        presentVariant(entry, viewer, {
          stock:
            viewer === 'shop' && entry.variant.platformStock === 'sold_out'
              ? undefined
              : stockKeysOf(entry).map(stockOf)[0],
          prices,
          https: secure.has(entry.variant.serverGroupId ?? 0)
        })
      ),
      created_at: iso(row.createdAt),
      ...translated(row)
    }
    return { ...product, version: versionOf(productFields(product)) }
  })
}

/**
 * The fields of a product's form: not its flag, which saving clears, nor stock, servers and platform prices, which
 * change on their own.
 */
export const productFields = (product: Omit<Product, 'version'>) => ({
  shopify_product_id: product.shopify_product_id,
  product_name: product.product_name,
  product_desc: product.product_desc,
  translations: product.translations ?? {},
  active: product.active,
  old_flag: product.old_flag,
  variants: product.variants.map(
    ({
      variant_stock: _stock,
      acl_ids: _rules,
      from_price: _from,
      price_drift: _drift,
      platform_stock: _platform,
      shipped: _shipped,
      https: _https,
      server_group,
      ...variant
    }) => ({
      ...variant,
      server_group: server_group?.id ?? null
    })
  ),
  product_tags: product.product_tags.map(tag => tag.id)
})

type VariantEntry = Awaited<ReturnType<typeof readVariants>>[number]

async function readVariants(db: Executor, productIds: number[], viewer: Viewer) {
  return db
    .select({ variant: variants, groupName: serverGroups.name, drift: priceDrifts })
    .from(variants)
    .leftJoin(serverGroups, eq(serverGroups.id, variants.serverGroupId))
    .leftJoin(priceDrifts, eq(priceDrifts.variantId, variants.id))
    .where(
      and(
        inArray(variants.productId, productIds),
        isNull(variants.deletedAt),
        viewer === 'shop' ? variants.isActive : undefined
      )
    )
    .orderBy(asc(variants.id))
}

function stockKeysOf({ variant }: VariantEntry) {
  return variant.serverGroupId === null
    ? []
    : [{ groupId: variant.serverGroupId, step: variant.cartStep, family: variant.addressFamily }]
}

function presentVariant(
  { variant, groupName, drift }: VariantEntry,
  viewer: Viewer,
  { stock, prices, https }: { stock: KeyStock | undefined; prices: ReadonlyMap<number, string>; https: boolean }
): Product['variants'][number] {
  const rules = (stock?.rules ?? []).filter(id => prices.has(id))
  const added = rules.map(id => prices.get(id) ?? '')
  return {
    id: variant.id,
    variant_name: variant.name,
    variant_desc: variant.description,
    variant_stock: stock?.stock ?? 0,
    acl_ids: rules,
    from_price: added.length > 0 ? fromCents(toCents(variant.price) + toCents(lowestPrice(added))) : null,
    cart_step: variant.cartStep,
    variant_price: variant.price,
    is_active: variant.isActive,
    variant_option1: variant.option1,
    variant_option2: variant.option2,
    variant_option3: variant.option3,
    server_group:
      viewer === 'admin' && variant.serverGroupId !== null
        ? { id: variant.serverGroupId, name: groupName ?? '' }
        : null,
    proxy_time: variant.proxyTime,
    address_family: variant.addressFamily,
    egress: variant.egress,
    https,
    ...limitsOf(variant),
    shopify_variant_id: variant.platformId,
    platform_stock: viewer === 'admin' ? variant.platformStock : 'none',
    shipped: viewer === 'admin' && variant.shipped,
    price_drift:
      viewer === 'admin' && drift && drift.platformPrice !== variant.price
        ? { id: drift.id, platform_price: drift.platformPrice }
        : null
  }
}

function lowestPrice(prices: string[]): string {
  const cents = prices.map(toCents)
  return fromCents(cents.reduce((low, price) => (price < low ? price : low), cents[0] ?? 0n))
}

/**
 * Visitors never see a platform product whose variants are access rules, nor a tag that only such products carry.
 * Computed from the current rules, so that it takes effect as soon as a rule is added or deleted.
 */
const ruleProducts = sql`array(select ${aclRules.platformProductId} from ${aclRules}
  where ${aclRules.deletedAt} is null and ${aclRules.platformProductId} is not null)`

export const isInternalTag = (): SQL<boolean> =>
  sql<boolean>`(cardinality(${tags.carriers}) > 0 and ${tags.carriers} <@ ${ruleProducts})`

export const isInternalProduct = (): SQL<boolean> => sql<boolean>`(${products.platformId} = any (${ruleProducts}))`

/** Tags with more carriers do not store them: that many products do not all hold rules. */
const MOST_CARRIERS = 20

/** The value of `tags.carriers`: the platform's products that carry a tag, sorted; empty if there are too many. */
export const carriersOf = (productIds: readonly string[]): string[] =>
  productIds.length > MOST_CARRIERS ? [] : [...new Set(productIds)].toSorted()
