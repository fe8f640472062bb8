import { refuse } from '@netlet/contract'
import { inArray, or } from 'drizzle-orm'
import type { ShopifyPricedVariant } from '../../integrations/shopify/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { openPlatform, platformRefusal } from '../commerce/index.ts'
import { type PlatformPrice, rulesOnPlatform, type RulePrices } from '../inventory/index.ts'
import { priceDrifts, variants } from './tables.ts'
import { wholeCents } from './whole-cents.ts'

/** What the platform says of a variant, as we keep it. */
export const platformPriceOf = ({ price, productId, forSale, updatedAt }: ShopifyPricedVariant): PlatformPrice => ({
  price: wholeCents(price),
  productId,
  forSale,
  updatedAt
})

/**
 * Writes prices of one product's variants to the platform, all or none. Prices of a shop without a platform are its own,
 * and there is nothing to write.
 * @param prices by the platform's variant id
 */
export async function writePrices(
  ctx: AppContext,
  platformProductId: string,
  prices: ReadonlyMap<string, string>
): Promise<Result<null>> {
  if (prices.size === 0) return done
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform.reason === 'platform_not_configured' ? done : platform
  const written = await platform.data.setPrices(platformProductId, prices)
  if (!written.ok) return platformRefusal(written)
  await command(ctx, SYSTEM, unit => forgetDrifts(unit, [...prices.keys()]))
  return done
}

/** The variant of the platform; null where no platform is set up, 'unknown_platform_variant' where it has none of that id. */
async function readVariant(ctx: AppContext, platformVariantId: string): Promise<Result<ShopifyPricedVariant | null>> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform.reason === 'platform_not_configured' ? ok(null) : platform
  const read = await platform.data.variants([platformVariantId])
  if (!read.ok) return platformRefusal(read)
  const found = read.value.get(platformVariantId)
  return found ? ok(found) : refuse('unknown_platform_variant')
}

/** What the inventory, which knows no platform, needs for the prices of rules. */
export const rulePrices: RulePrices = {
  async read(ctx, platformVariantId) {
    const found = await readVariant(ctx, platformVariantId)
    if (found.ok) return ok(found.data && platformPriceOf(found.data))
    return found.reason === 'unknown_platform_variant'
      ? fieldRefusal('shopify_variant_id', 'unknown_platform_variant')
      : found
  },
  async write(ctx, platformVariantId, price) {
    const found = await readVariant(ctx, platformVariantId)
    if (!found.ok) return found
    return found.data ? writePrices(ctx, found.data.productId, new Map([[platformVariantId, price]])) : done
  }
}

/** What was noted of these variants of the platform is settled. */
export async function forgetDrifts(unit: Unit, platformVariantIds: readonly string[]): Promise<void> {
  if (platformVariantIds.length === 0) return
  const ofVariants = await unit.tx
    .select({ id: variants.id })
    .from(variants)
    .where(inArray(variants.platformId, [...platformVariantIds]))
  const ofRules = (await rulesOnPlatform(unit.tx)).filter(rule => platformVariantIds.includes(rule.platformVariantId))
  const gone = [
    ofVariants.length > 0 &&
      inArray(
        priceDrifts.variantId,
        ofVariants.map(row => row.id)
      ),
    ofRules.length > 0 &&
      inArray(
        priceDrifts.ruleId,
        ofRules.map(row => row.id)
      )
  ].filter(condition => condition !== false)
  if (gone.length > 0) await unit.tx.delete(priceDrifts).where(or(...gone))
}
