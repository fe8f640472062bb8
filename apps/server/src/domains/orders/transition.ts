import type { OrderEventKind } from '@netlet/contract'
import { and, asc, eq, inArray } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { type OrderEvent, next } from './states.ts'
import { orderEvents, orders } from './tables.ts'
import { isoOrNull } from '../../infra/clock.ts'
import { type Happened, emitEvent } from '../webhooks/index.ts'

type EventOrder = Pick<
  typeof orders.$inferSelect,
  'id' | 'publicId' | 'userId' | 'state' | 'quantity' | 'expiredAt' | 'failCode'
>

/** Emits an order's event to webhooks: ids, state, times. Programs read credentials with an API key instead. */
export const emitOrderEvent = (
  unit: Unit,
  type: Happened['type'],
  order: EventOrder,
  more: object = {}
): Promise<void> =>
  emitEvent(unit, {
    type,
    userId: order.userId,
    data: {
      order_id: order.id,
      order: order.publicId,
      user_id: order.userId,
      state: order.state,
      proxies: order.quantity,
      expires_at: isoOrNull(order.expiredAt),
      ...more
    }
  })

const TOLD: Partial<Record<OrderEvent, Happened['type']>> = {
  pay: 'order.paid',
  fail: 'order.failed',
  deliver_all: 'order.delivered',
  expire: 'order.expired',
  time_out: 'order.timed_out',
  cancel: 'order.cancelled',
  refund: 'order.refunded'
}

/** Emits the webhook event of a transition, if it has one. */
async function emitTransitionEvent(unit: Unit, event: OrderEvent, order: EventOrder): Promise<void> {
  const type = TOLD[event]
  if (type) await emitOrderEvent(unit, type, order, type === 'order.failed' ? { failure: order.failCode } : {})
}

export type OrderRow = typeof orders.$inferSelect
export type OrderChanges = Partial<Omit<typeof orders.$inferInsert, 'id' | 'state'>>

export async function lockOrder({ tx }: Unit, id: number): Promise<OrderRow | undefined> {
  const [order] = await tx.select().from(orders).where(eq(orders.id, id)).for('update')
  return order
}

/** Locks several orders, ascending by id as everywhere, so that transactions do not deadlock. */
export async function lockOrders({ tx }: Unit, ids: number[]): Promise<OrderRow[]> {
  if (ids.length === 0) return []
  return tx.select().from(orders).where(inArray(orders.id, ids)).orderBy(asc(orders.id)).for('update')
}

/** Locks an order by our transaction id, which the platform returns to us. */
export async function lockOrderByPublicId({ tx }: Unit, publicId: string): Promise<OrderRow | undefined> {
  const [order] = await tx.select().from(orders).where(eq(orders.publicId, publicId)).for('update')
  return order
}

/**
 * Moves a locked order to its next state, with changes of other columns, and writes the event to its history.
 * @throws if the table has no such transition: callers check before
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
  await recordEvent(unit, order.id, event, { from: order.state, to, ...detail })
  await emitTransitionEvent(unit, event, changed)
  unit.publish('order', changed.id, changed.userId)
  return changed
}

/** Changes columns of a locked order other than its state. @param taskId only if this is still the order's task */
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

/** Writes an event to an order's history. */
export async function recordEvent(
  { tx, now }: Unit,
  orderId: number,
  kind: OrderEventKind,
  detail: Record<string, unknown> = {}
): Promise<void> {
  await tx.insert(orderEvents).values({ orderId, kind, detail, at: now })
}
