import { refuse, type ProductUpdate } from '@netlet/contract'
import { and, eq, inArray, isNull } from '../../infra/db/drizzle.ts'
import type { z } from 'zod'
import type { ShopifyProduct } from '../../integrations/shopify/index.ts'
import type { Executor } from '../../infra/db/client.ts'
import { command } from '../../infra/command.ts'
import type { Actor } from '../../infra/actor.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { staleEdit, type Edit } from '../../infra/version.ts'
import type { AppContext } from '../../infra/context.ts'
import {
  checkEgress,
  checkGroupings,
  checkRuleVariants,
  checkServerGroups,
  findRepeatedVariant,
  type VariantInput
} from './check-product.ts'
import { fetchProduct, findUnknownVariant, limitColumns, setTags, variantRow } from './create-product.ts'
import { loadProducts, productFields, type ProductRow } from './load-products.ts'
import { withPriceLock, writePrices } from './write-platform-prices.ts'
import { readStockNow } from './stock-board.ts'
import { products, productTags, variants } from './tables.ts'

type ProductChange = z.output<typeof ProductUpdate>
type VariantRow = typeof variants.$inferSelect

/**
 * Saves a product's form. Variants with an id change, those without are added at the platform's price, missing ones are
 * deleted; their rows stay for orders. Saving clears the flag of a change on the platform. Changed prices go to the
 * platform first; if our save is then refused, the platform gets its former prices back.
 */
export async function updateProduct(
  ctx: AppContext,
  by: Actor,
  id: number,
  { version, ...form }: Edit<ProductChange>
): Promise<Result<{ id: number }>> {
  const repeated = findRepeatedVariant(form.variants)
  if (repeated) return repeated
  const added = form.variants.filter(variant => variant.id === undefined)
  let source: ShopifyProduct | undefined
  if (added.length > 0) {
    // Before the transaction, so that no row is locked while we wait for the platform.
    const fetched = await fetchProduct(ctx, form.shopify_product_id)
    if (!fetched.ok) return fetched
    source = fetched.data
    const unknown = findUnknownVariant(added, source)
    if (unknown) return unknown
  }
  // Before any write, so that a form that we would refuse changes no price on the platform.
  const planned = await command(ctx, by, ({ tx }) => checkUpdate(tx, id, { ...form, version }))
  if (!planned.ok) return planned
  const edit = { id, form: { ...form, version }, source }
  if (repricedVariants(form.variants, planned.data.variants).length === 0) return save(ctx, by, edit, [])
  return withPriceLock(ctx, async () => {
    // Again: another save may have come first.
    const checked = await command(ctx, by, ({ tx }) => checkUpdate(tx, id, { ...form, version }))
    if (!checked.ok) return checked
    const repriced = repricedVariants(form.variants, checked.data.variants)
    return writePrices(ctx, checked.data.product.platformId, byPlatformId(repriced), () =>
      save(ctx, by, edit, repriced)
    )
  })
}

type ProductEdit = { id: number; form: Edit<ProductChange>; source: ShopifyProduct | undefined }

/** Saves the form. @param repriced the variants whose new price the platform has */
async function save(
  ctx: AppContext,
  by: Actor,
  { id, form, source }: ProductEdit,
  repriced: readonly VariantInput[]
): Promise<Result<{ id: number }>> {
  const unique = { variants_platform_key: 'product_exists', variants_options_key: 'conflict' } as const
  return command(ctx, by, { unique }, async unit => {
    const { tx } = unit
    const checked = await checkUpdate(tx, id, form)
    if (!checked.ok) return checked
    const before = checked.data
    const audited = await readAudited(tx, before.product)
    const [row] = await tx
      .update(products)
      .set({
        name: form.product_name,
        description: form.product_desc,
        translations: form.translations,
        active: form.active ?? before.product.active,
        oldFlag: false
      })
      .where(eq(products.id, id))
      .returning()
    if (!row) throw new Error('a locked product is there')
    await saveVariants(tx, id, form.variants, { before: before.variants, source, at: unit.now, repriced })
    if (form.product_tags) await setTags(tx, id, form.product_tags)
    unit.audit('product.edit', id, { before: audited, after: await readAudited(tx, row) })
    return ok({ id })
  })
}

/** Removes a product from the shop permanently. Its row stays for its orders. */
export async function deleteProduct(ctx: AppContext, by: Actor, id: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const { tx, now: at } = unit
    const before = await lockProduct(tx, id)
    if (!before) return refuse('not_found')
    const audited = await readAudited(tx, before.product)
    await tx.update(products).set({ deletedAt: at, active: false }).where(eq(products.id, id))
    await tx
      .update(variants)
      .set({ deletedAt: at, isActive: false })
      .where(and(eq(variants.productId, id), isNull(variants.deletedAt)))
    unit.audit('product.delete', id, { before: audited })
    return done
  })
}

/** Locks a product and checks whether the form may be saved. */
async function checkUpdate(tx: Executor, id: number, { version, ...form }: Edit<ProductChange>) {
  const before = await lockProduct(tx, id)
  if (!before) return refuse('not_found')
  const stale = version === undefined ? undefined : await findStale(tx, before.product, { ...form, version })
  if (stale) return stale
  if (form.shopify_product_id !== before.product.platformId) return fieldRefusal('shopify_product_id', 'is_fixed')
  const wrong =
    checkKept(form.variants, before.variants) ??
    checkEgress(form.variants, before.variants) ??
    (await checkRuleVariants(tx, form.variants)) ??
    (await checkServerGroups(tx, form.variants, before.variants)) ??
    (await checkGroupings(tx, { tagIds: newTags(form.product_tags, before.tagIds) }))
  return wrong ?? ok(before)
}

const repricedVariants = (given: readonly VariantInput[], present: readonly VariantRow[]): VariantInput[] =>
  given.filter(variant => {
    const row = present.find(one => one.id === variant.id)
    return row !== undefined && row.price !== variant.variant_price
  })

const byPlatformId = (given: readonly VariantInput[]): Map<string, string> =>
  new Map(given.map(variant => [variant.shopify_variant_id, variant.variant_price]))

async function lockProduct(tx: Executor, id: number) {
  const [product] = await tx
    .select()
    .from(products)
    .where(and(eq(products.id, id), isNull(products.deletedAt)))
    .for('update')
  if (!product) return undefined
  const rows = await tx
    .select()
    .from(variants)
    .where(and(eq(variants.productId, id), isNull(variants.deletedAt)))
  const tagged = await tx.select({ tagId: productTags.tagId }).from(productTags).where(eq(productTags.productId, id))
  return { product, variants: rows, tagIds: tagged.map(row => row.tagId) }
}

async function readProduct(tx: Executor, row: ProductRow) {
  const [product] = await loadProducts(tx, { read: keys => readStockNow(tx, keys) }, [row], 'admin')
  if (!product) throw new Error('one row makes one product')
  return product
}

/** A product for the audit log: its form's fields, with the names of what they refer to. */
async function readAudited(tx: Executor, row: ProductRow) {
  const product = await readProduct(tx, row)
  const { variants: all, product_tags: _ids, ...fields } = productFields(product)
  return {
    ...fields,
    variants: all.map((variant, at) => ({
      ...variant,
      server_group: product.variants[at]?.server_group?.name ?? null
    })),
    product_tags: product.product_tags.map(({ tag_name }) => tag_name)
  }
}

/** Refuses a form of another version of the product. The product's row is locked. */
async function findStale(tx: Executor, row: ProductRow, { version, ...form }: Edit<ProductChange>) {
  const product = await readProduct(tx, row)
  const variantsSent = form.variants.map(variant => ({ ...variant, server_group: variant.server_group ?? null }))
  const sent = { ...form, variants: variantsSent, product_tags: form.product_tags?.toSorted((a, b) => a - b) }
  return staleEdit(version, product, { now: productFields(product), sent })
}

/** A product may keep a tag that was deleted. Only new tags must exist. */
const newTags = (given: number[] | undefined, present: number[]) => (given ?? []).filter(id => !present.includes(id))

/** A variant's platform id and block size are fixed: orders and leases depend on them. */
function checkKept(given: readonly VariantInput[], present: readonly VariantRow[]) {
  for (const [at, variant] of given.entries()) {
    if (variant.id === undefined) continue
    const row = present.find(one => one.id === variant.id)
    if (!row) return fieldRefusal(`variants.${at}.id`, 'choice_gone')
    if (row.platformId !== variant.shopify_variant_id)
      return fieldRefusal(`variants.${at}.shopify_variant_id`, 'is_fixed')
    if (row.cartStep !== variant.cart_step) return fieldRefusal(`variants.${at}.cart_step`, 'is_fixed')
  }
  return undefined
}

async function saveVariants(
  tx: Executor,
  productId: number,
  given: readonly VariantInput[],
  {
    before,
    source,
    at,
    repriced
  }: {
    before: readonly VariantRow[]
    source: ShopifyProduct | undefined
    at: Date
    repriced: readonly VariantInput[]
  }
): Promise<void> {
  const kept = new Set(given.map(variant => variant.id))
  const left = before.filter(row => !kept.has(row.id)).map(row => row.id)
  if (left.length > 0)
    await tx.update(variants).set({ deletedAt: at, isActive: false }).where(inArray(variants.id, left))
  for (const variant of given) {
    if (variant.id === undefined) {
      if (source) await tx.insert(variants).values(variantRow(productId, variant, source, at))
      continue
    }
    await tx
      .update(variants)
      .set({
        description: variant.variant_desc,
        ...(repriced.includes(variant) ? { price: variant.variant_price } : {}),
        proxyTime: variant.proxy_time,
        ...limitColumns(variant),
        addressFamily: variant.address_family,
        egress: variant.egress,
        isActive: variant.is_active,
        serverGroupId: variant.server_group ?? null
      })
      .where(eq(variants.id, variant.id))
  }
}
