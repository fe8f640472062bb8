/** Changes that moves, outages and reopenings make to a locked order, within the caller's command. */
import { eq } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import { endOf, pauseOf, unservedTime } from './renew.ts'
import { orders } from './tables.ts'
import { NOTHING_USED } from './task-states.ts'
import { recordEvent, transition, updateOrder, type OrderRow } from './transition.ts'

/** Takes the order's addresses from another server group from now on. */
export async function regroup(unit: Unit, order: OrderRow, serverGroupId: number): Promise<void> {
  if (order.serverGroupId !== serverGroupId) await updateOrder(unit, order.id, { serverGroupId })
}

type Credited = { seconds: number } & Record<string, unknown>

/** Gives a running order more time. The customer is reminded of the new date. @param seconds a whole number */
export const creditTime = (unit: Unit, order: OrderRow, credited: Credited): Promise<Date> =>
  addTime(unit, order, credited)

/**
 * Credits unserved time to an ended order, which can be reopened for it. `endedAt` stays at the end of the time, even
 * if the job that ended the order ran later.
 */
export const creditUnserved = (unit: Unit, order: OrderRow, credited: Credited): Promise<Date> =>
  addTime(unit, order, credited, { endedAt: endOf(order) })

async function addTime(
  unit: Unit,
  order: OrderRow,
  { seconds, ...detail }: Credited,
  more: { endedAt?: Date | null } = {}
): Promise<Date> {
  if (!order.expiredAt) throw new Error(`The time of order ${order.id} does not run`)
  const expiredAt = new Date(order.expiredAt.getTime() + seconds * 1000)
  await updateOrder(unit, order.id, { expiredAt, reminderSentAt: null, lastReminderSentAt: null, ...more })
  await recordEvent(unit, order.id, 'credited', { seconds, expired_at: expiredAt.toISOString(), ...detail })
  return expiredAt
}

/**
 * Delivers an ended order after all. An order that never worked gets its whole term, others get the time that was not
 * served.
 */
export function reopenOrder(unit: Unit, order: OrderRow): Promise<OrderRow> {
  const term = order.deliveredAt
    ? { expiredAt: new Date(unit.now.getTime() + unservedTime(order, unit.now)) }
    : { expiredAt: null, deliveredAt: null }
  const restarted = {
    deliveryNum: 0,
    endedAt: order.deliveredAt ? unit.now : null,
    graceUntil: null,
    reminderSentAt: null,
    lastReminderSentAt: null,
    failCode: null,
    failParams: null,
    ...NOTHING_USED
  }
  return transition(unit, order, 'reopen', { ...term, ...restarted }, pauseOf(unit, order))
}

/** Records an attempt to find other addresses. The next run starts with the orders that were tried longest ago. */
export async function markRescueTried({ tx, now }: Unit, orderId: number): Promise<void> {
  await tx.update(orders).set({ rescueTriedAt: now }).where(eq(orders.id, orderId))
}

/** Did this locked order end before any of its addresses worked, or with paid time left? */
export const canReopen = (order: OrderRow, now: Date): boolean =>
  order.state === 'expired' &&
  order.paidAt !== null &&
  (order.deliveredAt === null ? order.deliveryNum === 0 : unservedTime(order, now) > 0)
