/** What delivery and payments do to a locked order, each within their own command. */
import type { OrderFailure, Params } from '@netlet/contract'
import { and, asc, inArray, lte, sql } from 'drizzle-orm'
import { DAY } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { isLive, LIVE_STATES } from './states.ts'
import { orders } from './tables.ts'
import { note, transition, updateOrder, type OrderRow } from './transition.ts'

export type Failure = { code: OrderFailure; params?: Params }

/** @param amount what the platform took, in decimals: '12.30' */
export type Payment = { amount: string; platformOrderId: string; platformOrderNumber: string }

const failureColumns = (failure: Failure | null) => ({
  failCode: failure?.code ?? null,
  failParams: failure?.params ?? null
})

/** The order's time starts. Money that came for an order that an administrator had deleted brings it back. */
export function markPaid(unit: Unit, order: OrderRow, payment: Payment): Promise<OrderRow> {
  const { amount, platformOrderId, platformOrderNumber } = payment
  return transition(
    unit,
    order,
    'pay',
    {
      payAmount: amount,
      paidAt: unit.now,
      expiredAt: termAfter(unit.now, order),
      platformOrderId,
      platformOrderNumber,
      checkoutUrl: null,
      deletedAt: null
    },
    { platform_order: platformOrderNumber, amount }
  )
}

/** A paid order cannot be delivered now: it waits for an administrator, and its time does not run meanwhile. */
export async function failOrder(unit: Unit, order: OrderRow, failure: Failure): Promise<void> {
  const changes = { ...failureColumns(failure), expiredAt: null }
  if (order.state === 'failed') await updateOrder(unit, order.id, changes)
  else await transition(unit, order, 'fail', changes, { code: failure.code, ...failure.params })
}

/** Its addresses are on their way to the agents. The time of an order that had failed starts only now. */
export function startDelivering(unit: Unit, order: OrderRow): Promise<OrderRow> {
  const expiredAt = order.expiredAt ?? termAfter(unit.now, order)
  return transition(unit, order, 'start_delivery', { ...failureColumns(null), expiredAt })
}

/** How many addresses work by now, and what keeps the others from working. @returns whether the failure is another one */
export async function recordProgress(
  unit: Unit,
  order: OrderRow,
  { deliveryNum, failure }: { deliveryNum: number; failure: Failure | null }
): Promise<boolean> {
  const columns = failureColumns(failure)
  const differs = columns.failCode !== order.failCode || !sameParams(columns.failParams ?? {}, order.failParams ?? {})
  if (differs || deliveryNum !== order.deliveryNum) await updateOrder(unit, order.id, { deliveryNum, ...columns })
  return differs
}

export const markPartlyDelivered = (unit: Unit, order: OrderRow): Promise<OrderRow> =>
  transition(unit, order, 'deliver_part')

export const markDelivered = (unit: Unit, order: OrderRow): Promise<OrderRow> =>
  transition(unit, order, 'deliver_all', failureColumns(null))

/** Orders whose time is over, locked; those that someone else is working on are left for the next time. */
export function lockExpired({ tx, now }: Unit, limit: number): Promise<OrderRow[]> {
  return tx
    .select()
    .from(orders)
    .where(and(inArray(orders.state, [...LIVE_STATES]), lte(orders.expiredAt, now)))
    .orderBy(asc(orders.expiredAt), asc(orders.id))
    .limit(limit)
    .for('update', { skipLocked: true })
}

/** Its time is over, and a task that was under way ends with it. */
export const expireOrder = (unit: Unit, order: OrderRow): Promise<OrderRow> =>
  transition(unit, order, 'expire', { task: null, taskId: null, taskAt: null, taskBegunAt: null })

/**
 * Another term, counted from the present expiry; its customer is reminded of the new date.
 * @returns false where its time does not run, so that it cannot be renewed: nothing has changed then
 */
export async function renewOrder(
  unit: Unit,
  order: OrderRow,
  payment: Pick<Payment, 'amount' | 'platformOrderNumber'>
): Promise<boolean> {
  if (!isLive(order.state)) return false
  const expiredAt = termAfter(order.expiredAt ?? unit.now, order)
  await updateOrder(unit, order.id, {
    expiredAt,
    reminderSentAt: null,
    payAmount: sql`${orders.payAmount} + ${payment.amount}::numeric` as never
  })
  const detail = { platform_order: payment.platformOrderNumber, expired_at: expiredAt.toISOString() }
  await note(unit, order.id, 'renewed', detail)
  return true
}

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
  const expiredAt = order.expiredAt && new Date(order.expiredAt.getTime() - order.proxyTime * DAY)
  await updateOrder(unit, order.id, {
    refundedAmount: addRefund(back.amount),
    ...(isLive(order.state) ? { expiredAt } : {})
  })
  await note(unit, order.id, 'payment_refunded', {
    platform_order: back.platformOrderNumber,
    amount: back.amount,
    reason: back.reason,
    ...(expiredAt && isLive(order.state) ? { expired_at: expiredAt.toISOString() } : {})
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

/** The proxies have another password from now on. */
export async function setCredentials(unit: Unit, order: OrderRow, proxyPassword: string): Promise<OrderRow> {
  const changes = { proxyPassword, resetTime: unit.now }
  await updateOrder(unit, order.id, changes)
  return { ...order, ...changes }
}

/** The order has other addresses from now on. */
export async function markReset(unit: Unit, order: OrderRow): Promise<void> {
  await updateOrder(unit, order.id, { resetTime: unit.now })
}

const termAfter = (from: Date, { proxyTime }: OrderRow) => new Date(from.getTime() + proxyTime * DAY)

function sameParams(a: Params, b: Params): boolean {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every(key => a[key] === b[key])
}
