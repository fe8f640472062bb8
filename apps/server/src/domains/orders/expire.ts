/** The end of an order, and of the grace after it: what delivery does to locked orders within its own command. */
import { and, asc, eq, inArray, lte } from 'drizzle-orm'
import { HOUR } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { TIMED_STATES } from './states.ts'
import { NO_TASK } from './task-states.ts'
import { orders } from './tables.ts'
import { note, transition, updateOrder, type OrderRow } from './transition.ts'

/** Orders whose time is over, locked; those that someone else is working on are left for the next time. */
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
 * Its time is over, and a task that was under way ends with it.
 * @param graceUntil how long its addresses stay held for its customer; null: they are not held
 */
export function expireOrder(unit: Unit, order: OrderRow, graceUntil: Date | null): Promise<OrderRow> {
  const detail = graceUntil ? { grace_until: graceUntil.toISOString() } : {}
  return transition(unit, order, 'expire', { graceUntil, endedAt: order.endedAt ?? unit.now, ...NO_TASK }, detail)
}

/** The end of a grace that begins at `from`; null where it is over. */
export function graceAfter(from: Date, graceHours: number, now: Date): Date | null {
  const end = new Date(from.getTime() + graceHours * HOUR)
  return end > now ? end : null
}

/** Expired orders that nobody renewed in their grace, locked. */
export function lockGraceEnded({ tx, now }: Unit, limit: number): Promise<OrderRow[]> {
  return tx
    .select()
    .from(orders)
    .where(and(eq(orders.state, 'expired'), lte(orders.graceUntil, now)))
    .orderBy(asc(orders.graceUntil), asc(orders.id))
    .limit(limit)
    .for('update', { skipLocked: true })
}

/** Its addresses are not held any more. */
export async function endGrace(unit: Unit, order: OrderRow): Promise<void> {
  await updateOrder(unit, order.id, { graceUntil: null })
  await note(unit, order.id, 'grace_ended')
}
