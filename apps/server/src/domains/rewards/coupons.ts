import { refuse, type Coupon } from '@netlet/contract'
import { and, count, desc, eq, isNull, sql } from 'drizzle-orm'
import { iso } from '../../infra/clock.ts'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { containing, pageOf } from '../../infra/http/paging.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { users } from '../accounts/tables.ts'
import { isGiftCardCode, lockCodes } from './codes.ts'
import { coupons } from './tables.ts'

type CouponInput = { username: string; code: string; discount: string; code_type: 1 | 2; is_used?: boolean | undefined }

/** A page of promo codes, newest first: all of them, or those of `holderId`. */
export async function listCoupons(
  db: Executor,
  { limit, offset, search, holderId }: { limit: number; offset: number; search?: string | undefined; holderId?: number }
) {
  const found = search === undefined ? undefined : containing(search)
  const where = and(
    holderId === undefined ? undefined : eq(coupons.holderId, holderId),
    found === undefined ? undefined : sql`(${coupons.code} ilike ${found} or ${users.username} ilike ${found})`
  )
  const [[counted], rows] = await Promise.all([
    db.select({ total: count() }).from(coupons).innerJoin(users, eq(users.id, coupons.holderId)).where(where),
    selectCoupons(db).where(where).orderBy(desc(coupons.id)).limit(limit).offset(offset)
  ])
  return pageOf(rows.map(present), counted?.total ?? 0, { limit, offset })
}

/** Gives a user a promo code. Refuses 'unknown_user' and 'code_taken'. */
export function createCoupon(ctx: AppContext, by: Actor, form: CouponInput): Promise<Result<Coupon>> {
  return command(ctx, by, { unique: { coupons_code_key: 'code_taken' } }, async unit => {
    const { tx } = unit
    const row = await rowOf(tx, form)
    if (!row.ok) return row
    const [made] = await tx.insert(coupons).values(row.data).returning({ id: coupons.id })
    if (!made) throw new Error('the promo code was not added')
    const after = await readCoupon(tx, made.id)
    if (!after) throw new Error('the promo code is gone')
    unit.audit('coupon.create', made.id, { after })
    unit.publish('coupon', made.id, row.data.holderId)
    return ok(after)
  })
}

export function updateCoupon(ctx: AppContext, by: Actor, id: number, form: CouponInput): Promise<Result<Coupon>> {
  return command(ctx, by, { unique: { coupons_code_key: 'code_taken' } }, async unit => {
    const { tx } = unit
    const before = await readCoupon(tx, id)
    if (!before) return refuse('not_found')
    const row = await rowOf(tx, form, before.code)
    if (!row.ok) return row
    const changed = await tx.update(coupons).set(row.data).where(eq(coupons.id, id)).returning({ id: coupons.id })
    const after = await readCoupon(tx, id)
    if (changed.length === 0 || !after) return refuse('not_found')
    unit.audit('coupon.edit', id, { before, after })
    unit.publish('coupon', id, row.data.holderId)
    return ok(after)
  })
}

export async function deleteCoupon(ctx: AppContext, by: Actor, id: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const { tx } = unit
    const before = await readCoupon(tx, id)
    const [deleted] = await tx.delete(coupons).where(eq(coupons.id, id)).returning({ holderId: coupons.holderId })
    if (!deleted) return refuse('not_found')
    unit.audit('coupon.delete', id, { before })
    unit.publish('coupon', id, deleted.holderId)
    return done
  })
}

/** @param kept the code that the promo code has already, if any: it may keep one that came from a gift card */
async function rowOf(tx: Executor, form: CouponInput, kept?: string) {
  await lockCodes(tx)
  const [holder] = await tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(sql`lower(${users.username})`, form.username.toLowerCase()), isNull(users.deletedAt)))
  if (!holder) return refuse('unknown_user', { data: { errors: { username: 'This user does not exist' } } })
  if (kept?.toLowerCase() !== form.code.toLowerCase() && (await isGiftCardCode(tx, form.code)))
    return refuse('code_taken')
  return ok({
    holderId: holder.id,
    code: form.code,
    codeType: form.code_type,
    discount: form.discount,
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

const present = ({ coupon, username }: { coupon: typeof coupons.$inferSelect; username: string }): Coupon => ({
  id: coupon.id,
  holder_username: username,
  username,
  code: coupon.code,
  code_type: coupon.codeType === 2 ? 2 : 1,
  discount: coupon.discount,
  is_used: coupon.isUsed,
  created_at: iso(coupon.createdAt)
})
