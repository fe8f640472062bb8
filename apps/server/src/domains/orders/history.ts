import { and, desc, eq, sql } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { orderEvents } from './tables.ts'
import type { OrderRow } from './transition.ts'

/** The administrator who asked for an order's latest task; null if no name was recorded. */
export async function taskRequesterOf(db: Executor, orderId: number): Promise<string | null> {
  const [asked] = await db
    .select({ by: sql<string | null>`${orderEvents.detail} ->> 'by'` })
    .from(orderEvents)
    .where(and(eq(orderEvents.orderId, orderId), eq(orderEvents.kind, 'task_requested')))
    .orderBy(desc(orderEvents.id))
    .limit(1)
  return asked?.by ?? null
}

/** Did any address of the order ever work? A reopened order counts from zero, so its history is read too. */
export async function wasDelivered(
  db: Executor,
  { id, deliveredAt, deliveryNum }: Pick<OrderRow, 'id' | 'deliveredAt' | 'deliveryNum'>
): Promise<boolean> {
  if (deliveredAt !== null || deliveryNum > 0) return true
  const isPart = and(eq(orderEvents.orderId, id), eq(orderEvents.kind, 'deliver_part'))
  return (await db.$count(orderEvents, isPart)) > 0
}
