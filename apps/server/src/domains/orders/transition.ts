import type { OrderState } from '@netlet/contract'
import { asc, eq, inArray } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { next, type OrderEvent } from './states.ts'
import { orderEvents, orders } from './tables.ts'

export type OrderRow = typeof orders.$inferSelect

/** Takes an order for the rest of the transaction: what follows reads and changes it alone. */
export async function lockOrder(tx: Executor, id: number): Promise<OrderRow | undefined> {
  const [order] = await tx.select().from(orders).where(eq(orders.id, id)).for('update')
  return order
}

/** Takes several orders at once. Ascending, as everywhere, so that nobody waits for another in a circle. */
export async function lockOrders(tx: Executor, ids: number[]): Promise<OrderRow[]> {
  if (ids.length === 0) return []
  return tx.select().from(orders).where(inArray(orders.id, ids)).orderBy(asc(orders.id)).for('update')
}

/** One by our transaction id, as the platform hands it back. */
export async function lockOrderByKey(tx: Executor, orderId: string): Promise<OrderRow | undefined> {
  const [order] = await tx.select().from(orders).where(eq(orders.orderId, orderId)).for('update')
  return order
}

/**
 * Moves a locked order along the table of states, with what changes beside the state, and writes it down.
 * @throws where the table has no such way: the caller should have looked
 */
export async function transition(
  tx: Executor,
  order: Pick<OrderRow, 'id' | 'state'>,
  event: OrderEvent,
  changes: Partial<typeof orders.$inferInsert> = {},
  detail: Record<string, unknown> = {}
): Promise<OrderState> {
  const to = next(order.state, event)
  if (!to) throw new Error(`An order that is ${order.state} cannot ${event}`)
  await tx
    .update(orders)
    .set({ ...changes, state: to })
    .where(eq(orders.id, order.id))
  await note(tx, order.id, event, { from: order.state, to, ...detail })
  return to
}

/** Writes down something that happened to an order. */
export async function note(
  tx: Executor,
  orderId: number,
  kind: string,
  detail: Record<string, unknown> = {}
): Promise<void> {
  await tx.insert(orderEvents).values({ orderId, kind, detail })
}
