/** What refunds and later payments change of a locked order, each within the caller's command. */
import { sql } from 'drizzle-orm'
import { HOUR } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Payment } from './commands.ts'
import { unservedTime } from './ended-time.ts'
import { addDays } from './renew.ts'
import { isServed } from './states.ts'
import { orders } from './tables.ts'
import { note, transition, updateOrder, type OrderRow } from './transition.ts'

/** What the platform gave back of one of an order's payments. */
export type GivenBack = { amount: string; platformOrderNumber: string; reason: string }

const takeRefund = (amount: string) => sql`greatest(${orders.refundedAmount} - ${amount}::numeric, 0)` as never
const addRefund = (amount: string) => sql`${orders.refundedAmount} + ${amount}::numeric` as never

/** All of its purchase was given back: it ends, and a task that was under way ends with it. */
export function refundOrder(unit: Unit, order: OrderRow, { amount, platformOrderNumber, reason }: GivenBack) {
  const noTask = { task: null, taskId: null, taskAt: null, taskBegunAt: null }
  const endedAt = order.endedAt ?? unit.now
  return transition(
    unit,
    order,
    'refund',
    { ...noTask, endedAt, graceUntil: null, refundedAmount: addRefund(amount) },
    { platform_order: platformOrderNumber, amount, reason }
  )
}

/**
 * All of a payment that never counted was given back: the order is as if it had never come. It can be paid while its
 * addresses are reserved; after that it times out, and a payment counts as a late one does.
 */
export function awaitPayment(unit: Unit, order: OrderRow, back: GivenBack): Promise<OrderRow> {
  const { amount, platformOrderNumber: platform_order, reason } = back
  const noTask = { task: null, taskId: null, taskAt: null, taskBegunAt: null }
  const noPayment = { payAmount: null, paidAt: null, platformOrderId: null, platformOrderNumber: null }
  const changes = { ...noTask, ...noPayment, failCode: null, failParams: null, refundedAmount: '0.00' }
  return transition(unit, order, 'await_payment', changes, { platform_order, amount, reason })
}

/**
 * A renewal was given back: its days are taken off again, unless they were served. What the other payments bought stays, also
 * where an administrator had shortened the time, and so does what is shorter than that by then. A grace ends no later than
 * it would have without the renewal.
 * @param days what the renewal had given
 * @param paidDays what the payments gave that still count
 * @returns whether time was taken off
 */
export async function takeBackTerm(
  unit: Unit,
  order: OrderRow,
  back: GivenBack,
  { days, paidDays, graceHours }: { days: number; paidDays: number; graceHours: number }
): Promise<boolean> {
  const expiredAt = order.expiredAt && withoutDays(order, order.expiredAt, { days, paidDays })
  const canEnd = isServed(order.state) || unservedTime(order) > 0
  const ahead = expiredAt !== null && canEnd && expiredAt.getTime() !== order.expiredAt?.getTime()
  const waiting = !order.expiredAt && order.extraDays > 0
  const grace = expiredAt && order.graceUntil && new Date(expiredAt.getTime() + graceHours * HOUR)
  await updateOrder(unit, order.id, {
    refundedAmount: addRefund(back.amount),
    ...(ahead ? { expiredAt, reminderSentAt: null, lastReminderSentAt: null } : {}),
    ...(waiting ? { extraDays: Math.max(0, order.extraDays - days) } : {}),
    ...(grace && order.graceUntil && grace < order.graceUntil ? { graceUntil: grace } : {})
  })
  await note(unit, order.id, 'payment_refunded', {
    platform_order: back.platformOrderNumber,
    amount: back.amount,
    reason: back.reason,
    ...(ahead ? { expired_at: expiredAt.toISOString() } : {})
  })
  return ahead || waiting
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
  { amount, platformOrderNumber: platform_order, reason }: GivenBack,
  { accepted }: { accepted: boolean }
): Promise<void> {
  const changes = { deliveryNum: 0, refundedAmount: takeRefund(amount) }
  await transition(unit, order, accepted ? 'restore' : 'fail', changes, { platform_order, amount, reason })
}

/** The money of a renewal came back. @param days of its term where that was taken off, to be added again; else null */
export async function restoreTerm(unit: Unit, order: OrderRow, back: GivenBack, days: number | null): Promise<void> {
  const expiredAt = days !== null && order.expiredAt ? addDays(order.expiredAt, days) : null
  await updateOrder(unit, order.id, {
    refundedAmount: takeRefund(back.amount),
    ...(expiredAt ? { expiredAt, reminderSentAt: null, lastReminderSentAt: null } : {}),
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
    platform_order: back.platformOrderNumber,
    amount: back.amount,
    reason: back.reason,
    ...(expiredAt ? { expired_at: expiredAt.toISOString() } : {})
  })

/** A part of a payment was given back. The order goes on until an administrator decides otherwise. */
export async function partlyRefundOrder(unit: Unit, order: OrderRow, back: GivenBack): Promise<void> {
  await updateOrder(unit, order.id, { refundedAmount: addRefund(back.amount) })
  await note(unit, order.id, 'partly_refunded', {
    platform_order: back.platformOrderNumber,
    amount: back.amount,
    reason: back.reason
  })
}

/** Another payment takes the place of the one that a failed order could not be delivered for. */
export async function replacePayment(unit: Unit, order: OrderRow, payment: Payment): Promise<OrderRow> {
  const { amount: payAmount, platformOrderId, platformOrderNumber, days } = payment
  const changed = await updateOrder(unit, order.id, {
    payAmount,
    platformOrderId,
    platformOrderNumber,
    proxyTime: days,
    deletedAt: null
  })
  if (!changed) throw new Error(`There is no order ${order.id}`)
  await note(unit, order.id, 'payment_applied', { platform_order: platformOrderNumber, amount: payAmount })
  return changed
}
