import { refuse, type Refusal } from '@netlet/contract'
import { eq, inArray, sql } from 'drizzle-orm'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import type { Executor } from '../../infra/db/client.ts'
import { products, variants } from '../catalog/tables.ts'
import { aclRules } from '../inventory/tables.ts'
import type { OrderRow } from './transition.ts'
import type { OrderLine } from './tables.ts'

type Ordered = Pick<OrderRow, 'variantId' | 'variantName' | 'rules' | 'quantity' | 'lines'>

/** What an order's plan and rules are today. */
export type SoldToday = {
  /** By which the platform sells them: the plan first, then each rule. */
  lines: OrderLine[]
  /** Days of a term. */
  days: number
  /** What of it is sold no longer, with its name; null where all of it is. */
  withdrawn: { name: string; refusal: Refusal } | null
}

/** The same as an order was placed. */
export const asPlaced = ({ lines, proxyTime: days }: Pick<OrderRow, 'lines' | 'proxyTime'>): SoldToday => ({
  lines,
  days,
  withdrawn: null
})

/** Looks up how an order's plan and rules are sold today, as far as that is known here. */
export async function soldToday(db: Executor, order: Ordered): Promise<SoldToday> {
  const [sold] = await soldTodayOf(db, [order])
  if (!sold) throw new Error(`There is no variant ${order.variantId}`)
  return sold
}

/** The same of several orders, in their sequence: two queries, however many they are. */
export async function soldTodayOf(db: Executor, ordered: readonly Ordered[]): Promise<SoldToday[]> {
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
): SoldToday['withdrawn'] {
  if (!plan.sold) return { name: variantName, refusal: refuse('plan_withdrawn') }
  // A link that leaves a rule out would ask for too little.
  if (rules.length < ordered.length) return { name: '–', refusal: refuse('unknown_rule') }
  const gone = rules.find(({ sold }) => !sold)
  return gone ? { name: gone.name, refusal: refuse('rule_withdrawn', { params: { rule: gone.name } }) } : null
}

/**
 * Did the platform take an order's purchase on while its addresses were held? What was promised counts then: its price
 * was that of the same moment.
 * @param heardAt when it was told of first, for a platform that does not say
 */
export function isPaidInTime(
  { state, reservedUntil }: Pick<OrderRow, 'state' | 'reservedUntil'>,
  { processed_at, created_at }: Pick<PaidOrder, 'processed_at' | 'created_at'>,
  heardAt: Date
): boolean {
  const told = Date.parse(processed_at ?? created_at ?? '')
  const at = Number.isNaN(told) ? heardAt.getTime() : Math.min(told, heardAt.getTime())
  return state !== 'cancelled' && at < reservedUntil.getTime()
}

/** Which of these variants of the platform are plans or access rules of ours, also those that are sold no longer. */
export async function ourVariants(db: Executor, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const anyOf = sql`any(${sql.param(ids)}::text[])`
  const [plans, rules] = await Promise.all([
    db
      .select({ id: variants.platformId })
      .from(variants)
      .where(sql`${variants.platformId} = ${anyOf}`),
    db
      .select({ id: aclRules.platformVariantId })
      .from(aclRules)
      .where(sql`${aclRules.platformVariantId} = ${anyOf}`)
  ])
  return new Set([...plans, ...rules].map(({ id }) => id))
}
