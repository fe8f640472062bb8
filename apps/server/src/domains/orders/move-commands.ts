/** What a move to other servers, an outage and a reopening change of a locked order, each within the caller's command. */
import { eq } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { endOf, pauseOf, unservedTime } from './ended-time.ts'
import { orders } from './tables.ts'
import { NOTHING_USED } from './task-states.ts'
import { note, transition, updateOrder, type OrderRow } from './transition.ts'

/** Its addresses come from another server group from now on. */
export async function regroup(unit: Unit, order: OrderRow, serverGroupId: number): Promise<OrderRow> {
  if (order.serverGroupId === serverGroupId) return order
  return (await updateOrder(unit, order.id, { serverGroupId })) ?? order
}

type Credited = { seconds: number } & Record<string, unknown>

/**
 * Gives a running order more time; its customer is reminded of the new date.
 * @param seconds whole
 */
export const creditTime = (unit: Unit, order: OrderRow, credited: Credited): Promise<Date> =>
  addTime(unit, order, credited)

/**
 * Gives an order that has ended time that was not served: it can be reopened for that. Its end stays where its time was over,
 * whenever the job came that ended it.
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
  await note(unit, order.id, 'credited', { seconds, expired_at: expiredAt.toISOString(), ...detail })
  return expiredAt
}

/**
 * An order that has ended is delivered after all. One that never worked has its whole term from then on, another one the
 * time that it was not served.
 */
export function reopenOrder(unit: Unit, order: OrderRow): Promise<OrderRow> {
  const term = order.deliveredAt
    ? { expiredAt: new Date(unit.now.getTime() + unservedTime(order, unit.now)) }
    : { expiredAt: null, deliveredAt: null }
  const anew = {
    deliveryNum: 0,
    endedAt: order.deliveredAt ? unit.now : null,
    graceUntil: null,
    reminderSentAt: null,
    lastReminderSentAt: null,
    failCode: null,
    failParams: null,
    ...NOTHING_USED
  }
  return transition(unit, order, 'reopen', { ...term, ...anew }, pauseOf(unit, order))
}

/** Other addresses are being looked for: those that were not tried for longer come first, whatever comes of it. */
export async function markRescueTried({ tx, now }: Unit, orderId: number): Promise<void> {
  await tx.update(orders).set({ rescueTriedAt: now }).where(eq(orders.id, orderId))
}

/** Did this locked order end before any of its addresses worked, or with time left that is paid for? */
export const canReopen = (order: OrderRow, now: Date): boolean =>
  order.state === 'expired' &&
  order.paidAt !== null &&
  (order.deliveredAt === null ? order.deliveryNum === 0 : unservedTime(order, now) > 0)
