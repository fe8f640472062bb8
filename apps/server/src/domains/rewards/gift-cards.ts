import { type BulkEffect, type GiftCard, type GiftCardsForm, type Reason, refuse } from '@netlet/contract'
import { asc, eq, inArray, sql } from '../../infra/db/drizzle.ts'
import type { Actor } from '../../infra/actor.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { type Outcomes, type Result, countOutcomes, done, ok } from '../../infra/result.ts'
import { staleEdit, type Edit } from '../../infra/version.ts'
import { isCodeTaken, lockCodes, oneOfCodes } from './codes.ts'
import { checkCodeOnPlatform, endCode, syncCode, withoutPlatformState } from './platform-codes.ts'
import { giftCardFields as fieldsOf, presentGiftCard as present } from './list-gift-cards.ts'
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

type GiftCardInput = { mount: string; code: string; point: number }

export function createGiftCard(ctx: AppContext, by: Actor, form: GiftCardInput): Promise<Result<GiftCard>> {
  return command(ctx, by, { unique: { gift_cards_code_key: 'code_taken' } }, async unit => {
    const { tx } = unit
    await lockCodes(tx)
    if (await isCodeTaken(tx, { kind: 'gift_card', code: form.code })) return refuse('code_taken')
    const [made] = await tx
      .insert(giftCards)
      .values({ ...form, createdAt: unit.now })
      .returning()
    if (!made) throw new Error('the gift card was not added')
    await checkCodeOnPlatform(unit, { kind: 'gift_card', id: made.id })
    const after = present({ ...made, platformState: 'waiting' })
    unit.audit('gift_card.create', made.id, { after: masked(after) })
    return ok(after)
  })
}

/** Edits a gift card that was not exchanged. An exchanged one belongs to a customer. */
export function updateGiftCard(
  ctx: AppContext,
  by: Actor,
  id: number,
  { version, ...form }: Edit<GiftCardInput>
): Promise<Result<GiftCard>> {
  return command(ctx, by, { unique: { gift_cards_code_key: 'code_taken' } }, async unit => {
    const { tx } = unit
    await lockCodes(tx)
    const row = await takeUnexchanged(tx, id)
    if (!row.ok) return row
    const before = present(row.data)
    const stale = staleEdit(version, before, { now: fieldsOf(before), sent: fieldsOf(form) })
    if (stale) return stale
    if (await isCodeTaken(tx, { kind: 'gift_card', code: form.code, kept: before.code })) return refuse('code_taken')
    const [changed] = await tx.update(giftCards).set(form).where(eq(giftCards.id, id)).returning()
    if (!changed) return refuse('not_found')
    if (before.code !== form.code) endCode(unit, before.code)
    if (before.code !== form.code || before.mount !== changed.mount) await syncCode(unit, { kind: 'gift_card', id })
    const [kept] = await tx.select().from(giftCards).where(eq(giftCards.id, id))
    const after = present(kept ?? changed)
    unit.audit('gift_card.edit', id, { before: masked(before), after: masked(after) })
    return ok(after)
  })
}

export const deleteGiftCard = (ctx: AppContext, by: Actor, id: number): Promise<Result<null>> =>
  command(ctx, by, unit => deleteGiftCardIn(unit, id))

/** `deleteGiftCard` as a part of a larger write. */
export async function deleteGiftCardIn(unit: Unit, id: number): Promise<Result<null>> {
  const row = await takeUnexchanged(unit.tx, id)
  if (!row.ok) return row
  await unit.tx.delete(giftCards).where(eq(giftCards.id, id))
  endCode(unit, row.data.code)
  unit.audit('gift_card.delete', id, { before: masked(present(row.data)) })
  return done
}

/** What deleting these gift cards would refuse, as `deleteGiftCardIn` does. */
export const planGiftCardRemoval = (db: Executor, ids: number[]): Promise<Outcomes> =>
  countOutcomes(
    db,
    sql`unnest(${sql.param(ids)}::bigint[]) as asked(id) left join ${giftCards} on ${eq(giftCards.id, sql`asked.id`)}`,
    {
      refused: sql<Reason | null>`case
      when ${giftCards.id} is null then 'not_found'
      when ${giftCards.isExchanged} then 'gift_card_exchanged'
    end`,
      effect: sql<BulkEffect>`'done'`
    }
  )

/** For the audit log: knowing a gift card's code is enough to spend it. */
const masked = (card: GiftCard) => ({
  ...withoutPlatformState(card),
  code: `…${card.code.slice(Math.max(card.code.length - 4, Math.ceil(card.code.length / 2)))}`
})

async function takeUnexchanged(tx: Executor, id: number): Promise<Result<typeof giftCards.$inferSelect>> {
  const [row] = await tx.select().from(giftCards).where(eq(giftCards.id, id)).for('update')
  if (!row) return refuse('not_found')
  return row.isExchanged ? refuse('gift_card_exchanged') : ok(row)
}
