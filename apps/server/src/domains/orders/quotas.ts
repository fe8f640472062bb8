/** How often in a term a customer may change an order's addresses and reset its password. */
import { refuse, type OrderTask, type Refusal } from '@netlet/contract'
import { and, desc, eq, gt, sql } from '../../infra/db/drizzle.ts'
import { iso, MINUTE } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { readSome } from '../settings/index.ts'
import { isOver } from './renew.ts'
import { isServed } from './states.ts'
import { NOTHING_USED } from './task-states.ts'
import { orderEvents, type TakenQuota } from './tables.ts'
import type { OrderChanges, OrderRow } from './transition.ts'

/** The customers' tasks that count. */
type Counted = Extract<OrderTask, 'change' | 'reset'>
const isCounted = (task: OrderTask | null): task is Counted => task === 'change' || task === 'reset'

/** The limit of each in a term; null: no limit. */
export type Quotas = Record<Counted, number | null>

export async function readQuotas(db: Executor): Promise<Quotas> {
  const { customer_changes_per_term: change, customer_resets_per_term: reset } = await readSome(db, [
    'customer_changes_per_term',
    'customer_resets_per_term'
  ])
  return { change, reset: reset === '' ? null : reset }
}

type Used = Pick<OrderRow, 'changesUsed' | 'resetsUsed'>
const usedOf = (order: Used, task: Counted): number => (task === 'change' ? order.changesUsed : order.resetsUsed)

/** How often the customer may still ask for this; null: no limit. 0 if the order is not served. */
export function quotaLeft(
  order: Used & Pick<OrderRow, 'state' | 'expiredAt'>,
  task: Counted,
  { now, quotas }: { now: Date; quotas: Quotas }
): number | null {
  if (!isServed(order.state) || isOver(order, now)) return 0
  const most = quotas[task]
  return most === null ? null : Math.max(0, most - usedOf(order, task))
}

/** The wait after a change that found no addresses. Each attempt locks the usage of the group's addresses. */
const NONE_FOUND_MS = 10 * MINUTE

/** Why the customer of a locked order may not ask for this task now; null if it may. */
export async function quotaRefusal(
  { tx, now }: Pick<Unit, 'tx' | 'now'>,
  order: OrderRow,
  task: OrderTask
): Promise<Refusal | null> {
  if (!isCounted(task)) return null
  const max = (await readQuotas(tx))[task]
  if (max === 0) return refuse('task_not_allowed')
  if (max !== null && usedOf(order, task) >= max) {
    const params = { max, until: order.expiredAt ? iso(order.expiredAt) : '' }
    return refuse('task_used_up', { params })
  }
  if (task !== 'change') return null
  const failedAt = await lastShortageAt(tx, order.id, new Date(now.getTime() - NONE_FOUND_MS))
  if (!failedAt) return null
  return refuse('changes_found_none', { params: { until: iso(new Date(failedAt.getTime() + NONE_FOUND_MS)) } })
}

/** When a change of the order last failed for lack of addresses. */
async function lastShortageAt(db: Executor, orderId: number, since: Date): Promise<Date | null> {
  const [failed] = await db
    .select({ at: orderEvents.at })
    .from(orderEvents)
    .where(
      and(
        eq(orderEvents.orderId, orderId),
        eq(orderEvents.kind, 'task_failed'),
        gt(orderEvents.at, since),
        sql`${orderEvents.detail} @> '{"task": "change", "code": "out_of_stock"}'`
      )
    )
    .orderBy(desc(orderEvents.id))
    .limit(1)
  return failed?.at ?? null
}

/** Charges a customer's task to the quota. */
export function chargeQuota(order: OrderRow, task: OrderTask): OrderChanges {
  if (!isCounted(task)) return {}
  const used = usedOf(order, task) + 1
  return { taskCounted: true, ...(task === 'change' ? { changesUsed: used } : { resetsUsed: used }) }
}

/**
 * Uses up the whole quota of a term that is taken back. A renewal resets the count, so a refunded one would otherwise
 * give away a quota.
 */
export async function useUpQuota(db: Executor, order: Used): Promise<Used> {
  const { change, reset } = await readQuotas(db)
  return {
    changesUsed: Math.max(order.changesUsed, change ?? 0),
    resetsUsed: Math.max(order.resetsUsed, reset ?? 0)
  }
}

/** Gives back what `useUpQuota` took. A renewal may have reset the count already. @param taken null: not stored */
export function restoreUsed({ changesUsed, resetsUsed }: Used, taken: TakenQuota | null): Used {
  if (!taken) return NOTHING_USED
  const [changes, resets] = [changesUsed - taken.changes, resetsUsed - taken.resets]
  return { changesUsed: Math.max(0, changes), resetsUsed: Math.max(0, resets) }
}

/** Returns the quota of a task that failed and changed nothing. A renewal may have reset the count already. */
export function refundQuota(order: OrderRow): OrderChanges {
  if (!order.taskCounted || !isCounted(order.task)) return {}
  const used = Math.max(0, usedOf(order, order.task) - 1)
  return order.task === 'change' ? { changesUsed: used } : { resetsUsed: used }
}
