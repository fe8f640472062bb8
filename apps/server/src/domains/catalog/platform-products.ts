import { refuse, type PlatformProduct } from '@netlet/contract'
import { and, eq, inArray, isNull, ne } from '../../infra/db/drizzle.ts'
import type { ShopifyProduct, ShopifyVariant } from '../../integrations/shopify/index.ts'
import type { Database } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { openPlatform } from '../commerce/index.ts'
import { aclRules } from '../inventory/tables.ts'
import { collections, products, tags } from './tables.ts'
import { wholeCents } from './whole-cents.ts'

/**
 * The platform's products that can be added: new ones that do not sell access rules, with our collections and tags.
 * Every failure of the platform is 'product_fetch_failed', with the platform's words.
 */
export async function listPlatformProducts(
  ctx: AppContext,
  search: string | undefined
): Promise<Result<PlatformProduct[]>> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  const read = await platform.data.products()
  if (!read.ok) return refuse('product_fetch_failed', { data: { platform: read.reason, detail: read.message } })
  const wanted = search?.toLowerCase()
  const found = read.value.filter(
    product =>
      (product.forSale || product.unpublished || product.subscriptionOnly) &&
      (wanted === undefined || product.title.toLowerCase().includes(wanted))
  )
  const fresh = await notYetAdded(ctx.db, await withoutRules(ctx.db, found))
  const ours = await knownGroupings(ctx.db, fresh)
  return ok(fresh.map(product => presentPlatformProduct(product, ours)))
}

/** The platform's current copy of one of our products. */
export async function readPlatformProduct(ctx: AppContext, id: number): Promise<Result<PlatformProduct>> {
  const [product] = await ctx.db
    .select({ platformId: products.platformId })
    .from(products)
    .where(and(eq(products.id, id), isNull(products.deletedAt)))
  if (!product) return refuse('not_found')
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  const read = await platform.data.product(product.platformId)
  if (!read.ok)
    return read.reason === 'not_found'
      ? refuse('platform_product_gone', { params: { product: product.platformId } })
      : refuse('product_fetch_failed', { data: { platform: read.reason, detail: read.message } })
  return ok(presentPlatformProduct(read.value, await knownGroupings(ctx.db, [read.value])))
}

/** A customer who bought a rule alone would pay and get nothing. */
async function withoutRules(db: Database, found: ShopifyProduct[]): Promise<ShopifyProduct[]> {
  const rules = await db
    .select({ variantId: aclRules.platformVariantId })
    .from(aclRules)
    .where(isNull(aclRules.deletedAt))
  const ofRules = new Set(rules.map(({ variantId }) => variantId))
  return found.filter(({ variants }) => !variants.some(({ id }) => ofRules.has(id)))
}

async function notYetAdded(db: Database, found: ShopifyProduct[]): Promise<ShopifyProduct[]> {
  if (found.length === 0) return []
  const ids = found.map(product => product.id)
  const added = await db
    .select({ platformId: products.platformId })
    .from(products)
    .where(and(inArray(products.platformId, ids), isNull(products.deletedAt)))
  const present = new Set(added.map(row => row.platformId))
  return found.filter(product => !present.has(product.id))
}

type Groupings = Awaited<ReturnType<typeof knownGroupings>>

async function knownGroupings(db: Database, found: ShopifyProduct[]) {
  if (found.length === 0) return { collections: [], tags: [] }
  const [knownCollections, knownTags] = await Promise.all([
    db
      .select({ id: collections.id, name: collections.name, platformId: collections.platformId })
      .from(collections)
      .where(isNull(collections.deletedAt)),
    db
      .select({ id: tags.id, name: tags.name, platformName: tags.platformName })
      .from(tags)
      .where(and(isNull(tags.deletedAt), ne(tags.name, '')))
  ])
  return { collections: knownCollections, tags: knownTags }
}

function presentPlatformProduct(product: ShopifyProduct, ours: Groupings): PlatformProduct {
  const inCollections = new Set(product.collections.map(collection => collection.id))
  const tagged = new Set(product.tags)
  return {
    shopify_product_id: product.id,
    product_name: product.title,
    product_desc: product.description,
    image_url: null,
    product_collections: ours.collections
      .filter(collection => inCollections.has(collection.platformId))
      .map(({ id, name }) => ({ id, collection_name: name })),
    product_tags: ours.tags.filter(tag => tagged.has(tag.platformName)).map(({ id, name }) => ({ id, tag_name: name })),
    variant_options: product.options.map(option => ({
      option_name: option.name,
      option_values: option.values.map(value => ({ option_value: value }))
    })),
    variants: product.variants.map(variant => {
      const [option1, option2, option3] = optionsOf(variant)
      return {
        shopify_variant_id: variant.id,
        variant_name: nameOf(variant),
        variant_price: wholeCents(variant.price),
        variant_option1: option1,
        variant_option2: option2,
        variant_option3: option3
      }
    })
  }
}

/** The option values of a platform variant, in order; null for missing ones. */
export function optionsOf(variant: ShopifyVariant): [string | null, string | null, string | null] {
  const [option1, option2, option3] = variant.selectedOptions.map(option => option.value)
  return [option1 ?? null, option2 ?? null, option3 ?? null]
}

/** Option values joined by ' / '. */
export const nameOf = (variant: ShopifyVariant): string =>
  variant.selectedOptions.map(option => option.value).join(' / ') || variant.title
