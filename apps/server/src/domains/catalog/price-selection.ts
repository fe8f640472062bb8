import { type VariantInfo, fromCents, refuse, toCents } from '@netlet/contract'
import type { Executor } from '../../infra/db/client.ts'
import { type Result, ok } from '../../infra/result.ts'
import { rulesById, stockForRules } from '../inventory/index.ts'
import { type OptionChoice, type SellableVariant, findVariant } from './find-variant.ts'

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
export async function priceSelection(
  db: Executor,
  { productId, options, rules }: { productId: number; options: OptionChoice; rules: readonly number[] }
): Promise<Result<PricedSelection>> {
  if (rules.length === 0) return refuse('no_rule')
  if (new Set(rules).size !== rules.length) return refuse('chosen_twice')
  const [variant, unordered] = await Promise.all([findVariant(db, { productId, options }), rulesById(db, [...rules])])
  if (!variant.ok) return variant
  const found = unordered.toSorted((a, b) => a.id - b.id)
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
  const priced = await priceSelection(db, { productId, options, rules })
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
