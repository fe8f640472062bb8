import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { ProductEvent, type ShopifyProduct } from '../../integrations/shopify/index.ts'
import { noteCheck, openPlatform } from '../commerce/index.ts'
import { followRules } from '../inventory/index.ts'
import { applyProductUpdate, withdrawProduct } from './apply-product-event.ts'
import { optionsOf } from './platform-products.ts'
import { comparePrices } from './price-drift.ts'
import { productsOnPlatform } from './selling.ts'

/**
 * Reads all prices from the platform and follows those that differ, and whatever else has changed of their products: a
 * shop that a webhook never reached has the platform's prices within the hour.
 * @throws where another try may help
 */
export async function readPrices(ctx: AppContext): Promise<void> {
  const seen = await comparePrices(ctx)
  if (!seen) return
  await command(ctx, SYSTEM, unit => followRules(unit, seen.rules))
  for (const platformId of seen.changed) await rereadProduct(ctx, platformId)
  // What could be followed differs no longer.
  if (seen.changed.length > 0) await comparePrices(ctx)
}

/**
 * Reads every product again, the ones that hold rules too, as if the platform had told of each.
 * @returns how many were read, and how many were other than known
 * @throws where another try may help
 */
export async function readProducts(ctx: AppContext): Promise<void> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return
  const ours = new Set(await productsOnPlatform(ctx.db))
  let read = 0
  for await (const part of platform.data.productPages()) {
    if (!part.ok) {
      await noteCheck(ctx, 'products', { error: part.message })
      if (part.retryable) throw new Error(part.message)
      return
    }
    for (const product of part.value) {
      await command(ctx, SYSTEM, unit => applyProductUpdate(unit, asEvent(product)))
      ours.delete(product.id)
      read++
    }
  }
  // Not on any page: asked for one by one, since a page may have been read while the platform changed.
  for (const platformId of ours) await rereadProduct(ctx, platformId)
  await noteCheck(ctx, 'products', { read, changed: ours.size })
}

async function rereadProduct(ctx: AppContext, platformId: string): Promise<void> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return
  const product = await platform.data.product(platformId)
  if (product.ok) await command(ctx, SYSTEM, unit => applyProductUpdate(unit, asEvent(product.value)))
  else if (product.reason === 'not_found') await command(ctx, SYSTEM, unit => withdrawProduct(unit, { id: platformId }))
  else throw new Error(product.message)
}

/** A product as its webhook would have told it. */
function asEvent(product: ShopifyProduct): ProductEvent {
  return ProductEvent.parse({
    id: product.id,
    title: product.title,
    status: product.status.toLowerCase(),
    tags: product.tags.join(','),
    updated_at: product.updatedAt,
    options: product.options,
    variants: product.variants.map(variant => {
      const [option1, option2, option3] = optionsOf(variant)
      return {
        id: variant.id,
        title: variant.title,
        price: variant.price,
        position: variant.position,
        option1,
        option2,
        option3
      }
    })
  })
}
