import { refuse, type Refusal } from '@netlet/contract'
import { eq, inArray, sql } from '../../infra/db/drizzle.ts'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import type { Executor } from '../../infra/db/client.ts'
import { products, variants } from '../catalog/tables.ts'
import { aclRules } from '../inventory/tables.ts'
import type { OrderRow } from './transition.ts'
import type { OrderLine } from './tables.ts'

type Ordered = Pick<OrderRow, 'variantId' | 'variantName' | 'rules' | 'quantity' | 'lines'>

export type CurrentTerms = {
  /** The platform's variants: the plan first, then each rule. */
  lines: OrderLine[]
  /** The days of a term. */
  days: number
  /** The part that is no longer sold, with its name; null if all of it is sold. */
  withdrawn: { name: string; refusal: Refusal } | null
}

/** How the order was sold when it was placed. */
export const termsAsPlaced = ({ lines, proxyTime: days }: Pick<OrderRow, 'lines' | 'proxyTime'>): CurrentTerms => ({
  lines,
  days,
  withdrawn: null
})

/** How an order's plan and rules are sold today, according to our own data. */
export async function currentTerms(db: Executor, order: Ordered): Promise<CurrentTerms> {
  const [sold] = await currentTermsOf(db, [order])
  if (!sold) throw new Error(`There is no variant ${order.variantId}`)
  return sold
}

/** The same for several orders, in the same order, with two queries. */
export async function currentTermsOf(db: Executor, ordered: readonly Ordered[]): Promise<CurrentTerms[]> {
  if (ordered.length === 0) return []
  const plans = await db
    .select({
      id: variants.id,
      variant: variants.platformId,
      days: variants.proxyTime,
      sold: sql<boolean>`${variants.deletedAt} is null and ${variants.isActive} and ${products.deletedAt} is null
        and ${products.active} and ${products.valid}`
    })
    .from(variants)
    .innerJoin(products, eq(products.id, variants.productId))
    .where(
      inArray(
        variants.id,
        ordered.map(({ variantId }) => variantId)
      )
    )
  const known = await db
    .select({
      id: aclRules.id,
      name: aclRules.name,
      variant: aclRules.platformVariantId,
      sold: sql<boolean>`${aclRules.deletedAt} is null and ${aclRules.valid}`
    })
    .from(aclRules)
    .where(inArray(aclRules.id, [...new Set(ordered.flatMap(({ rules }) => rules))]))
  return ordered.map(order => {
    const plan = plans.find(({ id }) => id === order.variantId)
    if (!plan) throw new Error(`There is no variant ${order.variantId}`)
    const { variantName, quantity } = order
    const rules = order.rules.flatMap(id => known.find(rule => rule.id === id) ?? [])
    return {
      lines: [
        { variant: plan.variant, name: variantName, quantity },
        ...rules.map(({ variant, name }) => ({ variant, name, quantity }))
      ],
      days: plan.days,
      withdrawn: withdrawnOf(order, plan, rules)
    }
  })
}

function withdrawnOf(
  { variantName, rules: ordered }: Ordered,
  plan: { sold: boolean },
  rules: readonly { name: string; sold: boolean }[]
): CurrentTerms['withdrawn'] {
  if (!plan.sold) return { name: variantName, refusal: refuse('plan_withdrawn') }
  // A link without one of the rules would charge too little.
  if (rules.length < ordered.length) return { name: '–', refusal: refuse('unknown_rule') }
  const gone = rules.find(({ sold }) => !sold)
  return gone ? { name: gone.name, refusal: refuse('rule_withdrawn', { params: { rule: gone.name } }) } : null
}

/**
 * When the platform took a payment.
 * @param heardAt when we first heard of it: the latest possible time, and that of platform orders without one
 */
export function paidAtOf(
  { processed_at, created_at }: Pick<PaidOrder, 'processed_at' | 'created_at'>,
  heardAt: Date
): Date {
  const at = new Date(processed_at ?? created_at ?? Number.NaN)
  return at < heardAt ? at : heardAt
}

/**
 * The day of a payment for its receipt. For a bank deposit or a late capture, `processed_at` is the time of the
 * checkout, and the report of the payment has the time when its order changed to paid.
 * @param heardAt as for `paidAtOf`
 */
export function receiptDateOf(
  paid: Pick<PaidOrder, 'processed_at' | 'created_at' | 'updated_at'>,
  heardAt: Date
): Date {
  const [from, at] = [new Date(paid.processed_at ?? Number.NaN), new Date(paid.updated_at ?? Number.NaN)]
  return from <= at && at <= heardAt ? at : paidAtOf(paid, heardAt)
}

/** Was the purchase paid while its addresses were reserved? Then the terms at that time count. */
export const isPaidInTime = (
  { state, reservedUntil }: Pick<OrderRow, 'state' | 'reservedUntil'>,
  paidAt: Date
): boolean => state !== 'cancelled' && paidAt < reservedUntil

/** Which of these platform variants are plans or access rules of ours, including those that are no longer sold. */
export async function ourVariants(db: Executor, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const anyOf = sql`any(${sql.param(ids)}::text[])`
  const plans = await db
    .select({ id: variants.platformId })
    .from(variants)
    .where(sql`${variants.platformId} = ${anyOf}`)
  const rules = await db
    .select({ id: aclRules.platformVariantId })
    .from(aclRules)
    .where(sql`${aclRules.platformVariantId} = ${anyOf}`)
  return new Set([...plans, ...rules].map(({ id }) => id))
}
