import {
  type AddressFamily,
  type EgressMode,
  type PlanLimits,
  type Translations,
  type VariantInfo,
  fromCents,
  refuse,
  toCents
} from '@netlet/contract'
import type { Executor } from '../../infra/db/client.ts'
import { and, eq, isNotNull, isNull, sql } from '../../infra/db/drizzle.ts'
import { type Result, ok } from '../../infra/result.ts'
import { rulesById, stockForRules } from '../inventory/index.ts'
import { products, variants } from './tables.ts'

/** A selection and the price of one address. */
export type PricedSelection = {
  variant: SellableVariant
  /** The rules' ids, ascending and distinct. */
  rules: number[]
  /** The rules' platform variants, in the order of `rules`: each is a line of the checkout. */
  rulePlatformVariants: string[]
  /** The rules' names, in the order of `rules`. */
  ruleNames: string[]
  /** The platform keeps a stock of a part of it. */
  isCounted: boolean
  basePrice: string
  aclPrice: string
  /** basePrice + aclPrice. */
  price: string
}

/**
 * Prices a variant with access rules, exactly. Refuses 'unknown_variant', 'no_rule', 'chosen_twice', and
 * 'unknown_rule' for a rule that is no longer on sale.
 */
export async function priceOneAddress(
  db: Executor,
  { productId, options, rules }: { productId: number; options: OptionChoice; rules: readonly number[] }
): Promise<Result<PricedSelection>> {
  if (rules.length === 0) return refuse('no_rule')
  if (new Set(rules).size !== rules.length) return refuse('chosen_twice')
  const variant = await findVariant(db, { productId, options })
  if (!variant.ok) return variant
  const found = (await rulesById(db, [...rules])).toSorted((a, b) => a.id - b.id)
  if (found.length !== rules.length) return refuse('unknown_rule')
  const base = toCents(variant.data.price)
  const added = found.reduce((sum, rule) => sum + toCents(rule.price), 0n)
  return ok({
    variant: variant.data,
    rules: found.map(rule => rule.id),
    rulePlatformVariants: found.map(rule => rule.platformVariantId),
    ruleNames: found.map(rule => rule.name),
    isCounted: variant.data.isCounted || found.some(rule => rule.platformStock === 'counted'),
    basePrice: fromCents(base),
    aclPrice: fromCents(added),
    price: fromCents(base + added)
  })
}

/** Current stock and price of a variant with these rules. An order checks both again. */
export async function quoteVariant(
  db: Executor,
  { productId, options, rules }: { productId: number; options: OptionChoice; rules: readonly number[] }
): Promise<Result<VariantInfo>> {
  const priced = await priceOneAddress(db, { productId, options, rules })
  if (!priced.ok) return priced
  const { variant } = priced.data
  return ok({
    price: priced.data.price,
    base_price: priced.data.basePrice,
    acl_price: priced.data.aclPrice,
    stock: await stockForRules(db, {
      groupId: variant.groupId,
      step: variant.step,
      rules: priced.data.rules,
      family: variant.family
    }),
    cart_step: variant.step,
    local_variant_id: variant.variantId,
    shopify_variant_id: variant.platformVariantId
  })
}

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
type SellableVariant = {
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
