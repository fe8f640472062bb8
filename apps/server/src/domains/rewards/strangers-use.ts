import { and, ne, not } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { oneOfCodes } from './codes.ts'
import { noteSpent } from './platform-codes.ts'
import { coupons, giftCards } from './tables.ts'

/**
 * A paid order named codes that are not its buyer's: gift cards that nobody holds, and promo codes of others. What they took
 * off there they take off no more: the row says so, and such a card is not sold, until the platform says otherwise.
 * @param named codes, in whatever case
 * @param buyer null: nobody of the shop
 */
export async function noteStrangersUse(unit: Unit, named: readonly string[], buyer: number | null): Promise<void> {
  // Cards first: where one is being exchanged, this waits, and finds it among the promo codes then.
  const cards = await unit.tx
    .select({ id: giftCards.id })
    .from(giftCards)
    .where(and(oneOfCodes(giftCards.code, named), not(giftCards.isExchanged)))
    .orderBy(giftCards.id)
    .for('update')
  const others = await unit.tx
    .select({ id: coupons.id })
    .from(coupons)
    .where(
      and(
        oneOfCodes(coupons.code, named),
        not(coupons.isUsed),
        buyer === null ? undefined : ne(coupons.holderId, buyer)
      )
    )
    .orderBy(coupons.id)
    .for('update')
  for (const { id } of cards) await noteSpent(unit, { kind: 'gift_card', id })
  for (const { id } of others) await noteSpent(unit, { kind: 'coupon', id })
}
