import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { PRODUCT_STATUSES, ProductEvent, type ShopifyProduct } from '../../integrations/shopify/index.ts'
import { saveCheck, openPlatform } from '../commerce/index.ts'
import { syncRules } from '../inventory/index.ts'
import { applyProductUpdate, withdrawProduct } from './apply-product-event.ts'
import { optionsOf } from './platform-products.ts'
import { comparePrices } from './price-drift.ts'
import { productsOnPlatform } from './snapshot.ts'

/**
 * Reads all prices from the platform and follows each product that differs, so that a shop that misses webhooks is at
 * most an hour behind.
 * @throws if a retry may help
 */
export async function readPrices(ctx: AppContext): Promise<void> {
  const seen = await comparePrices(ctx)
  if (!seen) return
  const refused = [seen.gone.products, seen.gone.rules].some(({ gone, of }) => isDoubtful(gone, of))
  if (refused) return saveCheck(ctx, 'prices', { error: DOUBTFUL })
  await command(ctx, SYSTEM, unit => syncRules(unit, seen.rules))
  for (const platformId of seen.changed) await rereadProduct(ctx, platformId)
  // Compares again: the differences that were followed are gone.
  if (seen.changed.length > 0) await comparePrices(ctx)
}

/**
 * Reads every product again, including those that hold rules, as if the platform had sent an event for each. If most
 * products would go off sale, it only notes that for the health page, unless an administrator asked.
 * @param asked an administrator asked
 * @throws if a retry may help
 */
export async function readProducts(ctx: AppContext, { asked = false }: { asked?: boolean } = {}): Promise<void> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return
  const ours = new Set(await productsOnPlatform(ctx.db))
  const known = ours.size
  let read = 0
  for await (const part of platform.data.productPages()) {
    if (!part.ok) {
      await saveCheck(ctx, 'products', { error: part.message })
      if (part.retryable) throw new Error(part.message)
      return
    }
    for (const product of part.value) {
      logUnknownStatus(ctx, product)
      await command(ctx, SYSTEM, unit => applyProductUpdate(unit, asEvent(product)))
      ours.delete(product.id)
      read++
    }
  }
  // Products on no page are read one by one: the platform may have changed between two pages.
  const gone: string[] = []
  for (const platformId of ours) if (!(await applyWhereFound(ctx, platformId))) gone.push(platformId)
  if (!asked && isDoubtful(gone.length, known)) return saveCheck(ctx, 'products', { error: DOUBTFUL })
  for (const id of gone) await command(ctx, SYSTEM, unit => withdrawProduct(unit, { id }))
  await saveCheck(ctx, 'products', { read, changed: ours.size })
}

const DOUBTFUL =
  'The platform returned less than half of the products on sale here, so nothing was taken off sale. If they are really gone, sync the products on the Products screen.'

/** A platform that loses most of its products between two readings is probably at fault. */
const isDoubtful = (gone: number, of: number): boolean => gone > 0 && (gone === of || (of >= 4 && gone * 2 > of))

/** Follows the platform's current state of one product. @throws if a retry may help */
export async function rereadProduct(ctx: AppContext, platformId: string): Promise<void> {
  if (!(await applyWhereFound(ctx, platformId)))
    await command(ctx, SYSTEM, unit => withdrawProduct(unit, { id: platformId }))
}

/**  @returns false if the platform does not have the product */
async function applyWhereFound(ctx: AppContext, platformId: string): Promise<boolean> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return true
  const product = await platform.data.product(platformId)
  if (product.ok) {
    logUnknownStatus(ctx, product.value)
    await command(ctx, SYSTEM, unit => applyProductUpdate(unit, asEvent(product.value)))
  } else if (product.reason !== 'not_found') throw new Error(product.message)
  return product.ok
}

/** Statuses that this process has logged. */
const logged = new Set<string>()
const MOST_LOGGED = 10

/** The platform may introduce another status. It takes the products that have it off sale. */
function logUnknownStatus(ctx: Pick<AppContext, 'log'>, { id, status }: ShopifyProduct): void {
  if (PRODUCT_STATUSES.includes(status) || logged.has(status) || logged.size >= MOST_LOGGED) return
  logged.add(status)
  ctx.log.warn({ product: id, status }, 'a product has a status that is not known, and is not for sale')
}

/** A product in the form of its webhook. */
export function asEvent(product: ShopifyProduct): ProductEvent {
  return ProductEvent.parse({
    id: product.id,
    title: product.title,
    status: product.status.toLowerCase(),
    tags: product.tags.join(','),
    published_at: product.publishedAt,
    requires_selling_plan: product.requiresSellingPlan,
    updated_at: product.updatedAt,
    options: product.options,
    variant_gids: [],
    variants: product.variants.map(variant => {
      const [option1, option2, option3] = optionsOf(variant)
      return {
        id: variant.id,
        title: variant.title,
        price: variant.price,
        position: variant.position,
        option1,
        option2,
        option3,
        stock: variant.stock,
        shipped: variant.shipped
      }
    })
  })
}
