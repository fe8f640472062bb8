import { and, asc, eq, exists, isNull, lte, ne, sql } from '../../infra/db/drizzle.ts'
import { inBatches } from '../../infra/batches.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { release } from '../inventory/index.ts'
import { leases } from '../inventory/tables.ts'
import { orders } from './tables.ts'
import { lockOrder, recordEvent, transition, updateOrder } from './transition.ts'
import { refuse } from '@netlet/contract'
import { type Actor, actsAsAdmin } from '../../infra/actor.ts'
import { type Result, done } from '../../infra/result.ts'
import { enqueueMail } from '../mail/index.ts'
import { orderMail } from './order-mail.ts'

/**
 * Cancels an unpaid order and frees its addresses at once. It locks the order, as settlement does: after the payment it
 * is refused, and a payment that comes after it still counts.
 * @param userId only this user's order; null: any order
 */
export const cancelOrder = (ctx: AppContext, by: Actor, id: number, userId: number | null): Promise<Result<null>> =>
  command(ctx, by, unit => cancelOrderIn(unit, id, userId))

async function cancelOrderIn(unit: Unit, id: number, userId: number | null): Promise<Result<null>> {
  const order = await lockOrder(unit, id)
  if (!order || order.deletedAt || (userId !== null && order.userId !== userId)) return refuse('not_found')
  // A second click or a repeated request: the order is already cancelled.
  if (order.state === 'cancelled') return done
  if (order.state !== 'placed') return refuse('order_not_unpaid')
  // `unpaidLimit` counts how long addresses were held unpaid, so a past end of the reservation stays.
  const reservedUntil = order.reservedUntil < unit.now ? order.reservedUntil : unit.now
  const byAdmin = actsAsAdmin(unit.by)
  await transition(unit, order, 'cancel', { checkoutUrl: null, reservedUntil }, byAdmin ? { by: 'admin' } : {})
  if (byAdmin) unit.audit('order.cancel', id, { before: { state: order.state }, after: { state: 'cancelled' } })
  const mail = await orderMail(unit.tx, id)
  if (mail) enqueueMail(unit, { ...mail, template: 'order-cancelled', key: `cancelled:${id}` })
  await release(unit.tx, { orderId: id })
  return done
}

const BATCH = 100

/** Frees the addresses of orders that were not paid (in full) in time. @returns how many orders timed out */
export async function timeOutOrders(ctx: AppContext): Promise<number> {
  const timedOut = await inBatches(ctx, BATCH, releaseUnpaid)
  await inBatches(ctx, BATCH, releaseFailed)
  return timedOut
}

async function releaseUnpaid(unit: Unit): Promise<number> {
  const { tx, now } = unit
  const due = await tx
    .select({ id: orders.id, state: orders.state })
    .from(orders)
    .where(and(eq(orders.state, 'placed'), lte(orders.reservedUntil, now)))
    .orderBy(asc(orders.reservedUntil))
    .limit(BATCH)
    // A settlement holds the lock of its order. That order must not time out.
    .for('update', { skipLocked: true })
  for (const order of due) await transition(unit, order, 'time_out', { checkoutUrl: null })
  await release(tx, { orderIds: due.map(order => order.id) })
  return due.length
}

/**
 * Frees the addresses of failed orders whose reservation is over. The orders stay failed, and 'deliver' can still lease
 * other addresses.
 * @returns how many orders this batch had, at most `BATCH`
 */
async function releaseFailed(unit: Unit): Promise<number> {
  const { tx, now } = unit
  const due = await tx
    .select({ id: orders.id })
    .from(orders)
    .where(
      and(
        eq(orders.state, 'failed'),
        isNull(orders.expiredAt),
        lte(orders.reservedUntil, now),
        exists(
          tx
            .select({ one: sql`1` })
            .from(leases)
            .where(and(eq(leases.orderId, orders.id), ne(leases.state, 'released')))
        )
      )
    )
    .orderBy(asc(orders.id))
    .limit(BATCH)
    .for('update', { skipLocked: true })
  await release(tx, { orderIds: due.map(order => order.id) })
  for (const { id } of due) {
    await updateOrder(unit, id, { checkoutUrl: null })
    await recordEvent(unit, id, 'reservation_ended')
  }
  return due.length
}
