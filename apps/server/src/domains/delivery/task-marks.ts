import { and, eq, sql } from 'drizzle-orm'
import type { Executor } from '../../infra/db/client.ts'
import { note } from '../orders/index.ts'
import { orderEvents, orders } from '../orders/tables.ts'

const BEGUN = 'task begun'

/** Writes down, in the transaction that does a task's work, that it was done: a repeat only waits for the agents. */
export async function markBegun(tx: Executor, orderId: number, task: string, taskId: string): Promise<void> {
  await note(tx, orderId, BEGUN, { task, task_id: taskId })
}

export async function hasBegun(tx: Executor, orderId: number, taskId: string): Promise<boolean> {
  const marks = await tx.$count(
    orderEvents,
    and(
      eq(orderEvents.orderId, orderId),
      eq(orderEvents.kind, BEGUN),
      sql`${orderEvents.detail} ->> 'task_id' = ${taskId}`
    )
  )
  return marks > 0
}

/** Ends a task, unless another one has taken its place. @param failure what the order's row shows of it */
export async function finishTask(tx: Executor, orderId: number, taskId: string, failure: string | null): Promise<void> {
  const ended = await tx
    .update(orders)
    .set({ task: null, taskId: null, taskAt: null, taskError: failure })
    .where(and(eq(orders.id, orderId), eq(orders.taskId, taskId)))
    .returning({ id: orders.id })
  if (ended.length > 0) await note(tx, orderId, failure ? 'task failed' : 'task done', failure ? { failure } : {})
}
