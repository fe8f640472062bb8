import { type AddressFamily, type EgressMode, type PlanLimits, type Translations, refuse } from '@netlet/contract'
import { and, eq, isNotNull, isNull, sql } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { products, variants } from './tables.ts'

type Columns = Pick<typeof variants.$inferSelect, 'trafficGb' | 'mbps' | 'connections' | 'connectionsPerSecond'>

/** A variant's limits under the contract's names. */
export const limitsOf = ({ trafficGb, mbps, connections, connectionsPerSecond }: Columns): PlanLimits => ({
  traffic_gb: trafficGb,
  mbps,
  connections,
  connections_per_second: connectionsPerSecond
})

/** The same for a query. */
const limitFields = {
  traffic_gb: variants.trafficGb,
  mbps: variants.mbps,
  connections: variants.connections,
  connections_per_second: variants.connectionsPerSecond
}

/** A variant that can be bought now, with all that an order stores of it. */
export type SellableVariant = {
  variantId: number
  /** The platform's id, for the checkout link. */
  platformVariantId: string
  variantName: string
  productId: number
  productName: string
  /** Of the product. */
  translations: Translations
  groupId: number
  /** Addresses in a block. */
  step: number
  /** Days. */
  proxyTime: number
  /** For one address: '2.20'. */
  price: string
  limits: PlanLimits
  family: AddressFamily
  egress: EgressMode
  /** The platform keeps a stock of it. */
  isCounted: boolean
}

export type OptionChoice = { option1: string; option2: string; option3: string }

/**
 * The active variant of an offered product with exactly these options ('' for none). Refuses
 * 'unknown_variant', and 'sold_out_on_platform' if a checkout would refuse it.
 */
export async function findVariant(
  db: Executor,
  { productId, options }: { productId: number; options: OptionChoice }
): Promise<Result<SellableVariant>> {
  const [found] = await db
    .select({
      variantId: variants.id,
      platformVariantId: variants.platformId,
      variantName: variants.name,
      productId: products.id,
      productName: products.name,
      translations: products.translations,
      groupId: sql<number>`${variants.serverGroupId}`.mapWith(Number),
      step: variants.cartStep,
      proxyTime: variants.proxyTime,
      price: variants.price,
      limits: limitFields,
      family: variants.addressFamily,
      egress: variants.egress,
      platformStock: variants.platformStock
    })
    .from(variants)
    .innerJoin(products, eq(products.id, variants.productId))
    .where(
      and(
        eq(variants.productId, productId),
        sql`coalesce(${variants.option1}, '') = ${options.option1}`,
        sql`coalesce(${variants.option2}, '') = ${options.option2}`,
        sql`coalesce(${variants.option3}, '') = ${options.option3}`,
        isNull(variants.deletedAt),
        variants.isActive,
        isNotNull(variants.serverGroupId),
        isNull(products.deletedAt),
        products.active,
        products.valid
      )
    )
  if (!found) return refuse('unknown_variant')
  const { platformStock, ...variant } = found
  if (platformStock === 'sold_out') return refuse('sold_out_on_platform', { params: { name: variant.variantName } })
  return ok({ ...variant, isCounted: platformStock === 'counted' })
}
