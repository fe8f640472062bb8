import { refusals, refuse, type AclRule, type AclRuleForm, type Refusal } from '@netlet/contract'
import { and, eq, isNull, ilike, or } from '../../infra/db/drizzle.ts'
import type { Actor } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { containing } from '../../infra/db/like.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { nameContains, translated } from '../../infra/translations.ts'
import { staleEdit, versionOf, type Edit } from '../../infra/version.ts'
import type { AppContext } from '../../infra/context.ts'
import { lockInventory } from './leasing.ts'
import { leasedBy } from './acl-groups.ts'
import { ruleRefusal } from './rule-conflicts.ts'
import { type PlanSoldAs, RULE_NAME, type Rule, createRule, deleteRule, updateRule, variantRefusal } from './rules.ts'
import { aclRules } from './tables.ts'

/** Called within the command that changed what the rules deny, so that the agents learn it. */
export type OnRulesChanged = (unit: Unit) => void

export type RuleWrites = { onRulesChanged: OnRulesChanged; planSoldAs?: PlanSoldAs | undefined }

/** Rules on sale, oldest first; search finds name, description or a domain. */
export const ruleList = defineList<ListInput<'id'>, AclRule>({
  name: 'acl_rules',
  table: aclRules,
  id: aclRules.id,
  sort: { id: aclRules.id },
  match(_db, { search }) {
    const pattern = search && containing(search)
    const found = pattern
      ? or(nameContains(aclRules, search), ilike(aclRules.description, pattern), ilike(aclRules.aclValue, pattern))
      : undefined
    return { where: [isNull(aclRules.deletedAt), found] }
  },
  load: async (db, ids) => (await db.select().from(aclRules).where(among(aclRules.id, ids))).map(present)
})

const unique = { [RULE_NAME]: refuse('name_taken', { data: { errors: { name: refusals.name_taken[1] } } }) }

export const addAclRule = (
  ctx: AppContext,
  by: Actor,
  form: AclRuleForm,
  { onRulesChanged, planSoldAs }: RuleWrites
): Promise<Result<AclRule>> =>
  command(ctx, by, { unique }, async unit => {
    await lockInventory(unit.tx)
    const taken = await variantRefusal(unit.tx, { platformVariantId: form.shopify_variant_id }, planSoldAs)
    if (taken) return taken
    const created = await createRule(unit, inputOf(form))
    if (!created.ok) return ruleRefusal(created)
    const after = present(created.rule)
    onRulesChanged(unit)
    unit.audit('acl_rule.create', after.id, { after: { ...abridged(after), ...decisionsOf(form) } })
    return ok(after)
  })

export const editAclRule = (
  ctx: AppContext,
  by: Actor,
  id: number,
  form: Edit<AclRuleForm>,
  writes: RuleWrites
): Promise<Result<AclRule>> => command(ctx, by, { unique }, unit => editIn(unit, id, form, writes))

class Undone extends Error {}

/**
 * Tries an edit and rolls it back, for a caller that must first do something that cannot be undone.
 * @returns why it would be refused; null if it would not be
 */
export async function editRefusal(
  ctx: AppContext,
  by: Actor,
  id: number,
  form: Edit<AclRuleForm>,
  planSoldAs: PlanSoldAs | undefined
): Promise<Refusal | null> {
  try {
    return await command(ctx, by, { unique }, async unit => {
      const edited = await editIn(unit, id, form, { onRulesChanged: () => undefined, planSoldAs })
      if (edited.ok) throw new Undone()
      return edited
    })
  } catch (error) {
    if (error instanceof Undone) return null
    throw error
  }
}

async function editIn(
  unit: Unit,
  id: number,
  { version, ...form }: Edit<AclRuleForm>,
  { onRulesChanged, planSoldAs }: RuleWrites
): Promise<Result<AclRule>> {
  // Before the row, because the deletion of a rule locks in this order.
  await lockInventory(unit.tx)
  const [row] = await selectRule(unit.tx, id).for('update')
  const before = row && present(row)
  const stale = before && staleEdit(version, before, { now: fieldsOf(before), sent: form })
  if (stale) return stale
  const platformVariantId = form.shopify_variant_id
  const moved = before !== undefined && before.shopify_variant_id !== platformVariantId
  const taken = moved ? await variantRefusal(unit.tx, { platformVariantId, own: id }, planSoldAs) : undefined
  if (taken) return taken
  const updated = await updateRule(unit, id, inputOf(form))
  if (!updated.ok) return updated.reason === 'not_found' ? refuse('not_found') : ruleRefusal(updated)
  const after = present(updated.rule)
  if (updated.denialsChanged) onRulesChanged(unit)
  unit.audit('acl_rule.edit', id, {
    before: before && abridged(before),
    after: { ...abridged(after), ...decisionsOf(form) }
  })
  return ok(after)
}

export const removeAclRule = (
  ctx: AppContext,
  by: Actor,
  id: number,
  onRulesChanged: OnRulesChanged
): Promise<Result<null>> =>
  command(ctx, by, async unit => {
    const [row] = await selectRule(unit.tx, id)
    const deleted = await deleteRule(unit, id)
    if (!deleted.ok) return deleted.reason === 'leased' ? leasedBy('rule', deleted.orders) : refuse('not_found')
    onRulesChanged(unit)
    unit.audit('acl_rule.delete', id, { before: row && abridged(present(row)) })
    return done
  })

/** A rule on sale, as its form shows it. */
export async function readRule(db: Executor, id: number): Promise<AclRule | undefined> {
  const [row] = await selectRule(db, id)
  return row && present(row)
}

const selectRule = (db: Executor, id: number) =>
  db
    .select()
    .from(aclRules)
    .where(and(eq(aclRules.id, id), isNull(aclRules.deletedAt)))

const inputOf = (form: AclRuleForm) => ({
  name: form.name,
  description: form.description,
  translations: form.translations,
  price: form.price,
  platformVariantId: form.shopify_variant_id,
  aclValue: form.acl_value,
  decisions: form.decisions
})

/** Decisions as the audit log keeps them. */
const decisionsOf = ({ decisions }: AclRuleForm) =>
  decisions && decisions.length > 0 ? { decisions: decisions.slice(0, 200) } : {}

/** What the form of a rule shows. */
const fieldsOf = ({ name, price, shopify_variant_id, description, translations = {}, acl_value }: AclRuleForm) => ({
  name,
  price,
  shopify_variant_id,
  description,
  translations,
  acl_value
})

function present(rule: Rule): AclRule {
  const fields = {
    name: rule.name,
    price: rule.price,
    shopify_variant_id: rule.platformVariantId,
    description: rule.description,
    ...translated(rule),
    acl_value: rule.aclValue
  }
  return {
    id: rule.id,
    ...fields,
    unpublished: rule.unpublished,
    subscription_only: rule.subscriptionOnly,
    platform_stock: rule.platformStock,
    shipped: rule.shipped,
    created_at: iso(rule.createdAt),
    version: versionOf(fieldsOf(fields))
  }
}

/** Keeps megabytes of domains out of the audit log. */
const abridged = (rule: AclRule) => ({
  ...rule,
  acl_value: rule.acl_value.length > 10_000 ? `${rule.acl_value.slice(0, 10_000)}…` : rule.acl_value
})
