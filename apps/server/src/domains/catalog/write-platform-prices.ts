import { refuse } from '@netlet/contract'
import { and, eq, inArray, isNull, or } from '../../infra/db/drizzle.ts'
import { PRICES_A_CALL, type ShopifyPricedVariant, type ShopifyReason } from '../../integrations/shopify/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { withSessionLock } from '../../infra/db/session-lock.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { openPlatform, platformRefusal } from '../commerce/index.ts'
import { type PlatformPrice, rulesOnPlatform, type RulePrices } from '../inventory/index.ts'
import { priceDrifts, products, variants } from './tables.ts'
import { wholeCents } from './whole-cents.ts'

/** The platform's data of a variant in our form. */
export const platformPriceOf = ({
  price,
  isProductForSale,
  ...rest
}: ShopifyPricedVariant): PlatformPrice & { unlisted: boolean } => ({
  ...rest,
  forSale: isProductForSale,
  price: wholeCents(price)
})

/** How long a save waits for another save of prices, in milliseconds. */
const WAIT_MS = 20_000

/** Checks, writes and saves prices while no other process writes prices to the platform. */
export async function withPriceLock<T>(ctx: AppContext, work: () => Promise<Result<T>>): Promise<Result<T>> {
  // One lock for all products. With a lock for each, a person who saves many at once would hold many connections.
  const locked = await withSessionLock(ctx.db, 'platformPrices', 0, work, { waitMs: WAIT_MS })
  return locked.ran ? locked.value : refuse('prices_busy')
}

/** After these failures we do not know whether the platform has the new prices. */
const UNCLEAR: ReadonlySet<ShopifyReason> = new Set(['timeout', 'network', 'server_error', 'bad_reply'])

/**
 * Writes prices of one product's variants to the platform, all or none, and then saves here. If our save is refused,
 * for example after a deletion, it restores the platform's former prices. Without a platform it only saves. Call it
 * within `withPriceLock`.
 * @param prices by the platform's variant id
 */
export async function writePrices<T>(
  ctx: AppContext,
  platformProductId: string,
  prices: ReadonlyMap<string, string>,
  save: () => Promise<Result<T>>
): Promise<Result<T>> {
  if (prices.size === 0) return save()
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform.reason === 'platform_not_configured' ? save() : platform
  const read = await platform.data.variants([...prices.keys()])
  if (!read.ok) return platformRefusal(read)
  const former = new Map([...read.value].map(([id, variant]) => [id, wholeCents(variant.price)]))
  const takeBack = async () => {
    if (former.size > 0) await platform.data.setPrices(platformProductId, former)
  }
  const written = await platform.data.setPrices(platformProductId, prices)
  if (!written.ok) {
    // The first of several calls may have succeeded.
    if (UNCLEAR.has(written.reason) || prices.size > PRICES_A_CALL) await takeBack()
    return platformRefusal(written)
  }
  const saved = await save()
  if (saved.ok) await command(ctx, SYSTEM, unit => forgetDrifts(unit, [...prices.keys()]))
  else await takeBack()
  return saved
}

/** The platform's variant. Null without a platform; 'unknown_platform_variant' if the platform does not have it. */
async function readVariant(ctx: AppContext, platformVariantId: string): Promise<Result<ShopifyPricedVariant | null>> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform.reason === 'platform_not_configured' ? ok(null) : platform
  const read = await platform.data.variants([platformVariantId])
  if (!read.ok) return platformRefusal(read)
  const found = read.value.get(platformVariantId)
  return found ? ok(found) : refuse('unknown_platform_variant')
}

/** Connects the inventory, which does not know the platform, with the prices of its rules. */
export const rulePrices: RulePrices = {
  async planSoldAs(db, platformVariantId) {
    const [plan] = await db
      .select({ product: products.name, variant: variants.name })
      .from(variants)
      .innerJoin(products, eq(products.id, variants.productId))
      .where(and(eq(variants.platformId, platformVariantId), isNull(variants.deletedAt)))
    return plan && `${plan.product}: ${plan.variant}`
  },
  async read(ctx, platformVariantId) {
    const found = await readVariant(ctx, platformVariantId)
    if (found.ok) return ok(found.data && platformPriceOf(found.data))
    return found.reason === 'unknown_platform_variant'
      ? fieldRefusal('shopify_variant_id', 'unknown_platform_variant')
      : found
  },
  write: (ctx, platformVariantId, price, { check, save }) =>
    withPriceLock(ctx, async () => {
      const refused = await check()
      if (refused) return refused
      const found = await rulePrices.read(ctx, platformVariantId)
      if (!found.ok) return found
      return found.data ? writePrices(ctx, found.data.productId, new Map([[platformVariantId, price]]), save) : save()
    })
}

/** Deletes the noted price differences of these platform variants. */
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
