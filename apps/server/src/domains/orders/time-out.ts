import { and, asc, eq, lte } from 'drizzle-orm'
import { queue } from '../../platform/jobs.ts'
import type { Shop } from '../../platform/shop.ts'
import { release } from '../inventory/index.ts'
import { orders } from './tables.ts'
import { transition } from './transition.ts'

/** Gives the addresses of orders back that nobody paid in time. */
export const timeOutQueue = queue<object>('time-out-orders', { retryLimit: 0, deleteAfterSeconds: 3600 })

const BATCH = 100

/** @returns how many orders timed out */
export async function timeOutOrders(shop: Pick<Shop, 'db' | 'now'>): Promise<number> {
  let total = 0
  for (;;) {
    const some = await shop.db.transaction(async tx => {
      const due = await tx
        .select({ id: orders.id, state: orders.state })
        .from(orders)
        .where(and(eq(orders.state, 'placed'), lte(orders.reservedUntil, shop.now())))
        .orderBy(asc(orders.reservedUntil))
        .limit(BATCH)
        // A payment that is being settled holds its order: that one is no longer ours to time out.
        .for('update', { skipLocked: true })
      for (const order of due) await transition(tx, order, 'time_out', { checkoutUrl: null })
      await release(tx, { orderIds: due.map(order => order.id) })
      return due.length
    })
    total += some
    if (some < BATCH) return total
  }
}
