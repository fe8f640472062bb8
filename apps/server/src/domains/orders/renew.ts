import { refuse } from '@netlet/contract'
import { inArray, sql } from 'drizzle-orm'
import { DAY } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { done, type Result } from '../../infra/result.ts'
import { pauseOf, unservedTime } from './ended-time.ts'
import { changeOrderLimits } from '../fleet/index.ts'
import { isTimed, TIMED_STATES } from './states.ts'
import { orders } from './tables.ts'
import { NOTHING_USED } from './task-states.ts'
import { note, transition, updateOrder, type OrderRow } from './transition.ts'

/**
 * Does no payment of it count? That of a failed order does only where nothing but the addresses was missing.
 */
export const isUnsettled = ({ paidAt, state, failCode }: Pick<OrderRow, 'paidAt' | 'state' | 'failCode'>): boolean =>
  paidAt === null || (state === 'failed' && failCode !== 'out_of_stock')

export const addDays = (from: Date, days: number): Date => new Date(from.getTime() + days * DAY)

/** Is its time over, also where the job that ends it has not come by yet? */
export const isOver = ({ state, expiredAt }: Pick<OrderRow, 'state' | 'expiredAt'>, now: Date): boolean =>
  state === 'expired' || (isTimed(state) && expiredAt !== null && expiredAt <= now)

/** The two as conditions of a query. */
export const isUnsettledSql = sql`(${orders.paidAt} is null
  or (${orders.state} = 'failed' and ${orders.failCode} is distinct from 'out_of_stock'))`
export const isOverSql = (now: Date) => sql`(${orders.state} = 'expired'
  or (${inArray(orders.state, [...TIMED_STATES])} and ${orders.expiredAt} <= ${now.toISOString()}))`

/**
 * May another term be bought for this order at `now`? A renewal within the minute in which the job that ends orders has
 * not come by counts: the proxies never stopped. An expired order can be renewed in its grace.
 */
export function renewable(
  { state, paidAt, graceUntil }: Pick<OrderRow, 'state' | 'paidAt' | 'graceUntil'>,
  now: Date
): Result<null> {
  if (!paidAt) return refuse('order_not_paid')
  if (state === 'refunded') return refuse('order_expired')
  if (state === 'expired') return graceUntil && graceUntil > now ? done : refuse('order_expired')
  return state === 'failed' ? refuse('nothing_to_renew') : done
}

/**
 * The end of an order's time with `days` more, counted from its present end; null where it has none yet. One that was renewed in an
 * earlier grace and has not worked since keeps the time that it was not served.
 */
function endWith(order: OrderRow, days: number, now: Date): Date | null {
  const unserved = unservedTime(order, now)
  const from = unserved > 0 ? new Date(now.getTime() + unserved) : order.expiredAt
  return from && addDays(from, days)
}

/** Would a term of `days` be over before it begins, as one may be that is shorter than the grace? */
export function isOverWith(order: OrderRow, days: number, now: Date): boolean {
  const end = endWith(order, days, now)
  return end !== null && end <= now
}

/**
 * Until when an expired order can be renewed for `days`: to the end of its grace, or of the term that counts from its old end, where
 * that comes first. Null where it cannot.
 */
export function renewableUntil(order: OrderRow, days: number, now: Date): Date | null {
  const { state, graceUntil } = order
  if (state !== 'expired' || !graceUntil || graceUntil <= now || isOverWith(order, days, now)) return null
  const end = endWith(order, days, graceUntil)
  return end && end < graceUntil ? end : graceUntil
}

/**
 * How long the addresses of an order that ends now are held for its customer: a grace serves a renewal only, so it lasts no longer
 * than one for `days` is possible.
 */
export function heldUntil(order: OrderRow, grace: Date | null, days: number, now: Date): Date | null {
  const ended: OrderRow = { ...order, state: 'expired', endedAt: order.endedAt ?? now, graceUntil: grace }
  return renewableUntil(ended, days, now)
}

/**
 * Another term for a locked order that is `renewable`, counted from the present expiry, in its grace too; its customer is
 * reminded of the new date. Its limits stay those that it was placed with, with another term's traffic: a plan that is limited
 * otherwise by now changes no order. An order that is still on its way has no expiry: its first term will be longer.
 * @param payment what the platform took, in decimals: '12.30', and the days that it pays for
 */
export async function renewOrder(
  unit: Unit,
  order: OrderRow,
  { amount, platformOrderNumber, days }: { amount: string; platformOrderNumber: string; days: number }
): Promise<void> {
  const expiredAt = endWith(order, days, unit.now)
  await changeOrderLimits(unit, order.id, { limits: order.limits, terms: 1, quantity: order.quantity })
  await updateOrder(unit, order.id, {
    ...(expiredAt ? { expiredAt, proxyTime: days } : { extraDays: order.extraDays + days }),
    reminderSentAt: null,
    lastReminderSentAt: null,
    payAmount: sql`${orders.payAmount} + ${amount}::numeric` as never,
    lastAmount: amount,
    ...NOTHING_USED
  })
  await note(unit, order.id, 'renewed', {
    platform_order: platformOrderNumber,
    days,
    ...(expiredAt ? { expired_at: expiredAt.toISOString() } : {})
  })
}

/**
 * An expired order was renewed in its grace: the addresses that were held for it are on their way to the agents again.
 * From now on it is not the customer who lets time pass.
 */
export const reviveOrder = (unit: Unit, order: OrderRow): Promise<OrderRow> =>
  transition(unit, order, 'revive', { graceUntil: null, endedAt: unit.now, deliveryNum: 0 }, pauseOf(unit, order))
