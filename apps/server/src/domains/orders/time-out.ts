import { and, asc, eq, exists, isNull, lte, ne, sql } from 'drizzle-orm'
import { inBatches } from '../../infra/batches.ts'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { release } from '../inventory/index.ts'
import { leases } from '../inventory/tables.ts'
import { orders } from './tables.ts'
import { note, transition, updateOrder } from './transition.ts'

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
    await note(unit, id, 'reservation_ended')
  }
  return due.length
}
