/** The end of an order and of its grace. Delivery calls these on locked orders within its own command. */
import { HOUR } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, asc, desc, eq, inArray, lte, sql } from '../../infra/db/drizzle.ts'
import { TIMED_STATES } from './states.ts'
import { orderEvents, orders } from './tables.ts'
import { NO_TASK } from './task-states.ts'
import { type OrderRow, recordEvent, transition, updateOrder } from './transition.ts'

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
  await recordEvent(unit, order.id, 'grace_ended', { grace_until: order.graceUntil?.toISOString() })
}

/** Until when an expired order could be renewed: the end of its grace, or its own end if it had none. */
export async function renewableBefore(db: Executor, { id, state, graceUntil }: OrderRow): Promise<Date | null> {
  if (state !== 'expired' || graceUntil) return graceUntil
  const [ended] = await db
    .select({ at: sql<string>`coalesce(${orderEvents.detail} ->> 'grace_until', ${orderEvents.at}::text)` })
    .from(orderEvents)
    .where(and(eq(orderEvents.orderId, id), inArray(orderEvents.kind, ['expire', 'grace_ended'])))
    .orderBy(desc(orderEvents.id))
    .limit(1)
  return ended ? new Date(ended.at) : null
}

/** Was a renewal's own time served, at least in part, before all of it was refunded? */
export async function wasRenewalServed(db: Executor, orderId: number, platformOrderNumber: string): Promise<boolean> {
  const [refunded] = await db
    .select({ servedUntil: sql<string | null>`${orderEvents.detail} ->> 'served_until'` })
    .from(orderEvents)
    .where(
      and(
        eq(orderEvents.orderId, orderId),
        eq(orderEvents.kind, 'payment_refunded'),
        sql`${orderEvents.detail} ->> 'platform_order' = ${platformOrderNumber}`
      )
    )
    .orderBy(desc(orderEvents.id))
    .limit(1)
  return Boolean(refunded?.servedUntil)
}

/** Did any address of the order ever work? A reopened order counts from zero, so its history is read too. */
export async function wasDelivered(
  db: Executor,
  { id, deliveredAt, deliveryNum }: Pick<OrderRow, 'id' | 'deliveredAt' | 'deliveryNum'>
): Promise<boolean> {
  if (deliveredAt !== null || deliveryNum > 0) return true
  const isPart = and(eq(orderEvents.orderId, id), eq(orderEvents.kind, 'deliver_part'))
  return (await db.$count(orderEvents, isPart)) > 0
}
