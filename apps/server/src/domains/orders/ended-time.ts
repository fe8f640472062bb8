/** What is known of the time of an order that has ended. */
import { and, asc, inArray, sql } from 'drizzle-orm'
import { iso } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { orderEvents } from './tables.ts'
import type { OrderRow } from './transition.ts'

/**
 * What of its time an order that has ended was not served, in milliseconds. One that ended in the future did so while the
 * clock was ahead: it is not served since now.
 */
export const unservedTime = ({ state, endedAt, expiredAt }: OrderRow, now: Date): number =>
  (state === 'expired' || state === 'refunded') && endedAt && expiredAt
    ? Math.max(0, expiredAt.getTime() - Math.min(endedAt.getTime(), now.getTime()))
    : 0

/** The end of its time: the job that ends orders may have come later. Null where it has none. */
export const endOf = ({ expiredAt, endedAt }: Pick<OrderRow, 'expiredAt' | 'endedAt'>): Date | null =>
  expiredAt && endedAt && new Date(Math.min(expiredAt.getTime(), endedAt.getTime()))

/** When the order ended and is served again, for its history: what it lost in between was lost by no outage. */
export function pauseOf({ now }: Unit, order: OrderRow) {
  const endedAt = endOf(order)
  return endedAt ? { ended_at: iso(endedAt), resumed_at: iso(now) } : {}
}

/** Events that hold a `pauseOf`: credits for outages are counted by them for as long as there are orders. */
export const isPause = sql<boolean>`(${and(inArray(orderEvents.kind, ['revive', 'reopen']), sql`${orderEvents.detail} ? 'resumed_at'`)})`

/** A span in which an order was not served after its end; `to` is null while that lasts. */
export type Unserved = { from: Date; to: Date | null }

/** The spans of each order in which it was not served after an end, oldest first. */
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
