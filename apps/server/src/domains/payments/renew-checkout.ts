import { refuse } from '@netlet/contract'
import { and, eq, inArray, isNull } from 'drizzle-orm'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { users } from '../accounts/tables.ts'
import { variants } from '../catalog/tables.ts'
import { openPlatform } from '../commerce/index.ts'
import { aclRules } from '../inventory/tables.ts'
import { renewable } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { discountCodeFor } from '../rewards/index.ts'

/**
 * Where to pay for another term of an order, at the platform's present prices.
 * @param userId only the user's own order (null: anyone's)
 */
export async function renewCheckout(
  ctx: Pick<AppContext, 'db' | 'secrets' | 'now'>,
  orderId: number,
  userId: number | null
): Promise<Result<{ checkout_url: string }>> {
  const [found] = await ctx.db
    .select({ order: orders, email: users.email, platformVariantId: variants.platformId })
    .from(orders)
    .innerJoin(users, eq(users.id, orders.userId))
    .innerJoin(variants, eq(variants.id, orders.variantId))
    .where(
      and(eq(orders.id, orderId), isNull(orders.deletedAt), userId === null ? undefined : eq(orders.userId, userId))
    )
  if (!found) return refuse('not_found')
  const { order, email, platformVariantId } = found
  const possible = renewable(order, ctx.now())
  if (!possible.ok) return possible
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  const rules = await ctx.db
    .select({ platformVariantId: aclRules.platformVariantId })
    .from(aclRules)
    .where(inArray(aclRules.id, order.rules))
  // A link that leaves a rule out would ask for too little.
  if (rules.length < order.rules.length) return refuse('unknown_rule')
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
