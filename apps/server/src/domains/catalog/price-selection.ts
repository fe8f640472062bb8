import { fromCents, refuse, toCents } from '@netlet/contract'
import { and, asc, inArray, isNull } from 'drizzle-orm'
import type { Executor } from '../../platform/db/client.ts'
import { ok, type Result } from '../../platform/result.ts'
import { aclRules } from '../inventory/tables.ts'
import { findVariant, type OptionChoice, type SellableVariant } from './find-variant.ts'

/** What was chosen and what one address of it costs. */
export type PricedSelection = {
  variant: SellableVariant
  /** The rules' ids, ascending and distinct. */
  rules: number[]
  /** The rules' platform variants, in the order of `rules`: each is a line of the checkout. */
  rulePlatformVariants: string[]
  basePrice: string
  aclPrice: string
  /** basePrice + aclPrice. */
  price: string
}

/**
 * Finds and prices a variant with access rules, exactly. Refuses 'unknown_variant', 'no_rule', 'duplicate_rule', and
 * 'unknown_rule' where a rule is not on sale any more.
 */
export async function priceSelection(
  db: Executor,
  { productId, options, rules }: { productId: number; options: OptionChoice; rules: readonly number[] }
): Promise<Result<PricedSelection>> {
  if (rules.length === 0) return refuse('no_rule')
  if (new Set(rules).size !== rules.length) return refuse('duplicate_rule')
  const variant = await findVariant(db, { productId, options })
  if (!variant.ok) return variant
  const found = await findRules(db, rules)
  if (found.length !== rules.length) return refuse('unknown_rule')
  const base = toCents(variant.data.price)
  const added = found.reduce((sum, rule) => sum + toCents(rule.price), 0n)
  return ok({
    variant: variant.data,
    rules: found.map(rule => rule.id),
    rulePlatformVariants: found.map(rule => rule.platformVariantId),
    basePrice: fromCents(base),
    aclPrice: fromCents(added),
    price: fromCents(base + added)
  })
}

/** Not the inventory's `liveRules`: that brings every rule's domains along, and an order asks only for prices. */
async function findRules(db: Executor, ids: readonly number[]) {
  // The column is an int4: an id beyond it names nothing, and must not reach the database as an error.
  const possible = ids.filter(id => id <= 2_147_483_647)
  if (possible.length !== ids.length) return []
  return db
    .select({ id: aclRules.id, price: aclRules.price, platformVariantId: aclRules.platformVariantId })
    .from(aclRules)
    .where(and(inArray(aclRules.id, possible), isNull(aclRules.deletedAt)))
    .orderBy(asc(aclRules.id))
}
