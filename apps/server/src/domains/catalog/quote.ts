import {
  type AddressFamily,
  type GroupStock,
  type RuleStock,
  type Shortage,
  type VariantInfo,
  fromCents,
  refuse,
  toCents
} from '@netlet/contract'
import { and, eq, isNull } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { type Result, ok } from '../../infra/result.ts'
import { translated } from '../../infra/translations.ts'
import { serverGroups } from '../servers/tables.ts'
import { maxStep, quoteRules, quoteSelection, rulesById, sellableRules } from '../inventory/index.ts'
import { type OptionChoice, type SellableVariant, findVariant } from './find-variant.ts'

/** A selection and the price of one address. */
type PricedSelection = {
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

/** Stock and price of every access rule on sale, for these options. */
export async function quoteEachRule(
  db: Executor,
  { productId, options }: { productId: number; options: OptionChoice }
): Promise<Result<RuleStock[]>> {
  const variant = await findVariant(db, { productId, options })
  if (!variant.ok) return variant
  const { groupId, step, family } = variant.data
  const [rules, quoted] = await Promise.all([sellableRules(db), quoteRules(db, { groupId, step, family })])
  const stock = new Map(quoted.map(quote => [quote.ruleId, quote.stock]))
  return ok(
    rules.map(rule => ({
      acl_id: rule.id,
      acl_name: rule.name,
      price: rule.price,
      stock: stock.get(rule.id) ?? 0,
      domains: rule.domains,
      ...translated(rule)
    }))
  )
}

/** What a variant could sell from a server group; 'choice_gone' if it does not exist. */
export async function quoteGroup(
  db: Executor,
  { groupId, step, family }: { groupId: number; step: number; family: AddressFamily }
): Promise<Result<GroupStock>> {
  const known = await db.$count(serverGroups, and(eq(serverGroups.id, groupId), isNull(serverGroups.deletedAt)))
  if (known === 0) return fieldRefusal('server_group', 'choice_gone')
  const [rules, quoted, largest] = await Promise.all([
    sellableRules(db),
    quoteRules(db, { groupId, step, family }),
    maxStep(db, groupId, family)
  ])
  const stock = new Map(quoted.map(quote => [quote.ruleId, quote.stock]))
  const byRule = rules.map(rule => ({ acl_id: rule.id, acl_name: rule.name, stock: stock.get(rule.id) ?? 0 }))
  return ok({
    max_step: largest,
    stock: quoted.reduce((most, quote) => Math.max(most, quote.stock), 0),
    rules: byRule
  })
}

/** Which rules of an unavailable selection are short now. */
export async function quoteShortage(
  db: Executor,
  { variant, rules, ruleNames }: Pick<PricedSelection, 'variant' | 'rules' | 'ruleNames'>,
  quantity: number
): Promise<Shortage> {
  const { groupId, step, family } = variant
  const [each, together] = await Promise.all([
    quoteRules(db, { groupId, step, family }),
    quoteSelection(db, { groupId, step, rules, family })
  ])
  const stock = new Map(each.map(quote => [quote.ruleId, quote.stock]))
  const all = rules.map((id, at) => ({ acl_id: id, acl_name: ruleNames[at] ?? '', stock: stock.get(id) ?? 0 }))
  return { stock: together, short: all.filter(rule => rule.stock < quantity) }
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
    stock: await quoteSelection(db, {
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
