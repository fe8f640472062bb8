import { refuse } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import { DAY, iso } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import { done, type Result } from '../../infra/result.ts'
import { isLive } from './states.ts'
import { orders } from './tables.ts'
import { note, transition, updateOrder, type OrderRow } from './transition.ts'

type Term = Pick<OrderRow, 'proxyTime'>

/** `terms` times the order's term after `from`. */
export const addTerms = (from: Date, { proxyTime }: Term, terms: number): Date =>
  new Date(from.getTime() + terms * proxyTime * DAY)

/** Is its time over, also where the job that ends it has not come by yet? */
export const isOver = ({ state, expiredAt }: Pick<OrderRow, 'state' | 'expiredAt'>, now: Date): boolean =>
  state === 'expired' || (isLive(state) && expiredAt !== null && expiredAt <= now)

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
 * Another term for a locked order that is `renewable`, counted from the present expiry, in its grace too; its customer is
 * reminded of the new date. An order that is still on its way has no expiry: its first term will be longer.
 * @param payment what the platform took, in decimals: '12.30'
 */
export async function renewOrder(
  unit: Unit,
  order: OrderRow,
  payment: { amount: string; platformOrderNumber: string }
): Promise<void> {
  const expiredAt = order.expiredAt && addTerms(order.expiredAt, order, 1)
  await updateOrder(unit, order.id, {
    ...(expiredAt ? { expiredAt } : { extraTerms: order.extraTerms + 1 }),
    reminderSentAt: null,
    lastReminderSentAt: null,
    payAmount: sql`${orders.payAmount} + ${payment.amount}::numeric` as never
  })
  await note(unit, order.id, 'renewed', {
    platform_order: payment.platformOrderNumber,
    ...(expiredAt ? { expired_at: expiredAt.toISOString() } : {})
  })
}

/** An expired order was renewed in its grace: the addresses that were held for it are on their way to the agents again. */
export const reviveOrder = (unit: Unit, order: OrderRow): Promise<OrderRow> =>
  transition(unit, order, 'revive', { graceUntil: null, endedAt: null, deliveryNum: 0 }, pauseOf(unit, order))

/** When the order ended and is served again, for its history: what it lost in between was lost by no outage. */
export const pauseOf = ({ now }: Unit, { expiredAt, endedAt }: OrderRow) =>
  expiredAt && endedAt
    ? { ended_at: iso(new Date(Math.min(expiredAt.getTime(), endedAt.getTime()))), resumed_at: iso(now) }
    : {}
