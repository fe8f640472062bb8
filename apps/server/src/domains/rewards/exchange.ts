import { refuse } from '@netlet/contract'
import { and, asc, eq, not } from 'drizzle-orm'
import type { Database, Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { users } from '../accounts/tables.ts'
import { grantPoints } from './grant.ts'
import { coupons, giftCards } from './tables.ts'

export type Exchanged = {
  code: string
  mount: string
  /** The coins that are left. */
  reward_points: number
}

/** What coins can be exchanged for now, cheapest first. */
export async function listExchangeOptions(db: Executor): Promise<{ mount: string; point: number }[]> {
  return db
    .selectDistinct({ mount: giftCards.mount, point: giftCards.point })
    .from(giftCards)
    .where(not(giftCards.isExchanged))
    .orderBy(asc(giftCards.point), asc(giftCards.mount))
}

/**
 * Takes a user's coins and hands over the cheapest gift card of this amount. Refuses 'no_gift_card' and
 * 'insufficient_coins'; then nothing has changed.
 */
export async function exchangeCoins(
  db: Database,
  { userId, mount, now }: { userId: number; mount: string; now: Date }
): Promise<Result<Exchanged>> {
  return db.transaction(async tx => {
    // The user's row first: of one user's exchanges at once, each sees what the one before has left.
    const [user] = await tx.select({ coins: users.coins }).from(users).where(eq(users.id, userId)).for('update')
    if (!user) return refuse('not_found')
    const [card] = await tx
      .select()
      .from(giftCards)
      .where(and(not(giftCards.isExchanged), eq(giftCards.mount, mount)))
      .orderBy(asc(giftCards.point), asc(giftCards.id))
      .limit(1)
      // A card in somebody else's hand is as good as gone: take the next instead of waiting.
      .for('update', { skipLocked: true })
    if (!card) return refuse('no_gift_card')
    if (user.coins < card.point) return refuse('insufficient_coins')
    await tx
      .update(giftCards)
      .set({ isExchanged: true, exchangedBy: userId, exchangedAt: now })
      .where(eq(giftCards.id, card.id))
    await grantPoints(tx, {
      userId,
      kind: 'coins',
      point: -card.point,
      reason: `Exchanged for a $${card.mount} gift card`,
      cause: `exchange:${card.id}`,
      now
    })
    await tx
      .insert(coupons)
      .values({ holderId: userId, code: card.code, codeType: 2, discount: card.mount, createdAt: now })
    return ok({ code: card.code, mount: card.mount, reward_points: user.coins - card.point })
  })
}
