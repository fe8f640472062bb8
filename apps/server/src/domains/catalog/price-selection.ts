import { fromCents, refuse, toCents } from '@netlet/contract'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { rulesById } from '../inventory/index.ts'
import { findVariant, type OptionChoice, type SellableVariant } from './find-variant.ts'

/** A selection and the price of one address. */
export type PricedSelection = {
  variant: SellableVariant
  /** The rules' ids, ascending and distinct. */
  rules: number[]
  /** The rules' platform variants, in the order of `rules`: each is a line of the checkout. */
  rulePlatformVariants: string[]
  /** The rules' names, in the order of `rules`. */
  ruleNames: string[]
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
    basePrice: fromCents(base),
    aclPrice: fromCents(added),
    price: fromCents(base + added)
  })
}
