import { toCents } from '@netlet/contract'
import { iso, isoOrNull } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { type SQL, and, asc, eq, gt, isNotNull, or } from '../../infra/db/drizzle.ts'
import { pagesById } from '../../infra/db/pages-by-id.ts'
import { forgetAccess } from '../servers/index.ts'
import { orders } from './tables.ts'

/**
 * Locks all orders of a user. True if one was paid and is neither delivered nor refunded. The locks keep payments from
 * settling until the caller's command ends.
 * @param isIgnored a condition on a row of `orders`, from the payments domain: an administrator ignored its payment
 */
export async function lockOwedOrders({ tx }: Unit, userId: number, isIgnored: SQL<boolean>): Promise<boolean> {
  return (await selectOwing(tx, userId, isIgnored).for('update')).some(isOwed)
}

/** The same without locks, for display. */
export async function hasOwedOrders(db: Executor, userId: number, isIgnored: SQL<boolean>): Promise<boolean> {
  return (await selectOwing(db, userId, isIgnored)).some(isOwed)
}

const selectOwing = (db: Executor, userId: number, isIgnored: SQL<boolean>) =>
  db
    .select({
      state: orders.state,
      payAmount: orders.payAmount,
      refundedAmount: orders.refundedAmount,
      deliveredAt: orders.deliveredAt,
      deliveryNum: orders.deliveryNum,
      isIgnored
    })
    .from(orders)
    .where(eq(orders.userId, userId))
    .orderBy(asc(orders.id))
    .$dynamic()

type Owing = Awaited<ReturnType<typeof selectOwing>>[number]

function isOwed({ state, payAmount, refundedAmount, deliveredAt, deliveryNum, isIgnored }: Owing): boolean {
  if (payAmount === null || state === 'refunded') return false
  if (state === 'failed' && isIgnored) return false
  // A code may have covered the whole price. Then the proxies are still owed.
  const isRefunded = toCents(refundedAmount) >= toCents(payAmount) && toCents(refundedAmount) > 0n
  if (state === 'expired') return !isRefunded && deliveredAt === null && deliveryNum === 0
  return !isRefunded
}

/** Removes personal data of a user's orders: e-mails in checkout links, the user's own words, clients' addresses. */
export async function forgetBuyer(unit: Unit, userId: number): Promise<void> {
  await unit.tx
    .update(orders)
    .set({ checkoutUrl: null, label: null, note: null })
    .where(
      and(eq(orders.userId, userId), or(isNotNull(orders.checkoutUrl), isNotNull(orders.label), isNotNull(orders.note)))
    )
  const own = await unit.tx.select({ id: orders.id }).from(orders).where(eq(orders.userId, userId))
  await forgetAccess(
    unit,
    own.map(({ id }) => id)
  )
}

/** The ids under which the platform knows a user's orders. */
export async function platformNamesOf(
  db: Executor,
  userId: number
): Promise<{ publicIds: string[]; platformOrderIds: string[] }> {
  const rows = await db
    .select({ publicId: orders.publicId, platformOrderId: orders.platformOrderId })
    .from(orders)
    .where(eq(orders.userId, userId))
  return {
    publicIds: rows.map(row => row.publicId),
    platformOrderIds: rows.flatMap(row => row.platformOrderId ?? [])
  }
}

/** A user's orders for the export of personal data, in batches. */
export async function* exportOrders(db: Executor, userId: number): AsyncGenerator<object[]> {
  const pages = pagesById(({ after, limit }) =>
    db
      .select()
      .from(orders)
      .where(and(eq(orders.userId, userId), gt(orders.id, after)))
      .orderBy(asc(orders.id))
      .limit(limit)
  )
  for await (const rows of pages)
    yield rows.map(order => ({
      order_id: order.publicId,
      product: order.productName,
      variant: order.variantName,
      label: order.label,
      note: order.note,
      quantity: order.quantity,
      amount: order.amount,
      pay_amount: order.payAmount,
      refunded_amount: order.refundedAmount,
      state: order.state,
      platform_order: order.platformOrderNumber,
      discount_code: order.discountCode,
      created_at: iso(order.createdAt),
      paid_at: isoOrNull(order.paidAt),
      delivered_at: isoOrNull(order.deliveredAt),
      expired_at: isoOrNull(order.expiredAt)
    }))
}
