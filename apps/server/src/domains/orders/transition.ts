import type { OrderEventKind } from '@netlet/contract'
import { and, asc, eq, inArray } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { next, type OrderEvent } from './states.ts'
import { orderEvents, orders } from './tables.ts'
import { tellOfTransition } from './tell-webhooks.ts'

export type OrderRow = typeof orders.$inferSelect
export type OrderChanges = Partial<Omit<typeof orders.$inferInsert, 'id' | 'state'>>

/** Takes an order for the rest of the transaction: what follows reads and changes it alone. */
export async function lockOrder({ tx }: Unit, id: number): Promise<OrderRow | undefined> {
  const [order] = await tx.select().from(orders).where(eq(orders.id, id)).for('update')
  return order
}

/** Takes several orders at once. Ascending, as everywhere, so that no two transactions wait for each other. */
export async function lockOrders({ tx }: Unit, ids: number[]): Promise<OrderRow[]> {
  if (ids.length === 0) return []
  return tx.select().from(orders).where(inArray(orders.id, ids)).orderBy(asc(orders.id)).for('update')
}

/** One by our transaction id, as the platform hands it back. */
export async function lockOrderByPublicId({ tx }: Unit, publicId: string): Promise<OrderRow | undefined> {
  const [order] = await tx.select().from(orders).where(eq(orders.publicId, publicId)).for('update')
  return order
}

/**
 * Moves a locked order along the table of states, with what changes beside the state, and writes it into the history.
 * @throws where the table has no such transition: the caller should have looked
 */
export async function transition(
  unit: Unit,
  order: Pick<OrderRow, 'id' | 'state'>,
  event: OrderEvent,
  changes: OrderChanges = {},
  detail: Record<string, unknown> = {}
): Promise<OrderRow> {
  const to = next(order.state, event)
  if (!to) throw new Error(`An order that is ${order.state} cannot ${event}`)
  const [changed] = await unit.tx
    .update(orders)
    .set({ ...changes, state: to })
    .where(eq(orders.id, order.id))
    .returning()
  if (!changed) throw new Error(`There is no order ${order.id}`)
  await note(unit, order.id, event, { from: order.state, to, ...detail })
  await tellOfTransition(unit, event, changed)
  unit.publish('order', changed.id, changed.userId)
  return changed
}

/** Changes columns of a locked order beside its state. @param taskId only while this task is the order's */
export async function updateOrder(
  unit: Unit,
  id: number,
  changes: OrderChanges,
  { taskId }: { taskId?: string } = {}
): Promise<OrderRow | undefined> {
  const [changed] = await unit.tx
    .update(orders)
    .set(changes)
    .where(and(eq(orders.id, id), taskId === undefined ? undefined : eq(orders.taskId, taskId)))
    .returning()
  if (changed) unit.publish('order', changed.id, changed.userId)
  return changed
}

/** Writes down something that happened to an order. */
export async function note(
  { tx, now }: Unit,
  orderId: number,
  kind: OrderEventKind,
  detail: Record<string, unknown> = {}
): Promise<void> {
  await tx.insert(orderEvents).values({ orderId, kind, detail, at: now })
}
