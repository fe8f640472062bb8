import { refuse } from '@netlet/contract'
import { and, asc, desc, eq, ne, not, sql } from 'drizzle-orm'
import type { UserActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { lockUser } from '../accounts/index.ts'
import { grantPoints } from './grant.ts'
import { pendingCoins } from './pending-coins.ts'
import { createCode } from './platform-codes.ts'
import { coupons, giftCards } from './tables.ts'

export type Exchanged = {
  code: string
  mount: string
  /** The coins that are left. */
  reward_points: number
}

/**
 * Cards that nobody has, and whose codes may take off what they say: the platform neither refused them nor has another discount
 * under them, nor one that was used up, nor one for other customers that the shop did not make; while it is asked again, what it had last counts. One that it does not have yet is created with the exchange.
 */
const isOffered = and(
  not(giftCards.isExchanged),
  ne(giftCards.platformState, 'refused'),
  sql`not (${giftCards.platformDiffers} && array['kind', 'value', 'items', 'minimum', 'ended', 'used'])`,
  sql`not (${giftCards.platformDiffers} @> array['holder', 'foreign'])`
)

/** What coins can be exchanged for now, at the price of the cheapest card of each amount, cheapest first. */
export async function listExchangeOptions(db: Executor): Promise<{ mount: string; point: number }[]> {
  const options = await db
    .selectDistinctOn([giftCards.mount], { mount: giftCards.mount, point: giftCards.point })
    .from(giftCards)
    .where(isOffered)
    .orderBy(asc(giftCards.mount), asc(giftCards.point))
  return options.toSorted((a, b) => a.point - b.point)
}

/**
 * Exchanges a user's coins for the cheapest gift card of this amount. Refuses 'no_gift_card', 'price_changed' where it
 * costs other than the `point` coins that the user agreed to, and 'insufficient_coins' where fewer can be spent now; then
 * nothing has changed.
 */
export async function exchangeCoins(
  ctx: AppContext,
  by: UserActor,
  { mount, point }: { mount: string; point: number }
): Promise<Result<Exchanged>> {
  const userId = by.id
  return command(ctx, by, async unit => {
    const { tx, now } = unit
    // The user's row first: of one user's exchanges at once, each sees what the one before has left.
    const user = await lockUser(tx, userId)
    if (!user) return refuse('not_found')
    const [card] = await tx
      .select()
      .from(giftCards)
      .where(and(isOffered, eq(giftCards.mount, mount)))
      .orderBy(asc(giftCards.point), desc(eq(giftCards.platformState, 'present')), asc(giftCards.id))
      .limit(1)
      // A card that another exchange has locked is most likely taken: use the next one instead of waiting.
      .for('update', { skipLocked: true })
    if (!card) return refuse('no_gift_card')
    if (card.point !== point) return refuse('price_changed', { params: { point: card.point } })
    // Of those from before coins were taken from pending ones, some may be owed: they are not the user's to spend.
    const spendable = user.coins - Math.max(await pendingCoins(tx, userId, now), user.coinsOwed)
    if (spendable < card.point) return refuse('insufficient_coins')
    await tx
      .update(giftCards)
      .set({
        isExchanged: true,
        exchangedBy: userId,
        exchangedAt: now,
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
    // The shop's discount of it becomes this customer's, and is made where there is none: coins were paid for it.
    if (coupon) await createCode(unit, { kind: 'coupon', id: coupon.id })
    unit.publish('gift_card', card.id)
    unit.publish('coupon', coupon?.id, userId)
    return ok({ code: card.code, mount: card.mount, reward_points: user.coins - card.point })
  })
}
