/** Changes of a locked order that delivery and payments make within their own commands. */
import type { OrderFailure, Params } from '@netlet/contract'
import type { Unit } from '../../infra/command.ts'
import { beginOrderLimits } from '../servers/index.ts'
import { addDays, NOT_PENDING } from './renew.ts'
import { type OrderRow, emitOrderEvent, recordEvent, transition, updateOrder } from './transition.ts'

export type Failure = { code: OrderFailure; params?: Params }

/** A payment for an order. `amount` in decimals: '12.30'; `days`: the term that it buys. */
export type Payment = { amount: string; platformOrderId: string; platformOrderNumber: string; days: number }

const failureColumns = (failure: Failure | null) => ({
  failCode: failure?.code ?? null,
  failParams: failure?.params ?? null
})

/** Records the payment. The order's term starts with its delivery, not here. */
export function markPaid(unit: Unit, order: OrderRow, payment: Payment): Promise<OrderRow> {
  const { amount, platformOrderId, platformOrderNumber, days } = payment
  return transition(
    unit,
    order,
    'pay',
    {
      payAmount: amount,
      lastAmount: amount,
      paidAt: unit.now,
      proxyTime: days,
      platformOrderId,
      platformOrderNumber
    },
    { platform_order: platformOrderNumber, amount }
  )
}

/** The paid order cannot be delivered now and waits for an administrator. */
export async function failOrder(unit: Unit, order: OrderRow, failure: Failure): Promise<void> {
  const changes = failureColumns(failure)
  if (order.state === 'failed') await updateOrder(unit, order.id, changes)
  else await transition(unit, order, 'fail', changes, { code: failure.code, ...failure.params })
}

/** Starts the delivery: the agents get the order's addresses and limits. */
export async function startDelivering(unit: Unit, order: OrderRow): Promise<OrderRow> {
  await beginOrderLimits(unit, order.id, order)
  return transition(unit, order, 'start_delivery', { ...failureColumns(null), checkoutUrl: null, ...NOT_PENDING })
}

/**
 * Records how many addresses work, and why the others do not. The history gets an entry only if this differs from the
 * last one.
 * @param server the server that reported the failure, if the failure does not name it
 * @returns whether the failure changed
 */
export async function recordProgress(
  unit: Unit,
  order: OrderRow,
  { deliveryNum, failure, server }: { deliveryNum: number; failure: Failure | null; server?: string | undefined }
): Promise<boolean> {
  const columns = failureColumns(failure)
  const differs = columns.failCode !== order.failCode || !sameParams(columns.failParams ?? {}, order.failParams ?? {})
  if (differs || deliveryNum !== order.deliveryNum) await updateOrder(unit, order.id, { deliveryNum, ...columns })
  if (differs) await recordAttempt(unit, order, { deliveryNum, failure, server })
  return differs
}

/** Notes a delivery attempt: the agent's words and how many addresses work. Only operators read it. */
function recordAttempt(
  unit: Unit,
  order: OrderRow,
  { deliveryNum, failure, server }: { deliveryNum: number; failure: Failure | null; server?: string | undefined }
): Promise<void> {
  const kind =
    failure === null ? 'delivery_resumed' : failure.code === 'agent_refused' ? 'delivery_refused' : 'delivery_waits'
  return recordEvent(unit, order.id, kind, {
    ...(failure && { code: failure.code, ...failure.params }),
    ...(server !== undefined && { server }),
    working: deliveryNum,
    of: order.quantity
  })
}

export const markPartlyDelivered = (unit: Unit, order: OrderRow): Promise<OrderRow> =>
  transition(unit, order, 'deliver_part', { endedAt: null })

/** All addresses work. The first time, the term starts, including the days of renewals that were paid before. */
export function markDelivered(unit: Unit, order: OrderRow): Promise<OrderRow> {
  const { now } = unit
  const term = order.deliveredAt ? {} : { deliveredAt: now, expiredAt: addDays(now, order.proxyTime + order.extraDays) }
  return transition(unit, order, 'deliver_all', { ...failureColumns(null), ...term, endedAt: null })
}

/** Sets a new password of the proxies. */
export async function setCredentials(unit: Unit, order: OrderRow, proxyPassword: string): Promise<OrderRow> {
  const changes = { proxyPassword, resetTime: unit.now }
  await updateOrder(unit, order.id, changes)
  await emitOrderEvent(unit, 'credentials.changed', order, { changed: 'password' })
  return { ...order, ...changes }
}

/** Notes that the order has other addresses. */
export async function recordAddressChange(unit: Unit, order: OrderRow): Promise<void> {
  await updateOrder(unit, order.id, { resetTime: unit.now })
}

function sameParams(a: Params, b: Params): boolean {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every(key => a[key] === b[key])
}
