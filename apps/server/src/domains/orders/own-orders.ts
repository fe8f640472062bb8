import { type BulkEffect, type Reason, refuse, toCents } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { iso, isoOrNull } from '../../infra/clock.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { type SQL, and, asc, eq, gt, inArray, isNotNull, or, sql } from '../../infra/db/drizzle.ts'
import { pagesById } from '../../infra/db/pages-by-id.ts'
import { type Outcomes, type Result, countOutcomes, done } from '../../infra/result.ts'
import { holdsAddresses, leasesOf } from '../inventory/index.ts'
import { forgetAccess } from '../servers/index.ts'
import { SERVED_STATES, isServed } from './states.ts'
import { orders } from './tables.ts'
import { type OrderRow, lockOrder, recordEvent, updateOrder } from './transition.ts'

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

/** What the deletion of these orders would refuse, as `removeOrderIn` does, and the state of the others. */
export const planRemoval = (db: Executor, ids: number[], { hasOpenMoney }: RemovalPorts): Promise<Outcomes> =>
  countOutcomes(
    db,
    sql`unnest(${sql.param(ids)}::bigint[]) as asked(id) left join ${orders} on ${eq(orders.id, sql`asked.id`)}`,
    {
      refused: sql<Reason | null>`case
      when ${orders.id} is null or ${orders.deletedAt} is not null then 'not_found'
      when ${holdsAddresses(orders.id)} then 'order_has_lease'
      when ${inArray(orders.state, [...SERVED_STATES])} then 'order_runs'
      when ${hasOpenMoney} then 'order_has_open_payment'
    end`,
      effect: sql<BulkEffect>`case
      when ${orders.paidAt} is null then 'unpaid'
      when ${orders.state} in ('paid', 'failed') then 'owed'
      else 'ended'
    end`
    }
  )

/** A condition on a row of `orders`, from the payments domain: its money waits for an administrator. */
export type RemovalPorts = { hasOpenMoney: SQL }

/**
 * Removes an order from every list; its row and its history stay. Refused if it holds or reserves addresses, if its
 * paid time runs, or if its money waits for an administrator. Money that comes later restores it (`restoreDeleted`).
 */
export const removeOrder = (ctx: AppContext, by: Actor, id: number, ports: RemovalPorts): Promise<Result<null>> =>
  command(ctx, by, unit => removeOrderIn(unit, id, ports))

/** `removeOrder` as a part of a larger write. */
export async function removeOrderIn(unit: Unit, id: number, { hasOpenMoney }: RemovalPorts): Promise<Result<null>> {
  const order = await lockOrder(unit, id)
  if (!order || order.deletedAt) return refuse('not_found')
  if ((await leasesOf(unit.tx, id)).length > 0) return refuse('order_has_lease')
  // It lost its addresses with a server and gets others when there is room.
  if (isServed(order.state)) return refuse('order_runs')
  if ((await unit.tx.$count(orders, and(eq(orders.id, id), hasOpenMoney))) > 0) return refuse('order_has_open_payment')
  await updateOrder(unit, id, { deletedAt: unit.now })
  await recordEvent(unit, id, 'deleted')
  unit.audit('order.delete', id, { before: { order_id: order.publicId, state: order.state, amount: order.amount } })
  return done
}

/** Restores a deleted order to the lists, because money came for it or came back. */
export async function restoreDeleted(unit: Unit, order: OrderRow): Promise<OrderRow> {
  if (!order.deletedAt) return order
  return (await updateOrder(unit, order.id, { deletedAt: null })) ?? order
}
