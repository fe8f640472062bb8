import { refuse, sentenceOf, type LevelDiscount, type ReplyOf, type routes } from '@netlet/contract'
import { fromCents, toCents } from '@netlet/contract/money'
import { and, eq, inArray, isNull } from '../../infra/db/drizzle.ts'
import { renewalNote, type Shopify } from '../../integrations/shopify/index.ts'
import type { UserActor } from '../../infra/actor.ts'
import { MINUTE } from '../../infra/clock.ts'
import { ok, type Result } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import { users } from '../accounts/tables.ts'
import { wholeCents } from '../catalog/index.ts'
import { isPaused, openPlatform } from '../commerce/index.ts'
import { isOverWith, renewable } from './renew.ts'
import { orders, type OrderLine } from './tables.ts'
import { discountCodeFor, levelDiscounts } from '../rewards/index.ts'
import { type CurrentTerms, currentTermsOf } from './current-terms.ts'
import { refusedByStock, type SaleCheck } from './sale-check.ts'

/** An administrator may renew any order, others their own. */
type Caller = Pick<UserActor, 'id' | 'isSuperuser'>
type Link = { checkout_url: string; days: number; price: string | null; discount: LevelDiscount | null }

/**
 * The checkout link for another term of an order, at the platform's current prices. It refuses a plan that is no longer
 * sold, here or on the platform, because the link would lead nowhere. `days`: the term that it buys; `price`: the
 * platform's price. Refuses 'too_many' if the caller asks too often.
 */
export async function renewCheckout(
  ctx: AppContext,
  orderId: number,
  caller: Caller,
  saleCheck: SaleCheck
): Promise<Result<Link>> {
  const links = await createLinks(ctx, [orderId], caller, saleCheck)
  return links.ok ? (links.data[0] ?? refuse('not_found')) : links
}

/** The same for several orders: each gets a link, or the reason why it has none. Asks the platform once. */
export async function renewCheckouts(
  ctx: AppContext,
  orderIds: number[],
  caller: Caller,
  saleCheck: SaleCheck
): Promise<Result<ReplyOf<typeof routes.orders.renewMany>>> {
  const links = await createLinks(ctx, orderIds, caller, saleCheck)
  if (!links.ok) return links
  return ok(
    links.data.map((link, at) => {
      const id = orderIds[at] ?? 0
      if (link.ok) return { id, ...link.data }
      return { id, reason: link.reason, params: { ...link.params }, msg: sentenceOf(link) }
    })
  )
}

/** One result for each id, in the same order. */
async function createLinks(
  ctx: AppContext,
  orderIds: number[],
  caller: Caller,
  saleCheck: SaleCheck
): Promise<Result<Result<Link>[]>> {
  const asked = await findRenewable(ctx, orderIds, caller)
  const open = asked.flatMap(one => (one.ok ? [one.data] : []))
  if (open.length === 0) return ok(asked.map(one => (one.ok ? refuse('not_found') : one)))
  const platform = await openPlatform(ctx)
  if (!platform.ok) return platform
  if (await isPaused(ctx.db)) return refuse('platform_paused')
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

type Found = { order: typeof orders.$inferSelect; email: string; sold: CurrentTerms }

/** How each order is sold today, or why it cannot be renewed, according to our own data. */
async function findRenewable({ db, now }: AppContext, orderIds: number[], caller: Caller): Promise<Result<Found>[]> {
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
  const sold = await currentTermsOf(
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
  // The platform's checkout may work even if its API does not answer. Then our own data decides.
  const short = there.ok ? refusedByStock(lines, there.value) : null
  if (short) return short
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

/** The platform's price of these lines before codes; null if a line has no price in whole cents. */
function priceOf(lines: readonly OrderLine[], there: ReadonlyMap<string, { price: string }>): string | null {
  let cents = 0n
  for (const { variant, quantity } of lines) {
    const price = there.get(variant)?.price ?? ''
    if (!/^\d+(\.\d\d?0*)?$/.test(price)) return null
    cents += toCents(wholeCents(price)) * BigInt(quantity)
  }
  return fromCents(cents)
}
