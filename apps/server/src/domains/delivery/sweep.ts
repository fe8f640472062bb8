import { and, asc, inArray, isNotNull, lt } from 'drizzle-orm'
import { MINUTE } from '../../platform/clock.ts'
import type { Shop } from '../../platform/shop.ts'
import { followOn, serversBehind } from '../fleet/index.ts'
import { orders } from '../orders/tables.ts'
import { advance } from './advance.ts'
import { orderTaskQueue } from './queues.ts'

const BATCH = 200

/**
 * Takes up what a process left behind when it died: agents that are behind, deliveries that nobody leads any more, and
 * tasks whose job is gone. Runs each minute and whenever a worker starts; doing it twice does no harm.
 */
export async function sweep(shop: Pick<Shop, 'db' | 'jobs' | 'now'>): Promise<void> {
  await followOn(shop.db, shop.jobs, await serversBehind(shop.db))
  const stale = new Date(shop.now().getTime() - MINUTE)
  const underway = await shop.db
    .select({ id: orders.id })
    .from(orders)
    .where(inArray(orders.state, ['delivering', 'partly_delivered']))
    .orderBy(asc(orders.id))
    .limit(BATCH)
  for (const { id } of underway) await shop.db.transaction(tx => advance(tx, shop, [id]))
  const tasks = await shop.db
    .select({ orderId: orders.id, taskId: orders.taskId, task: orders.task })
    .from(orders)
    .where(and(isNotNull(orders.task), lt(orders.taskAt, stale)))
    .limit(BATCH)
  for (const { orderId, taskId, task } of tasks) {
    if (taskId) await shop.jobs.send(shop.db, orderTaskQueue, { orderId, taskId }, { key: `${orderId}:${taskId}` })
    if (task !== 'check') await shop.db.transaction(tx => advance(tx, shop, [orderId]))
  }
}
