import { refuse, type AclRule, type AclRuleForm, type Refusal } from '@netlet/contract'
import { and, eq, ilike, isNull, or } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import type { Executor, Transaction } from '../../infra/db/client.ts'
import { transact } from '../../infra/db/transact.ts'
import { containing } from '../../infra/db/like.ts'
import { among, defineList, type ListInput } from '../../infra/list/index.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { record } from '../audit/index.ts'
import { createRule, deleteRule, type Rule, type RuleRefusal, updateRule } from './rules.ts'
import { aclRules } from './tables.ts'

/** Called in the transaction that changed what the rules deny: the agents have to learn it. */
export type OnRulesChanged = (tx: Transaction) => Promise<void>

/** Rules on sale, oldest first: found by name, description or a domain in them. */
export const ruleList = defineList<ListInput<'id'>, AclRule>({
  name: 'acl_rules',
  table: aclRules,
  id: aclRules.id,
  sort: { id: aclRules.id },
  match(_db, { search }) {
    const pattern = search && containing(search)
    const found = pattern
      ? or(ilike(aclRules.name, pattern), ilike(aclRules.description, pattern), ilike(aclRules.aclValue, pattern))
      : undefined
    return { where: [isNull(aclRules.deletedAt), found] }
  },
  load: async (db, ids) => (await db.select().from(aclRules).where(among(aclRules.id, ids))).map(present)
})

export async function addAclRule(
  ctx: Pick<AppContext, 'db'>,
  actor: Actor,
  form: AclRuleForm,
  onChanged: OnRulesChanged
): Promise<Result<AclRule>> {
  return transact(ctx.db, async tx => {
    const created = await createRule(tx, inputOf(form))
    if (!created.ok) return ruleRefusal(created)
    const after = present(created.rule)
    await onChanged(tx)
    const entry = { action: 'create ACL rule', targetType: 'ACL rule', targetId: after.id, after: briefly(after) }
    await record(tx, actor, entry)
    return ok(after)
  })
}

export async function editAclRule(
  ctx: Pick<AppContext, 'db'>,
  actor: Actor,
  id: number,
  form: AclRuleForm,
  onChanged: OnRulesChanged
): Promise<Result<AclRule>> {
  return transact(ctx.db, async tx => {
    const row = await readRule(tx, id)
    const updated = await updateRule(tx, id, inputOf(form))
    if (!updated.ok) return ruleRefusal(updated)
    const after = present(updated.rule)
    if (updated.domainsChanged) await onChanged(tx)
    const before = row && briefly(present(row))
    const entry = { action: 'edit ACL rule', targetType: 'ACL rule', targetId: id, before, after: briefly(after) }
    await record(tx, actor, entry)
    return ok(after)
  })
}

export async function removeAclRule(
  ctx: Pick<AppContext, 'db'>,
  actor: Actor,
  id: number,
  onChanged: OnRulesChanged
): Promise<Result<null>> {
  return transact(ctx.db, async tx => {
    const row = await readRule(tx, id)
    const deleted = await deleteRule(tx, id)
    if (!deleted.ok) {
      if (deleted.reason === 'not_found') return refuse('not_found')
      const names = deleted.orders.slice(0, 10).map(order => `#${order}`)
      const more = deleted.orders.length > 10 ? ` and ${deleted.orders.length - 10} more` : ''
      return refuse('rule_has_leases', {
        msg: `This access rule is still in use by orders ${names.join(', ')}${more}`,
        data: { orders: deleted.orders }
      })
    }
    await onChanged(tx)
    const before = row && briefly(present(row))
    await record(tx, actor, { action: 'delete ACL rule', targetType: 'ACL rule', targetId: id, before })
    return done
  })
}

async function readRule(db: Executor, id: number): Promise<Rule | undefined> {
  const [row] = await db
    .select()
    .from(aclRules)
    .where(and(eq(aclRules.id, id), isNull(aclRules.deletedAt)))
  return row
}

function ruleRefusal(refusal: RuleRefusal | { ok: false; reason: 'not_found' }): Refusal {
  if (refusal.reason === 'invalid_domains') {
    const msg = refusal.lines
      .slice(0, 5)
      .map(line => line.message)
      .join('; ')
    return refuse('invalid_domains', { msg, data: { errors: { acl_value: msg }, lines: refusal.lines.slice(0, 100) } })
  }
  if (refusal.reason === 'name_taken') {
    return refuse('name_taken', { data: { errors: { name: 'This name is already in use' } } })
  }
  return refuse('not_found')
}

const inputOf = (form: AclRuleForm) => ({
  name: form.name,
  description: form.description,
  price: form.price,
  platformVariantId: form.shopify_variant_id,
  aclValue: form.acl_value
})

const present = (rule: Rule): AclRule => ({
  id: rule.id,
  name: rule.name,
  price: rule.price,
  shopify_variant_id: rule.platformVariantId,
  description: rule.description,
  acl_value: rule.aclValue,
  created_at: iso(rule.createdAt)
})

/** For the audit log, which is no place for megabytes of domains. */
const briefly = (rule: AclRule) => ({
  ...rule,
  acl_value: rule.acl_value.length > 10_000 ? `${rule.acl_value.slice(0, 10_000)}…` : rule.acl_value
})
