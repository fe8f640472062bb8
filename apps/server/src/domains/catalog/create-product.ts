import type { PlanLimits } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import type { ShopifyProduct } from '../../integrations/shopify/index.ts'
import type { Executor } from '../../infra/db/client.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { Actor } from '../../infra/actor.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { openPlatform, platformRefusal } from '../commerce/index.ts'
import { isDeletedOnPlatform } from '../inventory/index.ts'
import {
  checkEgress,
  checkGroupings,
  checkRuleVariants,
  checkServerGroups,
  findRepeatedVariant,
  type ProductInput,
  type VariantInput
} from './check-product.ts'
import { setOptions } from './options.ts'
import { nameOf, optionsOf } from './platform-products.ts'
import { wholeCents } from './whole-cents.ts'
import { productCollections, products, productTags, variants } from './tables.ts'

/**
 * Adds a platform product to the shop. Names and texts come from the form; variants, options and prices come from the
 * platform, because its checkout uses them.
 * @returns the product's id
 */
export async function createProduct(ctx: AppContext, by: Actor, form: ProductInput): Promise<Result<{ id: number }>> {
  const repeated = findRepeatedVariant(form.variants)
  if (repeated) return repeated
  const source = await fetchProduct(ctx, form.shopify_product_id)
  if (!source.ok) return source
  const unknown = findUnknownVariant(form.variants, source.data)
  if (unknown) return unknown
  const unique = { products_platform_key: 'product_exists', variants_platform_key: 'product_exists' } as const
  return command(ctx, by, { unique }, async unit => {
    const { tx } = unit
    // The platform may have deleted it just after we read it.
    if (await isDeletedOnPlatform(tx, source.data.id)) return platformProductGone(source.data.id)
    const wrong =
      checkEgress(form.variants) ??
      (await checkRuleVariants(tx, form.variants)) ??
      (await checkServerGroups(tx, form.variants)) ??
      (await checkGroupings(tx, { collectionIds: form.product_collections, tagIds: form.product_tags }))
    if (wrong) return wrong
    const id = await insertProduct(unit, form, source.data)
    unit.audit('product.create', id, { after: form })
    return ok({ id })
  })
}

/** The platform's product, for adding it or more of its variants. */
export async function fetchProduct(ctx: AppContext, platformId: string): Promise<Result<ShopifyProduct>> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  const source = await platform.data.product(platformId)
  if (source.ok) return ok(source.value)
  if (source.reason === 'not_found') return platformProductGone(platformId)
  return platformRefusal(source)
}

const platformProductGone = (product: string) =>
  fieldRefusal('shopify_product_id', 'platform_product_gone', { product })

/** The first given variant that the platform's product does not have. */
export function findUnknownVariant(given: readonly VariantInput[], source: ShopifyProduct) {
  const at = given.findIndex(variant => !source.variants.some(one => one.id === variant.shopify_variant_id))
  if (at < 0) return undefined
  return fieldRefusal(`variants.${at}.shopify_variant_id`, 'unknown_platform_variant')
}

/** A row for a variant of the form. @throws if the platform does not have the variant: check first */
export function variantRow(productId: number, given: VariantInput, source: ShopifyProduct, createdAt: Date) {
  const there = source.variants.find(one => one.id === given.shopify_variant_id)
  if (!there) throw new Error(`no platform variant ${given.shopify_variant_id}`)
  const [option1, option2, option3] = optionsOf(there)
  return {
    productId,
    platformId: given.shopify_variant_id,
    name: nameOf(there),
    description: given.variant_desc,
    option1,
    option2,
    option3,
    price: wholeCents(there.price),
    cartStep: given.cart_step,
    proxyTime: given.proxy_time,
    ...limitColumns(given),
    addressFamily: given.address_family,
    egress: given.egress,
    isActive: given.is_active,
    platformStock: there.stock,
    shipped: there.shipped,
    serverGroupId: given.server_group ?? null,
    createdAt
  }
}

/** A form's limits as columns. A missing limit changes nothing. */
export const limitColumns = (given: { [name in keyof PlanLimits]?: PlanLimits[name] | undefined }) => ({
  trafficGb: given.traffic_gb,
  mbps: given.mbps,
  connections: given.connections,
  connectionsPerSecond: given.connections_per_second
})

async function insertProduct({ tx, now }: Unit, form: ProductInput, source: ShopifyProduct): Promise<number> {
  const [made] = await tx
    .insert(products)
    .values({
      platformId: source.id,
      name: form.product_name,
      description: form.product_desc,
      translations: form.translations,
      active: form.active,
      valid: source.forSale,
      unlisted: source.unlisted,
      unpublished: source.unpublished ?? false,
      subscriptionOnly: source.subscriptionOnly ?? false,
      platformUpdatedAt: new Date(source.updatedAt),
      createdAt: now
    })
    .returning({ id: products.id })
  if (!made) throw new Error('the product was not added')
  const productId = made.id
  await tx.insert(variants).values(form.variants.map(given => variantRow(productId, given, source, now)))
  await setOptions(tx, productId, source.options)
  const collectionIds = [...new Set(form.product_collections)]
  if (collectionIds.length > 0)
    await tx.insert(productCollections).values(collectionIds.map(collectionId => ({ productId, collectionId })))
  await setTags(tx, productId, form.product_tags)
  return productId
}

export async function setTags(tx: Executor, productId: number, tagIds: number[]): Promise<void> {
  await tx.delete(productTags).where(eq(productTags.productId, productId))
  const distinct = [...new Set(tagIds)]
  if (distinct.length > 0) await tx.insert(productTags).values(distinct.map(tagId => ({ productId, tagId })))
}
