import { inArray, lt } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { countRows, removeRows, type RetentionEntry } from '../../infra/retention.ts'
import { forgetLeases } from '../inventory/index.ts'
import { CHECKOUT_KEYS_KEPT } from './checkout-keys.ts'
import { checkoutKeys, orderEvents, orders } from './tables.ts'

export const orderRetention: RetentionEntry[] = [
  {
    what: 'order_events',
    keep: { setting: 'keep_order_history_days' },
    why: 'The history of orders; payments, leases and the orders themselves are kept.',
    remove: (unit, before, limit) => removeRows(unit, orderEvents, lt(orderEvents.at, before), limit),
    count: db => countRows(db, orderEvents, orderEvents.at)
  },
  {
    what: 'checkout_keys',
    keep: { ms: CHECKOUT_KEYS_KEPT },
    why: 'Replies to checkouts with an Idempotency-Key: a repeat after that is a new order.',
    remove: (unit, before, limit) => removeRows(unit, checkoutKeys, lt(checkoutKeys.createdAt, before), limit),
    count: db => countRows(db, checkoutKeys, checkoutKeys.createdAt)
  }
]

/** Removes locked orders that were never paid for, with their history and their released leases. */
export async function removeUnpaidOrders(unit: Unit, ids: number[]): Promise<void> {
  await unit.tx.delete(orderEvents).where(inArray(orderEvents.orderId, ids))
  await forgetLeases(unit.tx, ids)
  await unit.tx.delete(orders).where(inArray(orders.id, ids))
}
