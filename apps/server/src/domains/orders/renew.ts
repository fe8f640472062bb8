import { refuse } from '@netlet/contract'
import { DAY, iso } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, asc, inArray, sql } from '../../infra/db/drizzle.ts'
import { type Result, done } from '../../infra/result.ts'
import { addTraffic } from '../servers/index.ts'
import { TIMED_STATES, isTimed } from './states.ts'
import { orderEvents, orders } from './tables.ts'
import { NOTHING_USED } from './task-states.ts'
import { type OrderRow, recordEvent, transition, updateOrder } from './transition.ts'

/** Has the order no payment that counts? A failed order's payment counts only if nothing but addresses was missing. */
export const isUnsettled = ({ paidAt, state, failCode }: Pick<OrderRow, 'paidAt' | 'state' | 'failCode'>): boolean =>
  paidAt === null || (state === 'failed' && failCode !== 'out_of_stock')

export const addDays = (from: Date, days: number): Date => new Date(from.getTime() + days * DAY)

/** Is its time over, even if the job that ends it has not run yet? */
export const isOver = ({ state, expiredAt }: Pick<OrderRow, 'state' | 'expiredAt'>, now: Date): boolean =>
  state === 'expired' || (isTimed(state) && expiredAt !== null && expiredAt <= now)

/** `isUnsettled` and `isOver` as conditions of a query. */
export const isUnsettledSql = sql`(${orders.paidAt} is null
  or (${orders.state} = 'failed' and ${orders.failCode} is distinct from 'out_of_stock'))`
export const isOverSql = (now: Date) => sql`(${orders.state} = 'expired'
  or (${inArray(orders.state, [...TIMED_STATES])} and ${orders.expiredAt} <= ${now.toISOString()}))`

/**
 * May another term be bought for this order at `now`? Yes in its grace, and yes in the minute before the job has ended
 * it, because the proxies have not stopped.
 */
export function renewable(
  { state, paidAt, graceUntil }: Pick<OrderRow, 'state' | 'paidAt' | 'graceUntil'>,
  now: Date
): Result<null> {
  if (!paidAt) return refuse('order_not_paid')
  if (state === 'refunded') return refuse('order_expired')
  if (state === 'expired') return graceUntil && graceUntil > now ? done : refuse('order_expired')
  return state === 'failed' ? refuse('order_not_delivered') : done
}

/**
 * An order's end with `days` more, counted from its current end; null if it has none yet. An order that was renewed in
 * an earlier grace and has not worked since keeps its unserved time. An ended one loses no time between its payment and
 * the moment at which the shop heard of it.
 */
function endWith(order: OrderRow, days: number, now: Date, paidAt = now): Date | null {
  const { state, expiredAt, endedAt } = order
  const unserved = unservedTime(order, now)
  if (unserved > 0) return addDays(new Date(now.getTime() + unserved), days)
  const isLate = state === 'expired' && expiredAt !== null && paidAt < now
  // It may have been served after its expiry, while no worker ran to end it.
  const from = isLate ? Math.max(paidAt.getTime(), expiredAt.getTime(), endedAt?.getTime() ?? 0) : now.getTime()
  const late = now.getTime() - from
  return expiredAt && addDays(new Date(expiredAt.getTime() + Math.max(0, late)), days)
}

/** Would a term of `days` already be over now? This happens if the term is shorter than the grace. */
export function isOverWith(order: OrderRow, days: number, now: Date): boolean {
  const end = endWith(order, days, now)
  return end !== null && end <= now
}

/**
 * Until when an expired order can be renewed for `days`: the end of its grace, or the end of the renewed term if that
 * is earlier. Null if it cannot.
 */
export function renewableUntil(order: OrderRow, days: number, now: Date): Date | null {
  const { state, graceUntil } = order
  if (state !== 'expired' || !graceUntil || graceUntil <= now || isOverWith(order, days, now)) return null
  const end = endWith(order, days, graceUntil)
  return end && end < graceUntil ? end : graceUntil
}

/** It waits for no payment. The checkouts in `pendingFor` are read once more, because one may have taken a part. */
export const NOT_PENDING = { pendingUntil: null }

/** How long after its expiry an order is held at most for a renewal whose payment is on its way. */
export const PENDING_GRACE = 7 * DAY

/**
 * How long the addresses of an order that ends now stay held. A grace exists for renewals only, so it ends when one for
 * `days` is no longer possible. It lasts longer while the payment of one is on its way.
 */
export function heldUntil(order: OrderRow, grace: Date | null, days: number, now: Date): Date | null {
  const { expiredAt, pendingUntil } = order
  const most = expiredAt && expiredAt.getTime() + PENDING_GRACE
  const pending = most && pendingUntil && new Date(Math.min(pendingUntil.getTime(), most))
  const graceUntil = pending && (!grace || grace < pending) ? pending : grace
  const ended: OrderRow = { ...order, state: 'expired', endedAt: order.endedAt ?? now, graceUntil }
  return renewableUntil(ended, days, now)
}

/**
 * Adds a term to a locked order that is `renewable`, counted from its current expiry, and another term's traffic. Other
 * limits stay as they were when the order was placed. An order before its delivery has no expiry, so its first term
 * gets longer.
 * @param payment `amount`: '12.30'; `days` that it buys; when it was made, by default now
 */
export async function renewOrder(
  unit: Unit,
  order: OrderRow,
  {
    amount,
    platformOrderNumber,
    days,
    paidAt
  }: { amount: string; platformOrderNumber: string; days: number; paidAt?: Date }
): Promise<void> {
  const expiredAt = endWith(order, days, unit.now, paidAt)
  await addTraffic(unit, order.id, order)
  await updateOrder(unit, order.id, {
    ...(expiredAt ? { expiredAt, proxyTime: days } : { extraDays: order.extraDays + days }),
    reminderSentAt: null,
    lastReminderSentAt: null,
    ...NOT_PENDING,
    payAmount: sql`${orders.payAmount} + ${amount}::numeric` as never,
    lastAmount: amount,
    ...NOTHING_USED
  })
  await recordEvent(unit, order.id, 'renewed', {
    platform_order: platformOrderNumber,
    days,
    ...(expiredAt ? { expired_at: expiredAt.toISOString() } : {})
  })
}

/**
 * Serves the held addresses of an expired order again after a renewal in its grace. From now on the customer loses no
 * time by waiting for the agents.
 */
export const reviveOrder = (unit: Unit, order: OrderRow): Promise<OrderRow> =>
  transition(unit, order, 'revive', { graceUntil: null, endedAt: unit.now, deliveryNum: 0 }, pauseOf(unit, order))

/**
 * How much of an ended order's paid time was not served, in milliseconds. An end in the future, from a clock that ran
 * ahead, counts as now.
 */
export const unservedTime = ({ state, endedAt, expiredAt }: OrderRow, now: Date): number =>
  (state === 'expired' || state === 'refunded') && endedAt && expiredAt
    ? Math.max(0, expiredAt.getTime() - Math.min(endedAt.getTime(), now.getTime()))
    : 0

/** When the order's time was over, even if the job that ends orders ran later. Null if it has not ended. */
export const endOf = ({ expiredAt, endedAt }: Pick<OrderRow, 'expiredAt' | 'endedAt'>): Date | null =>
  expiredAt && endedAt && new Date(Math.min(expiredAt.getTime(), endedAt.getTime()))

/** The pause between an order's end and its revival, for its history. No outage is credited for this time. */
export function pauseOf({ now }: Unit, order: OrderRow) {
  const endedAt = endOf(order)
  return endedAt ? { ended_at: iso(endedAt), resumed_at: iso(now) } : {}
}

/** Events that hold a `pauseOf`. Credits for outages read them, so they are never removed. */
export const isPause = sql<boolean>`(${and(inArray(orderEvents.kind, ['revive', 'reopen']), sql`${orderEvents.detail} ? 'resumed_at'`)})`

/** A span in which an ended order was not served; `to` is null if the span still lasts. */
export type Unserved = { from: Date; to: Date | null }

/** The unserved spans of each order, oldest first. */
export async function unservedSpans(
  db: Executor,
  some: Pick<OrderRow, 'id' | 'endedAt'>[]
): Promise<Map<number, Unserved[]>> {
  const ids = some.map(({ id }) => id)
  const pauses = await db
    .select({ orderId: orderEvents.orderId, detail: orderEvents.detail })
    .from(orderEvents)
    .where(and(inArray(orderEvents.orderId, ids), isPause))
    .orderBy(asc(orderEvents.id))
  const byOrder = Map.groupBy(pauses, ({ orderId }) => orderId)
  return new Map(
    some.map(({ id, endedAt }) => {
      const past = (byOrder.get(id) ?? []).map(({ detail }) => ({
        from: new Date(String(detail['ended_at'])),
        to: new Date(String(detail['resumed_at']))
      }))
      return [id, [...past.filter(({ from, to }) => from < to), ...(endedAt ? [{ from: endedAt, to: null }] : [])]]
    })
  )
}
