import { refuse, type GiftCard } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import type { Database, Executor } from '../../infra/db/client.ts'
import { refuseTaken } from '../../infra/db/taken.ts'
import type { Actor } from '../../infra/actor.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { record } from '../audit/index.ts'
import { isCouponCode, lockCodes } from './codes.ts'
import { presentGiftCard as present } from './list-gift-cards.ts'
import { giftCards } from './tables.ts'

type GiftCardInput = { mount: string; code: string; point: number }

export function createGiftCard(db: Database, by: Actor, form: GiftCardInput): Promise<Result<GiftCard>> {
  return refuseTaken({ gift_cards_code_key: 'code_taken' }, () =>
    db.transaction(async tx => {
      await lockCodes(tx)
      if (await isCouponCode(tx, form.code)) return refuse('code_taken')
      const [made] = await tx.insert(giftCards).values(form).returning()
      if (!made) throw new Error('the gift card was not added')
      const after = present(made)
      await record(tx, by, { action: 'create gift card', targetType: 'gift_card', targetId: made.id, after })
      return ok(after)
    })
  )
}

/** Changes a card that nobody has yet; one that was exchanged is somebody's property. */
export function updateGiftCard(db: Database, by: Actor, id: number, form: GiftCardInput): Promise<Result<GiftCard>> {
  return refuseTaken({ gift_cards_code_key: 'code_taken' }, () =>
    db.transaction(async tx => {
      await lockCodes(tx)
      const row = await takeUnexchanged(tx, id)
      if (!row.ok) return row
      if (row.data.code.toLowerCase() !== form.code.toLowerCase() && (await isCouponCode(tx, form.code)))
        return refuse('code_taken')
      const [changed] = await tx.update(giftCards).set(form).where(eq(giftCards.id, id)).returning()
      if (!changed) return refuse('not_found')
      const [before, after] = [present(row.data), present(changed)]
      await record(tx, by, { action: 'edit gift card', targetType: 'gift_card', targetId: id, before, after })
      return ok(after)
    })
  )
}

export async function deleteGiftCard(db: Database, by: Actor, id: number): Promise<Result<null>> {
  return db.transaction(async tx => {
    const row = await takeUnexchanged(tx, id)
    if (!row.ok) return row
    await tx.delete(giftCards).where(eq(giftCards.id, id))
    const before = present(row.data)
    await record(tx, by, { action: 'delete gift card', targetType: 'gift_card', targetId: id, before })
    return done
  })
}

async function takeUnexchanged(tx: Executor, id: number): Promise<Result<typeof giftCards.$inferSelect>> {
  const [row] = await tx.select().from(giftCards).where(eq(giftCards.id, id)).for('update')
  if (!row) return refuse('not_found')
  return row.isExchanged ? refuse('gift_card_exchanged') : ok(row)
}
