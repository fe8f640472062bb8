import { refuse, type GiftCard, type GiftCardsForm } from '@netlet/contract'
import { asc, inArray, sql } from 'drizzle-orm'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { lockCodes, oneOfCodes } from './codes.ts'
import { masked } from './gift-cards.ts'
import { presentGiftCard as present } from './list-gift-cards.ts'
import { checkCodeOnPlatform } from './platform-codes.ts'
import { coupons, giftCards, levelCodes } from './tables.ts'

/** Characters of a code, about 5 bits each, so that it cannot be guessed. */
const LENGTH = 16

/**
 * Several gift cards of one amount. The codes derive from the batch's name and the shop's secret, so a repeated or
 * concurrent request makes them once and returns the same cards.
 */
export function createGiftCards(
  ctx: AppContext,
  by: Actor,
  { mount, point, count, batch }: GiftCardsForm
): Promise<Result<GiftCard[]>> {
  const codes = Array.from({ length: count }, (_, at) => ctx.secrets.codeOf(`gift card ${at} of ${batch}`, LENGTH))
  return command(ctx, by, { unique: { gift_cards_code_key: 'code_taken' } }, async unit => {
    const { tx } = unit
    await lockCodes(tx)
    const known = await tx.select().from(giftCards).where(inArray(giftCards.code, codes)).orderBy(asc(giftCards.id))
    if (known.length === count && known.every(card => card.mount === mount && card.point === point))
      return ok(known.map(present))
    if (known.length > 0 || (await isOtherCode(tx, codes))) return refuse('code_taken')
    const made = await tx
      .insert(giftCards)
      .values(codes.map(code => ({ code, mount, point, createdAt: unit.now })))
      .returning()
    for (const { id } of made) await checkCodeOnPlatform(unit, { kind: 'gift_card', id })
    const cards = made.map(card => present({ ...card, platformState: 'waiting' })).toSorted((a, b) => a.id - b.id)
    for (const card of cards) unit.audit('gift_card.create', card.id, { after: masked(card) })
    return ok(cards)
  })
}

/** Is one of them a promo code or a level's code? On the platform they share one space. */
async function isOtherCode(tx: Executor, codes: readonly string[]): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    select 1 from ${coupons} where ${oneOfCodes(coupons.code, codes)}
    union all select 1 from ${levelCodes} where ${oneOfCodes(levelCodes.code, codes)} limit 1`)
  return rows.length > 0
}
