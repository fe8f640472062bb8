/** What refunds and later payments change of a locked order, each within the caller's command. */
import { sql } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import type { Payment } from './commands.ts'
import { addTerms } from './renew.ts'
import { isServed } from './states.ts'
import { orders } from './tables.ts'
import { note, transition, updateOrder, type OrderRow } from './transition.ts'

/** What the platform gave back of one of an order's payments. */
export type GivenBack = { amount: string; platformOrderNumber: string; reason: string }

const addRefund = (amount: string) => sql`${orders.refundedAmount} + ${amount}::numeric` as never

/** All of its purchase was given back: it ends, and a task that was under way ends with it. */
export function refundOrder(unit: Unit, order: OrderRow, { amount, platformOrderNumber, reason }: GivenBack) {
  const ended = { task: null, taskId: null, taskAt: null, taskBegunAt: null }
  return transition(
    unit,
    order,
    'refund',
    { ...ended, graceUntil: null, refundedAmount: addRefund(amount) },
    { platform_order: platformOrderNumber, amount, reason }
  )
}

/** A renewal was given back: its term is taken off again. Where nothing is left of the time, the order expires. */
export async function takeBackTerm(unit: Unit, order: OrderRow, back: GivenBack): Promise<void> {
  const expiredAt = order.expiredAt && addTerms(order.expiredAt, order, -1)
  await updateOrder(unit, order.id, {
    refundedAmount: addRefund(back.amount),
    ...(isServed(order.state) ? { expiredAt, reminderSentAt: null, lastReminderSentAt: null } : {}),
    ...(order.expiredAt ? {} : { extraTerms: Math.max(0, order.extraTerms - 1) })
  })
  await note(unit, order.id, 'payment_refunded', {
    platform_order: back.platformOrderNumber,
    amount: back.amount,
    reason: back.reason,
    ...(expiredAt && isServed(order.state) ? { expired_at: expiredAt.toISOString() } : {})
  })
}

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
  const { amount: payAmount, platformOrderId, platformOrderNumber } = payment
  const changed = await updateOrder(unit, order.id, {
    payAmount,
    platformOrderId,
    platformOrderNumber,
    deletedAt: null
  })
  if (!changed) throw new Error(`There is no order ${order.id}`)
  await note(unit, order.id, 'payment_applied', { platform_order: platformOrderNumber, amount: payAmount })
  return changed
}
