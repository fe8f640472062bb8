import { refuse, sentenceOf, type LevelDiscount, type ReplyOf, type routes } from '@netlet/contract'
import { fromCents, toCents } from '@netlet/contract/money'
import { and, eq, inArray, isNull } from 'drizzle-orm'
import { renewalNote, type Shopify } from '../../integrations/shopify/index.ts'
import type { UserActor } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { users } from '../accounts/tables.ts'
import { wholeCents } from '../catalog/index.ts'
import { openPlatform } from '../commerce/index.ts'
import { isOverWith, renewable } from './renew.ts'
import { orders, type OrderLine } from './tables.ts'
import { discountCodeFor, levelDiscounts } from '../rewards/index.ts'
import type { SaleCheck } from './sale-check.ts'
import { soldTodayOf, type SoldToday } from './sold-today.ts'

/** An administrator's order is anyone's, others' their own. */
type Caller = Pick<UserActor, 'id' | 'isSuperuser'>
type Link = { checkout_url: string; days: number; price: string | null; discount: LevelDiscount | null }

/**
 * Where to pay for another term of an order, at the platform's present prices. What is sold no longer, here or on the
 * platform at this moment, is refused: the link would lead nowhere. `days` is the term that it gives, `price` what the platform asks for it. Refuses 'too_many' where
 * the caller asks all the time.
 */
export async function renewCheckout(
  ctx: AppContext,
  orderId: number,
  caller: Caller,
  saleCheck: SaleCheck
): Promise<Result<Link>> {
  const links = await linksOf(ctx, [orderId], caller, saleCheck)
  return links.ok ? (links.data[0] ?? refuse('not_found')) : links
}

/** The same for several orders, each with a link of its own, or why it has none. It asks the platform once. */
export async function renewCheckouts(
  ctx: AppContext,
  orderIds: number[],
  caller: Caller,
  saleCheck: SaleCheck
): Promise<Result<ReplyOf<typeof routes.orders.renewMany>>> {
  const links = await linksOf(ctx, orderIds, caller, saleCheck)
  if (!links.ok) return links
  return ok(
    links.data.map((link, at) => {
      const id = orderIds[at] ?? 0
      if (link.ok) return { id, ...link.data }
      return { id, reason: link.reason, params: { ...link.params }, msg: sentenceOf(link) }
    })
  )
}

/** One result for each id, in their sequence. */
async function linksOf(
  ctx: AppContext,
  orderIds: number[],
  caller: Caller,
  saleCheck: SaleCheck
): Promise<Result<Result<Link>[]>> {
  const asked = await lookUp(ctx, orderIds, caller)
  const open = asked.flatMap(one => (one.ok ? [one.data] : []))
  if (open.length === 0) return ok(asked.map(one => (one.ok ? refuse('not_found') : one)))
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  const ids = new Set(open.flatMap(({ sold }) => sold.lines.map(({ variant }) => variant)))
  const there = await saleCheck(platform.data, caller.id, [...ids])
  if (!there) return refuse('too_many', { data: { retry_after: MINUTE / 1000 } })
  if (!there.ok) ctx.log.warn({ reason: there.reason }, 'a renewal was offered without asking the platform')
  const codes = new Map<number, string | null>()
  for (const userId of new Set(open.map(({ order }) => order.userId)))
    codes.set(userId, await discountCodeFor(ctx.db, userId))
  const discounts = await levelDiscounts(ctx.db, [...codes.values()])
  return ok(
    asked.map(one => {
      if (!one.ok) return one
      const discountCode = codes.get(one.data.order.userId) ?? null
      const discount = discounts.get(discountCode) ?? null
      return linkOf(one.data, { platform: platform.data, there, discountCode, discount })
    })
  )
}

type Found = { order: typeof orders.$inferSelect; email: string; sold: SoldToday }

/** Each order with how it is sold today, or why it cannot be renewed as far as that is known here. */
async function lookUp({ db, now }: AppContext, orderIds: number[], caller: Caller): Promise<Result<Found>[]> {
  const rows = await db
    .select({ order: orders, email: users.email })
    .from(orders)
    .innerJoin(users, eq(users.id, orders.userId))
    .where(
      and(
        inArray(orders.id, orderIds),
        isNull(orders.deletedAt),
        caller.isSuperuser ? undefined : eq(orders.userId, caller.id)
      )
    )
  const sold = await soldTodayOf(
    db,
    rows.map(({ order }) => order)
  )
  const at = now()
  return orderIds.map(id => {
    const place = rows.findIndex(({ order }) => order.id === id)
    const [row, today] = [rows[place], sold[place]]
    if (!row || !today) return refuse('not_found')
    const possible = renewable(row.order, at)
    if (!possible.ok) return possible
    if (isOverWith(row.order, today.days, at)) return refuse('order_expired')
    return today.withdrawn ? today.withdrawn.refusal : ok({ ...row, sold: today })
  })
}

type Platform = {
  platform: Shopify
  there: Awaited<NonNullable<ReturnType<SaleCheck>>>
  discountCode: string | null
  discount: LevelDiscount | null
}

function linkOf({ order, email, sold }: Found, { platform, there, discountCode, discount }: Platform): Result<Link> {
  const { lines, days } = sold
  // Its checkout may well work while its API does not answer; then what is known here decides.
  const gone = there.ok ? lines.find(({ variant }) => !there.value.get(variant)?.forSale) : undefined
  if (gone && gone === lines[0]) return refuse('plan_withdrawn')
  if (gone) return refuse('rule_withdrawn', { params: { rule: gone.name } })
  const checkoutUrl = platform.checkoutUrl({
    lines: lines.map(({ variant, quantity }) => ({ variantId: variant, quantity })),
    email,
    note: renewalNote(order.publicId, days),
    attributes: { order_id: order.publicId, renewal: true },
    ...(discountCode ? { discountCodes: [discountCode] } : {})
  })
  return checkoutUrl
    ? ok({ checkout_url: checkoutUrl, days, price: there.ok ? priceOf(lines, there.value) : null, discount })
    : refuse('platform_not_configured')
}

/** What the platform asks for these lines, before codes; null where it has no price in whole cents for one. */
function priceOf(lines: readonly OrderLine[], there: ReadonlyMap<string, { price: string }>): string | null {
  let cents = 0n
  for (const { variant, quantity } of lines) {
    const price = there.get(variant)?.price ?? ''
    if (!/^\d+(\.\d\d?0*)?$/.test(price)) return null
    cents += toCents(wholeCents(price)) * BigInt(quantity)
  }
  return fromCents(cents)
}
