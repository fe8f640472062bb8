/** Changes that refunds and later payments make to a locked order, within the caller's command. */
import type { MoneyReason } from '@netlet/contract'
import { sql } from '../../infra/db/drizzle.ts'
import { DAY, HOUR } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { returnTraffic, takeTraffic } from '../servers/index.ts'
import type { Payment } from './commands.ts'
import { addDays, endOf, unservedTime } from './renew.ts'
import { useUpQuota, restoreUsed } from './quotas.ts'
import { isServed } from './states.ts'
import { NO_TASK } from './task-states.ts'
import { orders, type TakenQuota } from './tables.ts'
import { recordEvent, transition, updateOrder, type OrderRow } from './transition.ts'

/** What the platform refunded of one payment. `reported`: the same in the payment's currency, which may bring no money. */
export type Refunded = { amount: string; reported: string; platformOrderNumber: string; reason: MoneyReason }

/** The details of a refund in the order's history. */
const detailOf = ({ reported, platformOrderNumber, reason }: Refunded) => ({
  platform_order: platformOrderNumber,
  amount: reported,
  reason
})

const takeRefund = (amount: string) => sql`greatest(${orders.refundedAmount} - ${amount}::numeric, 0)` as never
const addRefund = (amount: string) => sql`${orders.refundedAmount} + ${amount}::numeric` as never

/** The whole purchase was refunded: the order and its running task end. */
export function refundOrder(unit: Unit, order: OrderRow, back: Refunded): Promise<OrderRow> {
  const endedAt = order.endedAt ?? unit.now
  const changes = { ...NO_TASK, endedAt, graceUntil: null, refundedAmount: addRefund(back.amount) }
  return transition(unit, order, 'refund', changes, detailOf(back))
}

/**
 * The whole of a payment that never counted was refunded. The order waits for another payment, as if this one had never
 * come. It times out with its reservation; a payment after that counts as late.
 */
export function awaitPayment(unit: Unit, order: OrderRow, back: Refunded): Promise<OrderRow> {
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

/** `lastAmount`: the amount that the running term was paid with; null: unchanged. */
type LastAmount = { lastAmount: string | null }
const lastColumn = ({ lastAmount }: LastAmount) => (lastAmount === null ? {} : { lastAmount })

type Renewal = {
  /** The days that the renewal added. */
  days: number
  /** The days of the payments that still count. */
  paidDays: number
  graceHours: number
}

/**
 * An order's term without a renewal. It loses the renewal's days unless they were served, but never time that other
 * payments bought, even if an administrator has shortened the term. A grace ends no later than without the renewal.
 * `taken`: the days that are removed, begun ones as whole. `takenTime`: the same for a running term, in milliseconds.
 * `servedUntil`: until when the renewal's own days were served; null if none was.
 */
export function termWithout(order: OrderRow, { days, paidDays, graceHours }: Renewal, now: Date) {
  const { expiredAt, extraDays, graceUntil } = order
  const less = expiredAt && withoutDays(order, expiredAt, { days, paidDays })
  const canEnd = isServed(order.state) || unservedTime(order, now) > 0
  const taken = expiredAt && less && canEnd ? expiredAt.getTime() - less.getTime() : 0
  const grace = less && new Date(less.getTime() + graceHours * HOUR)
  const servedUntil = endOf(order) ?? now
  return {
    servedUntil: less && less < servedUntil && order.deliveryNum > 0 ? servedUntil : null,
    expiredAt: taken === 0 ? expiredAt : less,
    extraDays: expiredAt ? extraDays : Math.max(0, extraDays - days),
    graceUntil: grace && graceUntil && grace < graceUntil ? grace : graceUntil,
    taken: expiredAt ? Math.ceil(taken / DAY) : Math.min(extraDays, days),
    takenTime: expiredAt && taken
  }
}

/** Takes a refunded renewal off the term, as `termWithout` computes. @returns what was taken off */
export async function takeBackTerm(
  unit: Unit,
  order: OrderRow,
  back: Refunded,
  renewal: Renewal & LastAmount
): Promise<{ days: number; takenTime: number | null; takenQuota: TakenQuota }> {
  const { taken, takenTime, servedUntil, ...left } = termWithout(order, renewal, unit.now)
  const traffic = taken > 0 ? await takeTraffic(unit, order.id, order) : null
  // Before its delivery the order cannot have used any of its quota.
  const used = taken > 0 && order.expiredAt ? await useUpQuota(unit.tx, order) : order
  const ends = left.expiredAt && left.expiredAt.getTime() !== order.expiredAt?.getTime() ? left.expiredAt : null
  await updateOrder(unit, order.id, {
    refundedAmount: addRefund(back.amount),
    ...lastColumn(renewal),
    ...left,
    changesUsed: used.changesUsed,
    resetsUsed: used.resetsUsed,
    ...(ends ? { reminderSentAt: null, lastReminderSentAt: null } : {})
  })
  await recordEvent(unit, order.id, 'payment_refunded', {
    ...detailOf(back),
    ...(ends ? { expired_at: ends.toISOString() } : {}),
    ...(servedUntil ? { served_until: servedUntil.toISOString() } : {})
  })
  const changes = used.changesUsed - order.changesUsed
  return { days: taken, takenTime, takenQuota: { traffic, changes, resets: used.resetsUsed - order.resetsUsed } }
}

/** `expiredAt` less these days, but not less than the paid time that is left. */
function withoutDays(order: OrderRow, expiredAt: Date, { days, paidDays }: { days: number; paidDays: number }): Date {
  const less = addDays(expiredAt, -days)
  if (!order.deliveredAt) return less
  const bought = addDays(order.deliveredAt, paidDays)
  const least = bought < expiredAt ? bought : expiredAt
  return less > least ? less : least
}

/**
 * The money of the purchase came back, for example after a won dispute. An accepted order is expired and can be
 * reopened; an order whose payment was held waits for an administrator again.
 */
export async function restoreOrder(
  unit: Unit,
  order: OrderRow,
  back: Refunded,
  { accepted }: { accepted: boolean }
): Promise<void> {
  const changes = { deliveryNum: 0, refundedAmount: takeRefund(back.amount) }
  await transition(unit, order, accepted ? 'restore' : 'fail', changes, detailOf(back))
}

/**
 * The money of a renewal came back. `days`: the days to add again, if they had been taken off; else null. `time`: how
 * much of the running term that was, in milliseconds; null: whole days. `quota`: what was taken with them; null: not
 * stored, so the term's whole quota.
 */
export async function restoreTerm(
  unit: Unit,
  order: OrderRow,
  back: Refunded,
  { days, time, quota, ...last }: { days: number | null; time: number | null; quota: TakenQuota | null } & LastAmount
): Promise<void> {
  const expiredAt = days !== null && order.expiredAt ? new Date(order.expiredAt.getTime() + (time ?? days * DAY)) : null
  if (days !== null) await returnTraffic(unit, order.id, order, quota?.traffic ?? null)
  await updateOrder(unit, order.id, {
    refundedAmount: takeRefund(back.amount),
    ...lastColumn(last),
    ...(expiredAt ? { expiredAt, reminderSentAt: null, lastReminderSentAt: null } : {}),
    ...(days !== null ? restoreUsed(order, quota) : {}),
    ...(days !== null && !order.expiredAt ? { extraDays: order.extraDays + days } : {})
  })
  await recordRestored(unit, order, back, expiredAt)
}

/** A partial refund was reversed. */
export async function restorePart(unit: Unit, order: OrderRow, back: Refunded): Promise<void> {
  await updateOrder(unit, order.id, { refundedAmount: takeRefund(back.amount) })
  await recordRestored(unit, order, back, null)
}

const recordRestored = (unit: Unit, order: OrderRow, back: Refunded, expiredAt: Date | null) =>
  recordEvent(unit, order.id, 'payment_restored', {
    ...detailOf(back),
    ...(expiredAt ? { expired_at: expiredAt.toISOString() } : {})
  })

/** Adds what the buyer paid after the order was edited on the platform. `refunded`: how much of it counts as refunded. */
export async function addToPaid(
  unit: Unit,
  { id }: OrderRow,
  { more, refunded = '0.00', ...last }: { more: string; refunded?: string } & LastAmount
): Promise<void> {
  const payAmount = sql`${orders.payAmount} + ${more}::numeric` as never
  await updateOrder(unit, id, { payAmount, refundedAmount: addRefund(refunded), ...lastColumn(last) })
}

/** Records a partial refund. The order goes on until an administrator decides otherwise. */
export async function partlyRefundOrder(unit: Unit, order: OrderRow, back: Refunded): Promise<void> {
  await updateOrder(unit, order.id, { refundedAmount: addRefund(back.amount) })
  await recordEvent(unit, order.id, 'partly_refunded', detailOf(back))
}

/** Another payment replaces the one that a failed order could not be delivered for. */
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
  await recordEvent(unit, order.id, 'payment_applied', { platform_order: platformOrderNumber, amount: payAmount })
  return changed
}
