import { refuse, type OrderEventKind } from '@netlet/contract'
import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { iso } from '../../infra/clock.ts'
import type { Executor } from '../../infra/db/client.ts'
import { ok, type Result } from '../../infra/result.ts'
import { orderEvents, orders } from './tables.ts'

/** Which administrator asked for the latest task of an order; null: nobody whose name was written down. */
export async function taskRequesterOf(db: Executor, orderId: number): Promise<string | null> {
  const [asked] = await db
    .select({ by: sql<string | null>`${orderEvents.detail} ->> 'by'` })
    .from(orderEvents)
    .where(and(eq(orderEvents.orderId, orderId), eq(orderEvents.kind, 'task_requested')))
    .orderBy(desc(orderEvents.id))
    .limit(1)
  return asked?.by ?? null
}

export type OrderHappening = { kind: OrderEventKind; detail: Record<string, unknown>; at: string }

/** More than one order gathers in years of monthly renewals and checks. */
const LATEST = 1000

/** What happened to an order, newest first. */
export async function historyOf(db: Executor, id: number): Promise<Result<OrderHappening[]>> {
  const found = await db.$count(orders, and(eq(orders.id, id), isNull(orders.deletedAt)))
  if (found === 0) return refuse('not_found')
  const rows = await db
    .select()
    .from(orderEvents)
    .where(eq(orderEvents.orderId, id))
    .orderBy(desc(orderEvents.id))
    .limit(LATEST)
  return ok(rows.map(({ kind, detail, at }) => ({ kind, detail, at: iso(at) })))
}
