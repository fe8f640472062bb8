import { refuse } from '@netlet/contract'
import { and, eq, isNull } from 'drizzle-orm'
import type { UserActor } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { users } from '../accounts/tables.ts'
import { openPlatform } from '../commerce/index.ts'
import { renewable } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { discountCodeFor } from '../rewards/index.ts'
import type { SaleCheck } from './sale-check.ts'
import { soldToday } from './sold-today.ts'

/**
 * Where to pay for another term of an order, at the platform's present prices. What is sold no longer, here or on the
 * platform at this moment, is refused: the link would lead nowhere. `days` is the term that it gives.
 * @param caller an administrator's is anyone's order, others' their own. Refuses 'too_many' where it asks all the time.
 */
export async function renewCheckout(
  ctx: Pick<AppContext, 'db' | 'secrets' | 'now' | 'log'>,
  orderId: number,
  caller: Pick<UserActor, 'id' | 'isSuperuser'>,
  saleCheck: SaleCheck
): Promise<Result<{ checkout_url: string; days: number }>> {
  const [found] = await ctx.db
    .select({ order: orders, email: users.email })
    .from(orders)
    .innerJoin(users, eq(users.id, orders.userId))
    .where(
      and(
        eq(orders.id, orderId),
        isNull(orders.deletedAt),
        caller.isSuperuser ? undefined : eq(orders.userId, caller.id)
      )
    )
  if (!found) return refuse('not_found')
  const { order, email } = found
  const possible = renewable(order, ctx.now())
  if (!possible.ok) return possible
  const { lines, days, withdrawn } = await soldToday(ctx.db, order)
  if (withdrawn) return withdrawn.refusal
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  const ids = lines.map(({ variant }) => variant)
  const there = await saleCheck(platform.data, caller.id, ids)
  if (!there) return refuse('too_many', { data: { retry_after: MINUTE / 1000 } })
  // Its checkout may well work while its API does not answer; then what is known here decides.
  if (there.ok) {
    const gone = lines.find(({ variant }) => !there.value.get(variant)?.forSale)
    if (gone && gone === lines[0]) return refuse('plan_withdrawn')
    if (gone) return refuse('rule_withdrawn', { params: { rule: gone.name } })
  } else ctx.log.warn({ reason: there.reason }, 'a renewal was offered without asking the platform')
  const discountCode = await discountCodeFor(ctx.db, order.userId)
  const checkoutUrl = platform.data.checkoutUrl({
    lines: lines.map(({ variant, quantity }) => ({ variantId: variant, quantity })),
    email,
    note: `Renewal of order ${order.publicId} for ${days === 1 ? '1 day' : `${days} days`}`,
    attributes: { order_id: order.publicId, renewal: true },
    ...(discountCode ? { discountCodes: [discountCode] } : {})
  })
  return checkoutUrl ? ok({ checkout_url: checkoutUrl, days }) : refuse('platform_not_configured')
}
