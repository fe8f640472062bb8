import { and, inArray, lt, not } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { forgetLeases } from '../inventory/index.ts'
import { CHECKOUT_KEYS_KEPT } from './checkout-keys.ts'
import { isPause } from './renew.ts'
import { checkoutKeys, orderEvents, orders } from './tables.ts'

export const orderRetention: RetentionEntry[] = [
  {
    what: 'order_events',
    keep: { setting: 'keep_order_history_days' },
    why: 'The history of orders. Payments, leases and the orders themselves are kept, and so are the times between the end of an order and its revival: no credit for an outage pays for those.',
    remove: (unit, before, limit) =>
      removeRows(unit, orderEvents, and(lt(orderEvents.at, before), not(isPause)), limit),
    count: db => countRows(db, orderEvents, orderEvents.at)
  },
  {
    what: 'checkout_keys',
    keep: { ms: CHECKOUT_KEYS_KEPT },
    why: 'Replies to checkouts with an Idempotency-Key. A later repeat creates a new order.',
    remove: (unit, before, limit) => removeRows(unit, checkoutKeys, lt(checkoutKeys.createdAt, before), limit),
    count: db => countRows(db, checkoutKeys, checkoutKeys.createdAt)
  }
]

/** Removes locked orders that were never paid, with their history and their released leases. */
export async function removeUnpaidOrders(unit: Unit, ids: number[]): Promise<void> {
  await unit.tx.delete(orderEvents).where(inArray(orderEvents.orderId, ids))
  await forgetLeases(unit.tx, ids)
  await unit.tx.delete(orders).where(inArray(orders.id, ids))
}
