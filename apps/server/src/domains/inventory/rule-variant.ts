import type { Refusal } from '@netlet/contract'
import { and, eq, inArray, isNull, ne } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { aclRules } from './tables.ts'

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
