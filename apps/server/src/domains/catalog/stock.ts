import type { AddressFamily, GroupStock, RuleStock, Shortage } from '@netlet/contract'
import { and, eq, isNull } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { type Result, ok } from '../../infra/result.ts'
import { translated } from '../../infra/translations.ts'
import { serverGroups } from '../servers/tables.ts'
import { maxStep, sellableRules, stockByRule, stockForRules } from '../inventory/index.ts'
import { type OptionChoice, findVariant } from './find-variant.ts'
import type { PricedSelection } from './price-selection.ts'

/** Stock and price of every access rule on sale, for these options. */
export async function stockOfEachRule(
  db: Executor,
  { productId, options }: { productId: number; options: OptionChoice }
): Promise<Result<RuleStock[]>> {
  const variant = await findVariant(db, { productId, options })
  if (!variant.ok) return variant
  const { groupId, step, family } = variant.data
  const [rules, counted] = await Promise.all([sellableRules(db), stockByRule(db, { groupId, step, family })])
  const stock = new Map(counted.map(rule => [rule.ruleId, rule.stock]))
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
export async function groupStock(
  db: Executor,
  { groupId, step, family }: { groupId: number; step: number; family: AddressFamily }
): Promise<Result<GroupStock>> {
  const known = await db.$count(serverGroups, and(eq(serverGroups.id, groupId), isNull(serverGroups.deletedAt)))
  if (known === 0) return fieldRefusal('server_group', 'choice_gone')
  const [rules, counted, largest] = await Promise.all([
    sellableRules(db),
    stockByRule(db, { groupId, step, family }),
    maxStep(db, groupId, family)
  ])
  const stock = new Map(counted.map(rule => [rule.ruleId, rule.stock]))
  const byRule = rules.map(rule => ({ acl_id: rule.id, acl_name: rule.name, stock: stock.get(rule.id) ?? 0 }))
  return ok({
    max_step: largest,
    stock: counted.reduce((most, rule) => Math.max(most, rule.stock), 0),
    rules: byRule
  })
}

/** Which rules of an unavailable selection are short now. */
export async function findShortage(
  db: Executor,
  { variant, rules, ruleNames }: Pick<PricedSelection, 'variant' | 'rules' | 'ruleNames'>,
  quantity: number
): Promise<Shortage> {
  const { groupId, step, family } = variant
  const [each, together] = await Promise.all([
    stockByRule(db, { groupId, step, family }),
    stockForRules(db, { groupId, step, rules, family })
  ])
  const stock = new Map(each.map(rule => [rule.ruleId, rule.stock]))
  const all = rules.map((id, at) => ({ acl_id: id, acl_name: ruleNames[at] ?? '', stock: stock.get(id) ?? 0 }))
  return { stock: together, short: all.filter(rule => rule.stock < quantity) }
}
