import type { OverlapDecision, Refusal, Translations } from '@netlet/contract'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, asc, eq, inArray, isNull, ne, sql } from '../../infra/db/drizzle.ts'
import { lock } from '../../infra/db/locks.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import type { InTransaction } from './cidr-commands.ts'
import type { DecidedOverlap } from './deny-lists.ts'
import { type DomainLine, parseDomains } from './domains.ts'
import { lockInventory } from './leasing.ts'
import { type RulesPlan, type SharedAddresses, newlyShared, planRules, saveOverlaps } from './overlaps.ts'
import { aclRules, leases } from './tables.ts'

export type Rule = typeof aclRules.$inferSelect

export type RuleInput = {
  name: string
  description: string
  /** Unchanged if left out. */
  translations?: Translations | undefined
  /** Decimal with at most 2 places ('1.50'). */
  price: string
  platformVariantId: string
  /** One domain a line, see `parseDomains`. */
  aclValue: string
  /** Decisions about overlaps with other rules, besides earlier ones. */
  decisions?: OverlapDecision[] | undefined
}

export type RuleRefusal =
  | { ok: false; reason: 'invalid_lines'; lines: DomainLine[] }
  /** Other rules on sale list some of the domains; the plan names them all. */
  | { ok: false; reason: 'domain_taken'; ruleId: number; taken: RulesPlan['duplicates']; plan: RulesPlan }
  | { ok: false; reason: 'overlap_undecided'; undecided: DecidedOverlap[]; plan: RulesPlan }
  /** A broader rule cannot win, because two orders hold the same address under the two rules. */
  | { ok: false; reason: 'rules_share_addresses'; shared: SharedAddresses[]; plan: RulesPlan }

/** The constraint that a write violates if another rule on sale has the name. */
export const RULE_NAME = 'acl_rules_name_key'

/** Creates a rule. It is in stock at once on every address of every range that does not exclude it later. */
export async function createRule(
  unit: Pick<Unit, 'tx' | 'now'>,
  input: RuleInput
): Promise<{ ok: true; rule: Rule } | RuleRefusal> {
  const { tx } = unit
  const parsed = parseDomains(input.aclValue)
  if (!parsed.ok) return { ok: false, reason: 'invalid_lines', lines: parsed.lines }
  await lockInventory(tx)
  const [saved] = await tx
    .insert(aclRules)
    .values({ ...ruleColumns(input), domains: parsed.domains, createdAt: unit.now })
    .returning()
  if (!saved) throw new Error('the rule was not created')
  const refused = await settleOverlaps(unit, saved, input.decisions)
  if (refused) return refused
  await tx.execute(sql`select inventory.open_rule(${saved.id})`)
  return { ok: true, rule: saved }
}

/**
 * Changes a rule. `denialsChanged`: the agents need other deny lists. Orders keep the price they were sold at. An edit
 * that leaves the domains alone needs no decision.
 */
export async function updateRule(
  unit: InTransaction,
  ruleId: number,
  input: RuleInput
): Promise<{ ok: true; rule: Rule; denialsChanged: boolean } | RuleRefusal | { ok: false; reason: 'not_found' }> {
  const { tx } = unit
  const parsed = parseDomains(input.aclValue)
  if (!parsed.ok) return { ok: false, reason: 'invalid_lines', lines: parsed.lines }
  await lockInventory(tx)
  const [before] = await tx
    .select({ domains: aclRules.domains, platformVariantId: aclRules.platformVariantId })
    .from(aclRules)
    .where(and(eq(aclRules.id, ruleId), isNull(aclRules.deletedAt)))
    .for('update')
  if (!before) return { ok: false, reason: 'not_found' }
  const [saved] = await tx
    .update(aclRules)
    .set({
      ...ruleColumns(input),
      domains: parsed.domains,
      ...(before.platformVariantId === input.platformVariantId ? {} : { sharesVariant: false })
    })
    .where(eq(aclRules.id, ruleId))
    .returning()
  if (!saved) return { ok: false, reason: 'not_found' }
  const domainsChanged = before.domains.join('\n') !== parsed.domains.join('\n')
  const decided = input.decisions !== undefined && input.decisions.length > 0
  if (!domainsChanged && !decided) return { ok: true, rule: saved, denialsChanged: false }
  const refused = await settleOverlaps(unit, saved, input.decisions)
  return refused ?? { ok: true, rule: saved, denialsChanged: true }
}

/**
 * Compares a rule that was just written with all others, and stores the decisions about it. After a refusal the caller
 * must undo the write. The caller holds the inventory alone, so of two rules with one domain the second is refused.
 */
async function settleOverlaps(
  unit: InTransaction,
  rule: Rule,
  decisions: OverlapDecision[] | undefined
): Promise<RuleRefusal | undefined> {
  const plan = await planRules(unit.tx, { rule, decisions })
  const taken = plan.duplicates.filter(({ rules }) => rules.includes(rule.id))
  if (taken.length > 0) return { ok: false, reason: 'domain_taken', ruleId: rule.id, taken, plan }
  const undecided = plan.overlaps.filter(
    ({ narrow, broad, winner }) => winner === null && (narrow === rule.id || broad === rule.id)
  )
  if (undecided.length > 0) return { ok: false, reason: 'overlap_undecided', undecided, plan }
  const shared = await newlyShared(unit.tx, plan)
  if (shared.length > 0) return { ok: false, reason: 'rules_share_addresses', shared, plan }
  await saveOverlaps(unit, plan)
  return undefined
}

/** Takes a rule off sale; its row stays for the history. Refused while orders hold addresses under it. */
export async function deleteRule(
  unit: InTransaction,
  ruleId: number
): Promise<{ ok: true } | { ok: false; reason: 'not_found' } | { ok: false; reason: 'leased'; orders: number[] }> {
  const { tx } = unit
  await lockInventory(tx)
  const [found] = await tx
    .select({ id: aclRules.id })
    .from(aclRules)
    .where(and(eq(aclRules.id, ruleId), isNull(aclRules.deletedAt)))
  if (!found) return { ok: false, reason: 'not_found' }
  const holders = await tx
    .selectDistinct({ orderId: leases.orderId })
    .from(leases)
    .where(and(ne(leases.state, 'released'), sql`${leases.rules} @> array[${ruleId}]::int[]`))
    .orderBy(asc(leases.orderId))
  if (holders.length > 0) return { ok: false, reason: 'leased', orders: holders.map(holder => holder.orderId) }
  await tx.execute(sql`select inventory.close_rule(${ruleId})`)
  await saveOverlaps(unit, await planRules(tx))
  return { ok: true }
}

/** Rules on sale, oldest first. */
export async function liveRules(db: Executor): Promise<Rule[]> {
  return db.select().from(aclRules).where(isNull(aclRules.deletedAt)).orderBy(asc(aclRules.id))
}

function ruleColumns({ name, description, translations, price, platformVariantId, aclValue }: RuleInput) {
  return { name, description, translations, price, platformVariantId, aclValue }
}

/** The name of the plan that is sold as a variant of the platform. The catalogue provides it. */
export type PlanSoldAs = (db: Executor, platformVariantId: string) => Promise<string | undefined>

/** Until the transaction ends, no other one can give these variants of the platform to a rule or a plan. */
export async function lockVariants(tx: Executor, platformVariantIds: readonly string[]): Promise<void> {
  for (const id of platformVariantIds.toSorted()) await lock(tx, 'platformVariant', id)
}

/**
 * Why a rule cannot be sold as a variant of the platform: another rule or a plan is. A payment names variants, so two
 * that are sold as one could not be told apart.
 * @param own the rule itself, if it exists already
 */
export async function variantRefusal(
  tx: Executor,
  { platformVariantId, own = 0 }: { platformVariantId: string; own?: number | undefined },
  planSoldAs: PlanSoldAs | undefined
): Promise<Refusal | undefined> {
  await lockVariants(tx, [platformVariantId])
  const [rule] = await tx
    .select({ name: aclRules.name })
    .from(aclRules)
    .where(and(eq(aclRules.platformVariantId, platformVariantId), isNull(aclRules.deletedAt), ne(aclRules.id, own)))
    .limit(1)
  if (rule) return fieldRefusal('shopify_variant_id', 'variant_sold', { name: rule.name })
  const plan = await planSoldAs?.(tx, platformVariantId)
  return plan === undefined ? undefined : fieldRefusal('shopify_variant_id', 'variant_sold', { name: plan })
}

/** The names of the rules that are sold as these variants of the platform, by variant. */
export async function rulesSoldAs(
  tx: Executor,
  platformVariantIds: readonly string[]
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx
    .select({ name: aclRules.name, variant: aclRules.platformVariantId })
    .from(aclRules)
    .where(and(inArray(aclRules.platformVariantId, [...platformVariantIds]), isNull(aclRules.deletedAt)))
  return new Map(rows.map(({ name, variant }) => [variant, name]))
}
