import { and, eq, inArray, isNull, or } from '../../infra/db/drizzle.ts'
import type { ProductDeletedEvent, ProductEvent } from '../../integrations/shopify/index.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { queue } from '../../infra/jobs.ts'
import type { EventResult } from '../commerce/index.ts'
import {
  syncRules,
  isDeletedOnPlatform,
  recordDeletion,
  type PlatformPrice,
  ruleVariantsOf
} from '../inventory/index.ts'
import { updateOptions } from './options.ts'
import { forgetDrifts } from './write-platform-prices.ts'
import { products, variants } from './tables.ts'
import { isStockTracked } from './check-product.ts'
import { wholeCents } from './whole-cents.ts'

/** Reads one product from the platform, because an event did not contain all of its variants. */
export const readProductQueue = queue<{ platformId: string }>('read-platform-product', {
  retryLimit: 5,
  expireInSeconds: 300
})

/** The platform deleted a product. Its id never comes back, so later events and earlier readings cannot restore it. */
export async function applyProductDeletion(unit: Unit, event: ProductDeletedEvent): Promise<EventResult> {
  await recordDeletion(unit, event.id)
  return withdrawProduct(unit, event)
}

/** The platform no longer sells a product. It stays in the shop, but neither it nor its rules can be bought. */
export async function withdrawProduct(unit: Unit, { id: platformId }: ProductDeletedEvent): Promise<EventResult> {
  const rules = await syncRules(unit, new Map((await ruleVariantsOf(unit.tx, platformId)).map(id => [id, undefined])))
  const [gone] = await unit.tx
    .update(products)
    .set({ valid: false, unpublished: false, subscriptionOnly: false })
    .where(
      and(
        eq(products.platformId, platformId),
        isNull(products.deletedAt),
        or(products.valid, products.unpublished, products.subscriptionOnly)
      )
    )
    .returning({ id: products.id })
  if (!gone) return { outcome: rules.length > 0 ? 'withdrawn' : 'not_sold' }
  unit.audit('product.withdraw', gone.id, { after: { valid: false } })
  return { outcome: 'withdrawn' }
}

/**
 * Follows the platform's change of a product: of our plan, and of the rules that are sold as its variants. It ignores
 * events that are older than our data or about a deleted product.
 */
export async function applyProductUpdate(unit: Unit, event: ProductEvent): Promise<EventResult> {
  const toldAt = event.updated_at ? new Date(event.updated_at) : null
  const ruleVariants = await ruleVariantsOf(unit.tx, event.id)
  const rules = await syncRules(unit, ruleChanges(event, ruleVariants, toldAt), toldAt)
  const result = await updateProductFromEvent(unit, event)
  if (result.outcome !== 'ignored')
    await forgetDrifts(
      unit,
      event.variants.map(variant => variant.id)
    )
  const isOurs = result.outcome === 'applied' || (result.outcome === 'not_sold' && ruleVariants.length > 0)
  const isPartial = event.otherVariants?.length !== 0
  if (isOurs && (isPartial || (await mayBeSoldOut(unit.tx, event))))
    unit.jobs.send(readProductQueue, { platformId: event.id }, { key: event.id })
  return result.outcome === 'not_sold' && rules.length > 0 ? { outcome: 'applied' } : result
}

/** A webhook follows each sale of what is counted, and does not say what is sold out. */
const mayBeSoldOut = async (tx: Executor, { id, variants: told }: ProductEvent): Promise<boolean> =>
  told.some(({ stock }) => stock === undefined) && (await isStockTracked(tx, id))

/** Tests whether a variant of the platform's product was deleted. The event may contain only some of them. */
function isGone({ variants: described, otherVariants }: ProductEvent): (platformId: string) => boolean {
  const there = new Set([...described.map(({ id }) => id), ...(otherVariants ?? [])])
  return platformId => otherVariants !== null && !there.has(platformId)
}

/** The event's news of each variant that may sell a rule; undefined for deleted variants. */
function ruleChanges(
  event: ProductEvent,
  ruleVariants: readonly string[],
  updatedAt: Date | null
): Map<string, PlatformPrice | undefined> {
  const news = new Map<string, PlatformPrice | undefined>(ruleVariants.filter(isGone(event)).map(id => [id, undefined]))
  for (const { id, price, stock = null, shipped = null } of event.variants)
    news.set(id, {
      price: wholeCents(price),
      productId: event.id,
      forSale: event.forSale,
      unpublished: event.unpublished,
      subscriptionOnly: event.subscriptionOnly,
      stock,
      shipped,
      updatedAt
    })
  return news
}

async function updateProductFromEvent(unit: Unit, event: ProductEvent): Promise<EventResult> {
  const { tx } = unit
  const [product] = await tx
    .select()
    .from(products)
    .where(and(eq(products.platformId, event.id), isNull(products.deletedAt)))
    .for('update')
  if (await isDeletedOnPlatform(tx, event.id)) return { outcome: 'ignored' }
  if (!product) return { outcome: 'not_sold' }
  const updatedAt = event.updated_at ? new Date(event.updated_at) : null
  if (product.platformUpdatedAt && updatedAt && updatedAt < product.platformUpdatedAt) return { outcome: 'ignored' }
  const known = await tx
    .select()
    .from(variants)
    .where(and(eq(variants.productId, product.id), isNull(variants.deletedAt)))
  const there = new Map(event.variants.map(variant => [variant.id, variant]))
  // The platform never reuses a variant's id. Deleting ours frees its options for another variant.
  const isGoneThere = isGone(event)
  const gone = known.filter(variant => isGoneThere(variant.platformId)).map(variant => variant.id)
  if (gone.length > 0)
    await tx.update(variants).set({ isActive: false, deletedAt: unit.now }).where(inArray(variants.id, gone))
  const repriced = await updateVariantsFromEvent(tx, known, there)
  const relabelled = await updateOptions(tx, product.id, event.options)
  const ids = new Set(known.map(({ platformId }) => platformId))
  const added = [...there.keys(), ...(event.otherVariants ?? [])].some(id => !ids.has(id))
  const unpublished = event.unpublished ?? product.unpublished
  const subscriptionOnly = event.subscriptionOnly ?? product.subscriptionOnly
  const after = {
    name: event.title,
    valid: event.forSale && !unpublished && !subscriptionOnly,
    unlisted: event.unlisted,
    unpublished,
    subscriptionOnly,
    // Variants came or went, and an administrator has to decide about them. The flag stays until the product is saved,
    // regardless of further events.
    oldFlag: product.oldFlag || added || gone.length > 0
  }
  await tx
    .update(products)
    .set({ ...after, platformUpdatedAt: updatedAt ?? product.platformUpdatedAt })
    .where(eq(products.id, product.id))
  const { name, valid, unlisted, oldFlag } = product
  const was = { unpublished: product.unpublished, subscriptionOnly: product.subscriptionOnly }
  const before = { name, valid, unlisted, ...was, oldFlag }
  // The platform also sends an event for each sale. Without a change here there is no audit entry.
  const differs = Object.entries(after).some(([key, value]) => before[key as keyof typeof after] !== value)
  if (differs || repriced || relabelled || gone.length > 0) unit.audit('product.follow', product.id, { before, after })
  return { outcome: 'applied' }
}

type EventVariant = ProductEvent['variants'][number]

/** Updates names, options and prices of variants that both sides have. @returns whether any changed */
async function updateVariantsFromEvent(
  tx: Executor,
  known: readonly (typeof variants.$inferSelect)[],
  there: ReadonlyMap<string, EventVariant>
): Promise<boolean> {
  const changes = known.flatMap(variant => {
    const now = there.get(variant.platformId)
    if (!now) return []
    const change = {
      price: wholeCents(now.price),
      platformStock: now.stock ?? variant.platformStock,
      shipped: now.shipped ?? variant.shipped,
      name: [now.option1, now.option2, now.option3].filter(Boolean).join(' / ') || now.title,
      option1: now.option1 ?? null,
      option2: now.option2 ?? null,
      option3: now.option3 ?? null
    }
    const differs = Object.entries(change).some(([key, value]) => variant[key as keyof typeof change] !== value)
    return differs ? [{ variant, change }] : []
  })
  // Two variants may have swapped their options, which are unique. Park all changed ones on temporary values first.
  for (const { variant } of changes)
    await tx
      .update(variants)
      .set({ option1: `moving ${variant.id}` })
      .where(eq(variants.id, variant.id))
  for (const { variant, change } of changes) await tx.update(variants).set(change).where(eq(variants.id, variant.id))
  return changes.length > 0
}
