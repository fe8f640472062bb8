/** The time of an order that has ended. */
import { and, asc, inArray, sql } from '../../infra/db/drizzle.ts'
import { iso } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { orderEvents } from './tables.ts'
import type { OrderRow } from './transition.ts'

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
