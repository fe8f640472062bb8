import { and, ne, not } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { oneOfCodes } from './codes.ts'
import { markSpent } from './platform-codes.ts'
import { coupons, giftCards } from './tables.ts'

/**
 * A paid order used codes that its buyer does not hold: unsold gift cards, or others' promo codes. Their discount is
 * spent, so the row says so, and the card is not sold until a check finds otherwise.
 * @param named codes, in any case
 * @param buyer null: not known
 */
export async function markUsedByOthers(unit: Unit, named: readonly string[], buyer: number | null): Promise<void> {
  // Cards first: if one is just being exchanged, this waits and then finds it among the promo codes.
  const cards = await unit.tx
    .select({ id: giftCards.id })
    .from(giftCards)
    .where(and(oneOfCodes(giftCards.code, named), not(giftCards.isExchanged)))
    .orderBy(giftCards.id)
    .for('update')
  for (const { id } of cards) await markSpent(unit, { kind: 'gift_card', id })
  if (buyer === null) return
  const others = await unit.tx
    .select({ id: coupons.id })
    .from(coupons)
    .where(and(oneOfCodes(coupons.code, named), not(coupons.isUsed), ne(coupons.holderId, buyer)))
    .orderBy(coupons.id)
    .for('update')
  for (const { id } of others) await markSpent(unit, { kind: 'coupon', id })
}
