import { refuse } from '@netlet/contract'
import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { users } from '../accounts/tables.ts'
import { products, variants } from '../catalog/tables.ts'
import { openPlatform } from '../commerce/index.ts'
import { aclRules } from '../inventory/tables.ts'
import { renewable } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { discountCodeFor } from '../rewards/index.ts'

/**
 * Where to pay for another term of an order, at the platform's present prices. What is sold no longer, here or on the
 * platform at this moment, is refused: the link would lead nowhere.
 * @param userId only the user's own order (null: anyone's)
 */
export async function renewCheckout(
  ctx: Pick<AppContext, 'db' | 'secrets' | 'now' | 'log'>,
  orderId: number,
  userId: number | null
): Promise<Result<{ checkout_url: string }>> {
  const [found] = await ctx.db
    .select({
      order: orders,
      email: users.email,
      platformVariantId: variants.platformId,
      sold: sql<boolean>`${variants.deletedAt} is null and ${variants.isActive} and ${products.deletedAt} is null
        and ${products.active} and ${products.valid}`
    })
    .from(orders)
    .innerJoin(users, eq(users.id, orders.userId))
    .innerJoin(variants, eq(variants.id, orders.variantId))
    .innerJoin(products, eq(products.id, variants.productId))
    .where(
      and(eq(orders.id, orderId), isNull(orders.deletedAt), userId === null ? undefined : eq(orders.userId, userId))
    )
  if (!found) return refuse('not_found')
  const { order, email, platformVariantId, sold } = found
  const possible = renewable(order, ctx.now())
  if (!possible.ok) return possible
  if (!sold) return refuse('plan_withdrawn')
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  const rules = await ctx.db
    .select({
      name: aclRules.name,
      platformVariantId: aclRules.platformVariantId,
      sold: sql<boolean>`${aclRules.deletedAt} is null and ${aclRules.valid}`
    })
    .from(aclRules)
    .where(inArray(aclRules.id, order.rules))
  // A link that leaves a rule out would ask for too little.
  if (rules.length < order.rules.length) return refuse('unknown_rule')
  const withdrawn = rules.find(rule => !rule.sold)
  if (withdrawn) return refuse('rule_withdrawn', { params: { rule: withdrawn.name } })
  const there = await platform.data.variants([platformVariantId, ...rules.map(rule => rule.platformVariantId)])
  // Its checkout may well work while its API does not answer; then what is known here decides.
  if (there.ok) {
    if (!there.value.get(platformVariantId)?.forSale) return refuse('plan_withdrawn')
    const gone = rules.find(rule => !there.value.get(rule.platformVariantId)?.forSale)
    if (gone) return refuse('rule_withdrawn', { params: { rule: gone.name } })
  } else ctx.log.warn({ reason: there.reason }, 'a renewal was offered without asking the platform')
  const discountCode = await discountCodeFor(ctx.db, order.userId)
  const checkoutUrl = platform.data.checkoutUrl({
    lines: [platformVariantId, ...rules.map(rule => rule.platformVariantId)].map(variantId => ({
      variantId,
      quantity: order.quantity
    })),
    email,
    note: `Renewal of order ${order.publicId}`,
    attributes: { order_id: order.publicId, renewal: true },
    ...(discountCode ? { discountCodes: [discountCode] } : {})
  })
  return checkoutUrl ? ok({ checkout_url: checkoutUrl }) : refuse('platform_not_configured')
}
