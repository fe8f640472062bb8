/** What refunds and later payments change of a locked order, each within the caller's command. */
import { sql } from 'drizzle-orm'
import { DAY, HOUR } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { changeOrderLimits } from '../fleet/index.ts'
import type { Payment } from './commands.ts'
import { unservedTime } from './ended-time.ts'
import { allUsed } from './quotas.ts'
import { addDays } from './renew.ts'
import { isServed } from './states.ts'
import { NO_TASK, NOTHING_USED } from './task-states.ts'
import { orders } from './tables.ts'
import { note, transition, updateOrder, type OrderRow } from './transition.ts'

/** What the platform gave back of one of an order's payments. */
export type GivenBack = { amount: string; platformOrderNumber: string; reason: string }

/** What the order's history says of it. */
const detailOf = ({ amount, platformOrderNumber, reason }: GivenBack) => ({
  platform_order: platformOrderNumber,
  amount,
  reason
})

const takeRefund = (amount: string) => sql`greatest(${orders.refundedAmount} - ${amount}::numeric, 0)` as never
const addRefund = (amount: string) => sql`${orders.refundedAmount} + ${amount}::numeric` as never

/** All of its purchase was given back: it ends, and a task that was under way ends with it. */
export function refundOrder(unit: Unit, order: OrderRow, back: GivenBack): Promise<OrderRow> {
  const endedAt = order.endedAt ?? unit.now
  const changes = { ...NO_TASK, endedAt, graceUntil: null, refundedAmount: addRefund(back.amount) }
  return transition(unit, order, 'refund', changes, detailOf(back))
}

/**
 * All of a payment that never counted was given back: the order is as if it had never come. It can be paid while its
 * addresses are reserved; after that it times out, and a payment counts as a late one does.
 */
export function awaitPayment(unit: Unit, order: OrderRow, back: GivenBack): Promise<OrderRow> {
  const noPayment = {
    payAmount: null,
    lastAmount: null,
    paidAt: null,
    platformOrderId: null,
    platformOrderNumber: null
  }
  const changes = { ...NO_TASK, ...noPayment, failCode: null, failParams: null, refundedAmount: '0.00' }
  return transition(unit, order, 'await_payment', changes, detailOf(back))
}

/** `lastAmount`: what the payment brought that the running term stands on then; null: as it was. */
type LastAmount = { lastAmount: string | null }
const lastColumn = ({ lastAmount }: LastAmount) => (lastAmount === null ? {} : { lastAmount })

type Renewal = {
  /** What the renewal had given. */
  days: number
  /** What the payments gave that still count. */
  paidDays: number
  graceHours: number
}

/**
 * What is left of an order's time without a renewal: its days are taken off, unless they were served. What the other payments
 * bought stays, also where an administrator had shortened the time, and so does what is shorter than that by then. A grace ends
 * no later than it would have without the renewal. `taken`: the days that are taken off, begun ones as whole: 0 where none are;
 * `takenTime`: of a term that runs, the same in milliseconds.
 */
export function termWithout(order: OrderRow, { days, paidDays, graceHours }: Renewal, now: Date) {
  const { expiredAt, extraDays, graceUntil } = order
  const less = expiredAt && withoutDays(order, expiredAt, { days, paidDays })
  const canEnd = isServed(order.state) || unservedTime(order, now) > 0
  const taken = expiredAt && less && canEnd ? expiredAt.getTime() - less.getTime() : 0
  const grace = less && new Date(less.getTime() + graceHours * HOUR)
  return {
    expiredAt: taken === 0 ? expiredAt : less,
    extraDays: expiredAt ? extraDays : Math.max(0, extraDays - days),
    graceUntil: grace && graceUntil && grace < graceUntil ? grace : graceUntil,
    taken: expiredAt ? Math.ceil(taken / DAY) : Math.min(extraDays, days),
    takenTime: expiredAt && taken
  }
}

/** A renewal was given back: see `termWithout`. @returns what was taken off */
export async function takeBackTerm(
  unit: Unit,
  order: OrderRow,
  back: GivenBack,
  renewal: Renewal & LastAmount
): Promise<{ days: number; time: number | null }> {
  const { taken, takenTime, ...left } = termWithout(order, renewal, unit.now)
  if (taken > 0) await changeOrderLimits(unit, order.id, { limits: order.limits, terms: -1, quantity: order.quantity })
  const ends = left.expiredAt && left.expiredAt.getTime() !== order.expiredAt?.getTime() ? left.expiredAt : null
  await updateOrder(unit, order.id, {
    refundedAmount: addRefund(back.amount),
    ...lastColumn(renewal),
    ...left,
    // Before its delivery nothing can have been used.
    ...(taken > 0 && order.expiredAt ? await allUsed(unit.tx, order) : {}),
    ...(ends ? { reminderSentAt: null, lastReminderSentAt: null } : {})
  })
  await note(unit, order.id, 'payment_refunded', {
    ...detailOf(back),
    ...(ends ? { expired_at: ends.toISOString() } : {})
  })
  return { days: taken, time: takenTime }
}

/** So many days less than `expiredAt`, but not less than what is paid for, where that is left. */
function withoutDays(order: OrderRow, expiredAt: Date, { days, paidDays }: { days: number; paidDays: number }): Date {
  const less = addDays(expiredAt, -days)
  if (!order.deliveredAt) return less
  const bought = addDays(order.deliveredAt, paidDays)
  const least = bought < expiredAt ? bought : expiredAt
  return less > least ? less : least
}

/**
 * The money of its purchase came back. An order whose payment counts has ended, and may be reopened; one whose payment was
 * held waits for an administrator as before.
 */
export async function restoreOrder(
  unit: Unit,
  order: OrderRow,
  back: GivenBack,
  { accepted }: { accepted: boolean }
): Promise<void> {
  const changes = { deliveryNum: 0, refundedAmount: takeRefund(back.amount) }
  await transition(unit, order, accepted ? 'restore' : 'fail', changes, detailOf(back))
}

/**
 * The money of a renewal came back. `days`: of its term where that was taken off, to be added again; else null. `time`: how much of
 * the running term that was, in milliseconds; null: whole days.
 */
export async function restoreTerm(
  unit: Unit,
  order: OrderRow,
  back: GivenBack,
  { days, time, ...last }: { days: number | null; time: number | null } & LastAmount
): Promise<void> {
  const expiredAt = days !== null && order.expiredAt ? new Date(order.expiredAt.getTime() + (time ?? days * DAY)) : null
  if (days !== null)
    await changeOrderLimits(unit, order.id, { limits: order.limits, terms: 1, quantity: order.quantity })
  await updateOrder(unit, order.id, {
    refundedAmount: takeRefund(back.amount),
    ...lastColumn(last),
    ...(expiredAt ? { expiredAt, reminderSentAt: null, lastReminderSentAt: null } : {}),
    ...(days !== null ? NOTHING_USED : {}),
    ...(days !== null && !order.expiredAt ? { extraDays: order.extraDays + days } : {})
  })
  await noteRestored(unit, order, back, expiredAt)
}

/** A part of a payment, which was given back, came back. */
export async function restorePart(unit: Unit, order: OrderRow, back: GivenBack): Promise<void> {
  await updateOrder(unit, order.id, { refundedAmount: takeRefund(back.amount) })
  await noteRestored(unit, order, back, null)
}

const noteRestored = (unit: Unit, order: OrderRow, back: GivenBack, expiredAt: Date | null) =>
  note(unit, order.id, 'payment_restored', {
    ...detailOf(back),
    ...(expiredAt ? { expired_at: expiredAt.toISOString() } : {})
  })

/** The platform took more for one of its payments, since that was edited there. */
export async function addToPaid(unit: Unit, { id }: OrderRow, { more, ...last }: { more: string } & LastAmount) {
  const payAmount = sql`${orders.payAmount} + ${more}::numeric` as never
  await updateOrder(unit, id, { payAmount, ...lastColumn(last) })
}

/** A part of a payment was given back. The order goes on until an administrator decides otherwise. */
export async function partlyRefundOrder(unit: Unit, order: OrderRow, back: GivenBack): Promise<void> {
  await updateOrder(unit, order.id, { refundedAmount: addRefund(back.amount) })
  await note(unit, order.id, 'partly_refunded', detailOf(back))
}

/** Another payment takes the place of the one that a failed order could not be delivered for. */
export async function replacePayment(unit: Unit, order: OrderRow, payment: Payment): Promise<OrderRow> {
  const { amount: payAmount, platformOrderId, platformOrderNumber, days } = payment
  const changed = await updateOrder(unit, order.id, {
    payAmount,
    lastAmount: payAmount,
    platformOrderId,
    platformOrderNumber,
    proxyTime: days
  })
  if (!changed) throw new Error(`There is no order ${order.id}`)
  await note(unit, order.id, 'payment_applied', { platform_order: platformOrderNumber, amount: payAmount })
  return changed
}
