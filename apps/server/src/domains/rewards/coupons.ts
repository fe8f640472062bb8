import { type CodeState, type Coupon, type DiscountType, refuse } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { iso } from '../../infra/clock.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, arrayContains, eq, ilike, isNull, ne, not, or, sql } from '../../infra/db/drizzle.ts'
import { containing } from '../../infra/db/like.ts'
import { type ListInput, among, defineList, idsByText } from '../../infra/list/index.ts'
import { type Result, done, ok } from '../../infra/result.ts'
import { type Edit, staleEdit, versionOf } from '../../infra/version.ts'
import { usernameAndEmail, users } from '../accounts/tables.ts'
import { isCodeTaken, lockCodes, oneOfCodes, tooManyPercent } from './codes.ts'
import {
  checkCodeOnPlatform,
  endCode,
  syncCode,
  markSpent,
  presentPlatformState,
  withoutPlatformState
} from './platform-codes.ts'
import { coupons, giftCards } from './tables.ts'

type CouponInput = {
  username: string
  code: string
  discount: string
  discount_type?: DiscountType | undefined
  code_type: 1 | 2
  is_used?: boolean | undefined
}
type Query = ListInput<'id'> & { platform_state?: CodeState | undefined }

/** Promo codes by code or holder's name; with `holderId` only that holder's. */
export const couponList = (holderId?: number) =>
  defineList<Query, Coupon>({
    name: 'promo_codes',
    table: coupons,
    id: coupons.id,
    sort: { id: coupons.id },
    async match(db, { search, platform_state }) {
      const inState = platform_state && eq(coupons.platformState, platform_state)
      // The platform's state is for administrators only, so a holder's filter has no effect.
      const own = holderId === undefined ? inState : eq(coupons.holderId, holderId)
      if (search === undefined) return { where: [own] }
      const [ids, holders] = await Promise.all([
        idsByText(db, { table: coupons, id: coupons.id, text: coupons.code, where: own }, search, FOUND + 1),
        idsByText(db, { table: users, id: users.id, text: usernameAndEmail, where: named(search) }, search, FOUND + 1)
      ])
      return {
        where: [own],
        anyOf: [
          { column: coupons.id, among: ids.slice(0, FOUND) },
          { column: coupons.holderId, among: holders.slice(0, FOUND) }
        ],
        capped: ids.length > FOUND || holders.length > FOUND
      }
    },
    load: async (db, ids) => {
      const rows = await selectCoupons(db).where(among(coupons.id, ids))
      return rows.map(row => present(row, { isKnown: holderId === undefined }))
    }
  })

/** How many matching codes, and holders, a search considers, newest first. */
const FOUND = 500

// The trigram index covers name and e-mail, but this search is for names only.
const named = (text: string) => ilike(users.username, containing(text))

/** Creates a promo code for a user. Refuses 'unknown_user' and 'code_taken'. */
export function createCoupon(ctx: AppContext, by: Actor, form: CouponInput): Promise<Result<Coupon>> {
  return command(ctx, by, { unique: { coupons_code_key: 'code_taken' } }, async unit => {
    const { tx } = unit
    await lockCodes(tx)
    const row = await rowOf(tx, form)
    if (!row.ok) return row
    const [made] = await tx
      .insert(coupons)
      .values({ ...row.data, createdAt: unit.now })
      .returning({ id: coupons.id })
    if (!made) throw new Error('the promo code was not added')
    await checkCodeOnPlatform(unit, { kind: 'coupon', id: made.id })
    const after = await readCoupon(tx, made.id)
    if (!after) throw new Error('the promo code is gone')
    unit.audit('coupon.create', made.id, { after: withoutPlatformState(after) })
    unit.publish('coupon', made.id, row.data.holderId)
    return ok(after)
  })
}

export function updateCoupon(
  ctx: AppContext,
  by: Actor,
  id: number,
  { version, ...form }: Edit<CouponInput>
): Promise<Result<Coupon>> {
  return command(ctx, by, { unique: { coupons_code_key: 'code_taken' } }, async unit => {
    const { tx } = unit
    await lockCodes(tx)
    const [held] = await tx.select({ by: coupons.holderId }).from(coupons).where(eq(coupons.id, id)).for('update')
    const before = await readCoupon(tx, id)
    if (!held || !before) return refuse('not_found')
    const stale = staleEdit(version, before, { now: fieldsOf(before), sent: fieldsOf(form) })
    if (stale) return stale
    const row = await rowOf(tx, { ...form, discount_type: form.discount_type ?? before.discount_type }, before.code)
    if (!row.ok) return row
    const isDecided = form.is_used !== undefined && form.is_used !== before.is_used
    const isRenamed = before.code.toLowerCase() !== row.data.code.toLowerCase()
    const changed = await tx
      .update(coupons)
      .set({ ...row.data, ...countedAfter({ isDecided, isRenamed }) })
      .where(eq(coupons.id, id))
      .returning({ id: coupons.id })
    if (!held || changed.length === 0) return refuse('not_found')
    if (before.code !== row.data.code) endCode(unit, before.code)
    // A code that an administrator marks as used ends on the platform; one that is free again works there.
    if (isDecided && form.is_used) endCode(unit, row.data.code)
    await syncCode(unit, { kind: 'coupon', id })
    const after = await readCoupon(tx, id)
    if (!after) return refuse('not_found')
    unit.audit('coupon.edit', id, { before: withoutPlatformState(before), after: withoutPlatformState(after) })
    if (held.by !== row.data.holderId) unit.publish('coupon', id, held.by)
    unit.publish('coupon', id, row.data.holderId)
    return ok(after)
  })
}

export async function deleteCoupon(ctx: AppContext, by: Actor, id: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const { tx } = unit
    // Locked first: a concurrent edit may be renaming the code.
    await tx.select({ id: coupons.id }).from(coupons).where(eq(coupons.id, id)).for('update')
    const before = await readCoupon(tx, id)
    const [deleted] = await tx.delete(coupons).where(eq(coupons.id, id)).returning({ holderId: coupons.holderId })
    if (!deleted || !before) return refuse('not_found')
    endCode(unit, before.code)
    unit.audit('coupon.delete', id, { before: withoutPlatformState(before) })
    unit.publish('coupon', id, deleted.holderId)
    return done
  })
}

/**
 * Marks the promo codes that an order used. Others' codes: see `markUsedByOthers`.
 * @param holderId null: the buyer is not known. A code works for its holder alone, so its holder used it
 * @param order its id is that of the platform: see `countCoupons`
 */
export async function markCouponsUsed(
  unit: Unit,
  holderId: number | null,
  { id: payment, discount_codes }: { id: string; discount_codes: readonly { code: string }[] }
): Promise<void> {
  if (discount_codes.length === 0) return
  const named = discount_codes.map(({ code }) => code.trim())
  await markUsedByOthers(unit, named, holderId)
  const used = await unit.tx
    .update(coupons)
    .set({ isUsed: true, ...movedTo(payment, 'usedBy') })
    .where(
      and(
        holderId === null ? undefined : eq(coupons.holderId, holderId),
        // A code that an administrator marked as used stays used, independent of payments.
        or(not(coupons.isUsed), sql`cardinality(${coupons.usedBy}) > 0`),
        oneOfCodes(coupons.code, named)
      )
    )
    .returning({ id: coupons.id, code: coupons.code, by: coupons.holderId })
  for (const { id, code, by } of used) {
    unit.publish('coupon', id, by)
    // After an earlier refund its limit on the platform was raised, so it may still work there.
    endCode(unit, code)
  }
}

/**
 * Says whether a payment still uses its promo codes. A code that no payment uses is free again. Does nothing if it is
 * known already.
 */
export async function setCouponUse(unit: Unit, payment: string, isUsed: boolean): Promise<void> {
  const [from, to] = isUsed ? ([coupons.freedBy, 'usedBy'] as const) : ([coupons.usedBy, 'freedBy'] as const)
  const changed = await unit.tx
    .update(coupons)
    .set({
      ...movedTo(payment, to),
      isUsed: isUsed ? true : sql`cardinality(array_remove(${coupons.usedBy}, ${payment})) > 0`
    })
    .where(arrayContains(from, [payment]))
    .returning({ id: coupons.id, code: coupons.code, holderId: coupons.holderId, isUsed: coupons.isUsed })
  for (const { id, code, holderId, isUsed: isStillUsed } of changed) {
    unit.publish('coupon', id, holderId)
    // The platform still counts the earlier use, so the code needs a higher limit.
    if (!isStillUsed) await syncCode(unit, { kind: 'coupon', id })
    // Reverts the higher limit.
    else if (isUsed) endCode(unit, code)
  }
}

/** The uses that the platform has counted for a promo code, after an edit. */
function countedAfter({ isDecided, isRenamed }: { isDecided: boolean; isRenamed: boolean }) {
  const inLists = sql`cardinality(${coupons.usedBy}) + cardinality(${coupons.freedBy})`
  // An administrator's decision replaces the payments' uses, which the platform still counts.
  if (isDecided)
    return { usedBy: [], freedBy: [], countedBefore: isRenamed ? 0 : sql`${coupons.countedBefore} + ${inLists}` }
  return isRenamed ? { countedBefore: sql`-(${inLists})` } : {}
}

/** Moves a payment to one of the two lists. */
const movedTo = (payment: string, to: 'usedBy' | 'freedBy') => {
  const [without, other] = to === 'usedBy' ? [coupons.usedBy, coupons.freedBy] : [coupons.freedBy, coupons.usedBy]
  const added = sql`array_append(array_remove(${without}, ${payment}), ${payment})`
  const removed = sql`array_remove(${other}, ${payment})`
  return to === 'usedBy' ? { usedBy: added, freedBy: removed } : { usedBy: removed, freedBy: added }
}

/**
 * Call it under the lock of the codes.
 * @param kept the promo code's current code, which it may keep even if it came from a gift card
 */
async function rowOf(tx: Executor, form: CouponInput, kept?: string) {
  const percent = tooManyPercent(form.discount, form.discount_type ?? 'amount')
  if (percent) return percent
  const [holder] = await tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(sql`lower(${users.username})`, form.username.toLowerCase()), isNull(users.deletedAt)))
  if (!holder) return refuse('unknown_user', { data: { errors: { username: 'This user does not exist' } } })
  if (await isCodeTaken(tx, { kind: 'coupon', code: form.code, kept })) return refuse('code_taken')
  return ok({
    holderId: holder.id,
    code: form.code,
    codeType: form.code_type,
    discount: form.discount,
    discountType: form.discount_type ?? 'amount',
    ...(form.is_used === undefined ? {} : { isUsed: form.is_used })
  })
}

function selectCoupons(db: Executor) {
  return db
    .select({ coupon: coupons, username: users.username })
    .from(coupons)
    .innerJoin(users, eq(users.id, coupons.holderId))
    .$dynamic()
}

async function readCoupon(db: Executor, id: number): Promise<Coupon | undefined> {
  const [row] = await selectCoupons(db).where(eq(coupons.id, id))
  return row && present(row)
}

const fieldsOf = ({ username, code, discount, discount_type, code_type, is_used }: CouponInput) => ({
  username,
  code,
  discount,
  discount_type,
  code_type,
  is_used
})

function present(
  { coupon, username }: { coupon: typeof coupons.$inferSelect; username: string },
  reader: { isKnown?: boolean } = {}
): Coupon {
  const fields = {
    username,
    code: coupon.code,
    code_type: coupon.codeType === 2 ? 2 : 1,
    discount: coupon.discount,
    discount_type: coupon.discountType,
    is_used: coupon.isUsed
  } as const
  return {
    id: coupon.id,
    holder_username: username,
    ...fields,
    created_at: iso(coupon.createdAt),
    ...presentPlatformState(coupon, reader),
    version: versionOf(fieldsOf(fields))
  }
}

/**
 * A paid order used codes that its buyer does not hold: unsold gift cards, or others' promo codes. Their discount is
 * spent, so the row says so, and the card is not sold until a check finds otherwise.
 * @param named codes, in any case
 * @param buyer null: not known
 */
async function markUsedByOthers(unit: Unit, named: readonly string[], buyer: number | null): Promise<void> {
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
