import { and, asc, eq, exists, isNull, lte, ne, sql } from 'drizzle-orm'
import type { Transaction } from '../../infra/db/client.ts'
import { queue } from '../../infra/jobs.ts'
import type { AppContext } from '../../infra/context.ts'
import { release } from '../inventory/index.ts'
import { leases } from '../inventory/tables.ts'
import { orders } from './tables.ts'
import { note, transition } from './transition.ts'

/** Each minute: gives the addresses back of orders that nobody paid, or not in full, in time. */
export const timeOutQueue = queue<object>('time-out-orders', { retryLimit: 0, deleteAfterSeconds: 3600 })

const BATCH = 100

type Timing = Pick<AppContext, 'db' | 'now'>

/** @returns how many orders timed out */
export async function timeOutOrders(ctx: Timing): Promise<number> {
  const timedOut = await inBatches(ctx, releaseUnpaid)
  await inBatches(ctx, releaseFailed)
  return timedOut
}

async function inBatches(ctx: Timing, step: (tx: Transaction, now: Date) => Promise<number>): Promise<number> {
  for (let total = 0; ;) {
    const some = await ctx.db.transaction(tx => step(tx, ctx.now()))
    total += some
    if (some < BATCH) return total
  }
}

async function releaseUnpaid(tx: Transaction, now: Date): Promise<number> {
  const due = await tx
    .select({ id: orders.id, state: orders.state })
    .from(orders)
    .where(and(eq(orders.state, 'placed'), lte(orders.reservedUntil, now)))
    .orderBy(asc(orders.reservedUntil))
    .limit(BATCH)
    // A payment that is being settled holds its order: that one is no longer ours to time out.
    .for('update', { skipLocked: true })
  for (const order of due) await transition(tx, order, 'time_out', { checkoutUrl: null })
  await release(tx, { orderIds: due.map(order => order.id) })
  return due.length
}

/** Too little was paid for these, and nobody accepted it while their addresses were kept. */
async function releaseFailed(tx: Transaction, now: Date): Promise<number> {
  const due = await tx
    .select({ id: orders.id })
    .from(orders)
    .where(
      and(
        // Its time does not run: that makes it stand apart in the index of expiries.
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
  for (const { id } of due) await note(tx, id, 'reservation ended')
  return due.length
}
