/** The end of an order and of its grace. Delivery calls these on locked orders within its own command. */
import { and, asc, eq, inArray, lte } from '../../infra/db/drizzle.ts'
import { HOUR } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { TIMED_STATES } from './states.ts'
import { NO_TASK } from './task-states.ts'
import { orders } from './tables.ts'
import { note, transition, updateOrder, type OrderRow } from './transition.ts'

/** Locks orders whose time is over. It skips those that another transaction holds; the next run takes them. */
export function lockExpired({ tx, now }: Unit, limit: number): Promise<OrderRow[]> {
  return tx
    .select()
    .from(orders)
    .where(and(inArray(orders.state, [...TIMED_STATES]), lte(orders.expiredAt, now)))
    .orderBy(asc(orders.expiredAt), asc(orders.id))
    .limit(limit)
    .for('update', { skipLocked: true })
}

/**
 * Ends an order and its running task.
 * @param graceUntil until when its addresses stay held for the customer; null: they are not held
 */
export function expireOrder(unit: Unit, order: OrderRow, graceUntil: Date | null): Promise<OrderRow> {
  const detail = graceUntil ? { grace_until: graceUntil.toISOString() } : {}
  return transition(unit, order, 'expire', { graceUntil, endedAt: order.endedAt ?? unit.now, ...NO_TASK }, detail)
}

/** The end of a grace that begins at `from`; null if it is already over. */
export function graceAfter(from: Date, graceHours: number, now: Date): Date | null {
  const end = new Date(from.getTime() + graceHours * HOUR)
  return end > now ? end : null
}

/** Locks expired orders whose grace ended without a renewal. */
export function lockGraceEnded({ tx, now }: Unit, limit: number): Promise<OrderRow[]> {
  return tx
    .select()
    .from(orders)
    .where(and(eq(orders.state, 'expired'), lte(orders.graceUntil, now)))
    .orderBy(asc(orders.graceUntil), asc(orders.id))
    .limit(limit)
    .for('update', { skipLocked: true })
}

/** Ends the grace: the addresses are no longer held. */
export async function endGrace(unit: Unit, order: OrderRow): Promise<void> {
  await updateOrder(unit, order.id, { graceUntil: null })
  await note(unit, order.id, 'grace_ended')
}
