import type { AclRule, AclRuleForm, PlatformStock, Refusal } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, eq, inArray, isNull } from '../../infra/db/drizzle.ts'
import { type Result, ok } from '../../infra/result.ts'
import type { Edit } from '../../infra/version.ts'
import { parseDomains } from './domains.ts'
import { type OnRulesChanged, addAclRule, editAclRule, editRefusal, readRule } from './manage-rules.ts'
import type { OrderNumbers } from './rule-conflicts.ts'
import { type PlanSoldAs, variantRefusal } from './rules.ts'
import { aclRules, platformDeletions } from './tables.ts'

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
  command(ctx, by, async unit => ok(await syncRules(unit, new Map([[platformVariantId, there]]))))

/** What the platform reports about the variant that a rule is sold as. */
export type PlatformPrice = {
  /** Decimal with 2 places: '1.50'. */
  price: string
  productId: string
  /** Its product can be bought. */
  forSale: boolean
  /** It would be for sale in the platform's Online Store, but is not there; null: unknown. */
  unpublished: boolean | null
  /** It needs a selling plan, which a checkout link cannot have; null: unknown. */
  subscriptionOnly: boolean | null
  /** Null: unknown, because a webhook told it. */
  stock: PlatformStock | null
  /** The checkout ships it; null: unknown. */
  shipped: boolean | null
  /** When the product last changed, by the platform's clock. */
  updatedAt: Date | null
}

/** Rules on sale with the variants of the platform that they are sold as. */
export const rulesOnPlatform = (db: Executor) =>
  db
    .select({
      id: aclRules.id,
      name: aclRules.name,
      price: aclRules.price,
      platformVariantId: aclRules.platformVariantId,
      platformProductId: aclRules.platformProductId,
      valid: aclRules.valid
    })
    .from(aclRules)
    .where(isNull(aclRules.deletedAt))

/**
 * Takes over what the platform reports about the variants that rules are sold as. Older reports are ignored, and the
 * variants of a deleted product count as gone. Repeating it changes nothing.
 * @param seen by the platform's variant id; undefined: the platform has no such variant
 * @param at the platform's time of the report about variants that are gone
 * @returns the rules that are sold as one of these variants
 */
export async function syncRules(
  unit: Unit,
  seen: ReadonlyMap<string, PlatformPrice | undefined>,
  at: Date | null = null
): Promise<{ id: number; platformVariantId: string }[]> {
  if (seen.size === 0) return []
  const rules = await unit.tx
    .select()
    .from(aclRules)
    .where(and(isNull(aclRules.deletedAt), inArray(aclRules.platformVariantId, [...seen.keys()])))
    .orderBy(aclRules.id)
    .for('update')
  // Read under the lock of the rules: a deletion at the same time takes them off sale afterwards.
  const deleted = await deletedAmong(unit.tx, seen)
  for (const rule of rules) {
    const reported = seen.get(rule.platformVariantId)
    const now = reported && deleted.has(reported.productId) ? undefined : reported
    const toldAt = now ? now.updatedAt : at
    if (toldAt && rule.platformUpdatedAt && toldAt < rule.platformUpdatedAt) continue
    const unpublished = now ? (now.unpublished ?? rule.unpublished) : false
    const subscriptionOnly = now ? (now.subscriptionOnly ?? rule.subscriptionOnly) : false
    const shipped = now ? (now.shipped ?? rule.shipped) : false
    const { price, valid, platformStock } = rule
    const before = { price, valid, platformStock }
    const after = now
      ? {
          price: now.price,
          valid: now.forSale && !unpublished && !subscriptionOnly,
          platformStock: now.stock ?? platformStock
        }
      : { price, valid: false, platformStock: 'none' as const }
    await unit.tx
      .update(aclRules)
      .set({
        ...after,
        unpublished,
        subscriptionOnly,
        shipped,
        ...(now ? { platformProductId: now.productId } : {}),
        ...(toldAt ? { platformUpdatedAt: toldAt } : {})
      })
      .where(eq(aclRules.id, rule.id))
    if (price !== after.price || valid !== after.valid || platformStock !== after.platformStock)
      unit.audit('acl_rule.follow', rule.id, { before, after })
  }
  return rules.map(({ id, platformVariantId }) => ({ id, platformVariantId }))
}

/** Records that the platform deleted a product, before its plans and rules are taken off sale. */
export async function recordDeletion(unit: Unit, platformProductId: string): Promise<void> {
  await unit.tx.insert(platformDeletions).values({ platformProductId, createdAt: unit.now }).onConflictDoNothing()
}

/** Whether the platform has reported that it deleted this product. */
export const isDeletedOnPlatform = async (db: Executor, platformProductId: string): Promise<boolean> =>
  (await db.$count(platformDeletions, eq(platformDeletions.platformProductId, platformProductId))) > 0

async function deletedAmong(
  db: Executor,
  seen: ReadonlyMap<string, PlatformPrice | undefined>
): Promise<ReadonlySet<string>> {
  const ids = new Set([...seen.values()].flatMap(reported => (reported ? [reported.productId] : [])))
  const rows = await db
    .select({ id: platformDeletions.platformProductId })
    .from(platformDeletions)
    .where(inArray(platformDeletions.platformProductId, [...ids]))
  return new Set(rows.map(row => row.id))
}

/** The variants of one of the platform's products that rules are sold as, as far as they are known. */
export async function ruleVariantsOf(db: Executor, platformProductId: string): Promise<string[]> {
  const rows = await db
    .select({ id: aclRules.platformVariantId })
    .from(aclRules)
    .where(and(isNull(aclRules.deletedAt), eq(aclRules.platformProductId, platformProductId)))
  return rows.map(row => row.id)
}

/** Sets a rule's price to the platform's, as an administrator asked. */
export async function setRulePrice(unit: Unit, ruleId: number, price: string): Promise<void> {
  const [rule] = await unit.tx
    .select({ price: aclRules.price })
    .from(aclRules)
    .where(and(eq(aclRules.id, ruleId), isNull(aclRules.deletedAt)))
    .for('update')
  if (!rule) return
  await unit.tx.update(aclRules).set({ price }).where(eq(aclRules.id, ruleId))
  unit.audit('acl_rule.take_price', ruleId, { before: { price: rule.price }, after: { price } })
}

/** Stores the platform's product of each rule that has none yet. @param products by variant, the platform's ids */
export async function nameRuleProducts(unit: Unit, products: ReadonlyMap<string, string>): Promise<void> {
  const rows = await unit.tx
    .select({ id: aclRules.id, variantId: aclRules.platformVariantId })
    .from(aclRules)
    .where(and(isNull(aclRules.deletedAt), isNull(aclRules.platformProductId)))
  for (const { id, variantId } of rows) {
    const platformProductId = products.get(variantId)
    if (platformProductId !== undefined)
      await unit.tx.update(aclRules).set({ platformProductId }).where(eq(aclRules.id, id))
  }
}
