import type { AclRule, AclRuleForm, Refusal } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { Edit } from '../../infra/version.ts'
import { parseDomains } from './domains.ts'
import { followRules, type PlatformPrice } from './follow-platform.ts'
import { addAclRule, editAclRule, editRefusal, readRule, type OnRulesChanged } from './manage-rules.ts'
import { type PlanSoldAs, variantRefusal } from './rule-variant.ts'
import type { OrderNumbers } from './rule-conflicts.ts'

/** What the inventory needs of the platform, which owns the prices of rules. Failures have the platform's own words. */
export type RulePrices = {
  planSoldAs: PlanSoldAs
  /** The variant that a rule is to be sold as; null if no platform is set up, so the form's price counts. */
  read(ctx: AppContext, platformVariantId: string): Promise<Result<PlatformPrice | null>>
  /**
   * Writes a price to the platform, if one is set up, and saves the rule here, while no other process writes prices.
   * @param work `check` may refuse first; if `save` is refused, the platform gets its former price back
   */
  write<T>(
    ctx: AppContext,
    platformVariantId: string,
    price: string,
    work: { check: () => Promise<Refusal | null>; save: () => Promise<Result<T>> }
  ): Promise<Result<T>>
}

export type RulePorts = {
  onRulesChanged: OnRulesChanged
  prices?: RulePrices | undefined
  orderNumbers?: OrderNumbers
}

/** The platform's price of the variant that a rule is to be sold as. Refused as saving it would be. */
export async function readPlatformPrice(
  ctx: AppContext,
  { shopify_variant_id: platformVariantId, id: own }: { shopify_variant_id: string; id?: number | undefined },
  { prices }: RulePorts
): Promise<Result<{ price: string | null }>> {
  const taken = await variantRefusal(ctx.db, { platformVariantId, own }, prices?.planSoldAs)
  if (taken) return taken
  const there = prices ? await prices.read(ctx, platformVariantId) : ok(null)
  return there.ok ? ok({ price: there.data?.price ?? null }) : there
}

/** Adds a rule at the platform's price. */
export async function addPricedRule(
  ctx: AppContext,
  by: Actor,
  form: AclRuleForm,
  { onRulesChanged, prices }: RulePorts
): Promise<Result<AclRule>> {
  const writes = { onRulesChanged, planSoldAs: prices?.planSoldAs }
  if (!prices || !parseDomains(form.acl_value).ok) return addAclRule(ctx, by, form, writes)
  // Before the transaction, so that the inventory is not locked while we wait for the platform.
  const there = await prices.read(ctx, form.shopify_variant_id)
  if (!there.ok) return there
  const price = there.data?.price ?? form.price
  const added = await addAclRule(ctx, by, { ...form, price }, writes)
  if (added.ok && there.data) await follow(ctx, by, form.shopify_variant_id, there.data)
  return added
}

/**
 * Edits a rule. A price that the form changed is written to the platform before our own write, unless that would be
 * refused. A price that it did not change is not written, because it may be stale. If our own write is refused anyway,
 * the platform gets its former price back. A rule that moves to another variant takes that variant's price.
 */
export async function editPricedRule(
  ctx: AppContext,
  by: Actor,
  id: number,
  form: Edit<AclRuleForm>,
  { onRulesChanged, prices }: RulePorts
): Promise<Result<AclRule>> {
  const planSoldAs = prices?.planSoldAs
  const save = (price: string) => editAclRule(ctx, by, id, { ...form, price }, { onRulesChanged, planSoldAs })
  const before = await readRule(ctx.db, id)
  const moved = before?.shopify_variant_id !== form.shopify_variant_id
  const repriced = before?.price !== form.price
  if (!prices || !before || (!moved && !repriced)) return save(form.price)
  // The platform charges a price as soon as it has it, so refuse first what would be refused here.
  const check = () => editRefusal(ctx, by, id, form, planSoldAs)
  if (repriced) return prices.write(ctx, form.shopify_variant_id, form.price, { check, save: () => save(form.price) })
  const refused = await check()
  if (refused) return refused
  const there = await prices.read(ctx, form.shopify_variant_id)
  return there.ok ? save(there.data?.price ?? form.price) : there
}

const follow = (ctx: AppContext, by: Actor, platformVariantId: string, there: PlatformPrice) =>
  command(ctx, by, async unit => ok(await followRules(unit, new Map([[platformVariantId, there]]))))
