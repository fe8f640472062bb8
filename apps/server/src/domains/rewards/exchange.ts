import { refuse } from '@netlet/contract'
import { and, asc, desc, eq, ne, not, notLike, sql } from '../../infra/db/drizzle.ts'
import type { UserActor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { lockUser, notifyAdmins } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import { grantPoints } from './grant.ts'
import { type CodeRef, createCode } from './platform-codes.ts'
import { coupons, giftCards } from './tables.ts'
import { pendingCoins } from './take-coins.ts'

export type Exchanged = {
  code: string
  mount: string
  /** The coins that are left. */
  reward_points: number
}

/**
 * Unexchanged cards whose code should work: it has no comma, which checkout links cannot have in a code, the platform has
 * not refused it and has no different, ended or used discount under it, nor another customer's that the shop did not
 * make. A missing discount is created by the exchange.
 */
const isOffered = and(
  not(giftCards.isExchanged),
  notLike(giftCards.code, '%,%'),
  ne(giftCards.platformState, 'refused'),
  sql`not (${giftCards.platformDiffers} && array['kind', 'value', 'items', 'minimum', 'ended', 'used'])`,
  sql`not (${giftCards.platformDiffers} @> array['holder', 'foreign'])`
)

/** The amounts that coins buy now, each at the price of its cheapest card, cheapest first. */
export async function listExchangeOptions(db: Executor): Promise<{ mount: string; point: number }[]> {
  const options = await db
    .selectDistinctOn([giftCards.mount], { mount: giftCards.mount, point: giftCards.point })
    .from(giftCards)
    .where(isOffered)
    .orderBy(asc(giftCards.mount), asc(giftCards.point))
  return options.toSorted((a, b) => a.point - b.point)
}

/**
 * Exchanges a user's coins for the cheapest gift card of this amount. Refuses 'no_gift_card', 'price_changed' if it no
 * longer costs `point` coins, and 'insufficient_coins'; then nothing has changed.
 * @param key the request's idempotency key: a repeated request returns the same card; null: none
 */
export async function exchangeCoins(
  ctx: AppContext,
  by: UserActor,
  { mount, point }: { mount: string; point: number },
  key: string | null
): Promise<Result<Exchanged>> {
  const userId = by.id
  return command(ctx, by, async unit => {
    const { tx, now } = unit
    // Lock the user first, so that concurrent exchanges of one user see each other's result.
    const user = await lockUser(tx, userId)
    if (!user) return refuse('not_found')
    const earlier = key === null ? undefined : await exchangedWith(tx, userId, key)
    if (earlier) {
      if (earlier.mount !== mount || earlier.point !== point) return refuse('idempotency_key_reused')
      return ok({ code: earlier.code, mount, reward_points: user.coins })
    }
    const [card] = await tx
      .select()
      .from(giftCards)
      .where(and(isOffered, eq(giftCards.mount, mount)))
      .orderBy(asc(giftCards.point), desc(eq(giftCards.platformState, 'present')), asc(giftCards.id))
      .limit(1)
      // A card that another exchange has locked is probably taken, so use the next one.
      .for('update', { skipLocked: true })
    if (!card) return refuse('no_gift_card')
    if (card.point !== point) return refuse('price_changed', { params: { point: card.point } })
    // Old refunds did not take pending coins, so some coins may be owed. The user cannot spend those.
    const spendable = user.coins - Math.max(await pendingCoins(tx, userId, now), user.coinsOwed)
    if (spendable < card.point) return refuse('insufficient_coins')
    await tx
      .update(giftCards)
      .set({
        isExchanged: true,
        exchangedBy: userId,
        exchangedAt: now,
        exchangeKey: key,
        platformState: 'unknown',
        platformProblem: null
      })
      .where(eq(giftCards.id, card.id))
    await grantPoints(unit, {
      userId,
      kind: 'coins',
      point: -card.point,
      reason: 'exchange',
      params: { mount: card.mount },
      cause: `exchange:${card.id}`
    })
    const [coupon] = await tx
      .insert(coupons)
      .values({ holderId: userId, code: card.code, codeType: 2, discount: card.mount, createdAt: now })
      .returning({ id: coupons.id })
    // The discount is bound to this customer, or created if missing, because the coins are spent.
    if (coupon) await createCode(unit, { kind: 'coupon', id: coupon.id })
    unit.publish('gift_card', card.id)
    unit.publish('coupon', coupon?.id, userId)
    return ok({ code: card.code, mount: card.mount, reward_points: user.coins - card.point })
  })
}

/**
 * Tells operators, once, that a code does not work on the platform although its holder spent coins on it. Does nothing
 * for other codes.
 */
export async function noticeUnusable(unit: Unit, { kind, id }: CodeRef): Promise<void> {
  if (kind !== 'coupon') return
  const [bought] = await unit.tx
    .select({ amount: giftCards.mount, coins: giftCards.point, user: users.username })
    .from(coupons)
    .innerJoin(giftCards, and(eq(giftCards.code, coupons.code), eq(giftCards.exchangedBy, coupons.holderId)))
    .innerJoin(users, eq(users.id, coupons.holderId))
    .where(eq(coupons.id, id))
  if (bought) await notifyAdmins(unit, { words: 'bought_code', params: bought, key: `bought-code:${id}` })
}

/** The card that the user already has for this key. An exchanged card can no longer be edited or deleted. */
async function exchangedWith(tx: Executor, userId: number, key: string) {
  const { mount, point, code, exchangedBy, exchangeKey } = giftCards
  const [card] = await tx
    .select({ mount, point, code })
    .from(giftCards)
    .where(and(eq(exchangedBy, userId), eq(exchangeKey, key)))
  return card
}
