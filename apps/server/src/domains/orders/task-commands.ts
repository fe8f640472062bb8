/** The one task of an order: which it is, whether its work is done, how it ended. */
import type { OrderTask, Params, TaskFailure } from '@netlet/contract'
import { randomUUID } from 'node:crypto'
import { actsAsAdmin, type Actor } from '../../infra/actor.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { and, desc, eq } from '../../infra/db/drizzle.ts'
import { announce, isAnnounced, type Note, noteDetail } from './announce.ts'
import { refundQuota, chargeQuota } from './quotas.ts'
import { orderEvents } from './tables.ts'
import { NO_TASK, taskAllows } from './task-states.ts'
import { recordEvent, updateOrder, type OrderChanges, type OrderRow } from './transition.ts'

/** The administrator's own name, even while viewing the shop as a user. */
const adminOf = (by: Actor): string | undefined =>
  by.kind === 'user' ? (by.impersonator?.username ?? by.username) : undefined

export type FailedTask = { code: TaskFailure; params?: Params }

/**
 * Gives a locked order a task.
 * @param counted the customer asked for it, so it counts to the quota
 * @param note for the customer, who is mailed once the task has changed something; without one, no mail
 * @returns the task's id
 * @throws if another task is running
 */
export async function queueTask(
  unit: Unit,
  order: OrderRow,
  task: OrderTask,
  { counted = false, note }: { counted?: boolean; note?: Note } = {}
): Promise<string> {
  if (!taskAllows(order, 'request')) throw new Error(`Order ${order.id} has a task already`)
  const taskId = randomUUID()
  await updateOrder(unit, order.id, {
    task,
    taskId,
    taskAt: unit.now,
    taskBegunAt: null,
    taskDone: null,
    taskErrorCode: null,
    taskErrorParams: null,
    ...(counted ? chargeQuota(order, task) : {})
  })
  const by = actsAsAdmin(unit.by) ? { by: adminOf(unit.by) } : {}
  const told = note && {
    ...noteDetail(note),
    ...(isAnnounced(unit, order, note) ? { emailed: true, batch: note.batch } : {})
  }
  await recordEvent(unit, order.id, 'task_requested', { task, ...by, ...told })
  return taskId
}

/** Records that a task's work is done, in the transaction that does it. @throws if it was done before */
export async function beginTask(unit: Unit, order: OrderRow): Promise<void> {
  if (!taskAllows(order, 'begin')) throw new Error(`The task of order ${order.id} cannot begin`)
  await updateOrder(unit, order.id, { taskBegunAt: unit.now })
  await recordEvent(unit, order.id, 'task_begun', { task: order.task })
}

/** Returns the quota of a locked order's task that turned out not to count. Its failure does not return it again. */
export async function undoTaskCount(unit: Unit, order: OrderRow): Promise<void> {
  if (order.taskCounted) await updateOrder(unit, order.id, { ...refundQuota(order), taskCounted: false })
}

/** Records the progress of a check, unless another task has replaced it. */
export async function recordTaskDone(unit: Unit, orderId: number, taskId: string, done: number): Promise<void> {
  await updateOrder(unit, orderId, { taskDone: done }, { taskId })
}

/** Ends a task that is done, unless another task has replaced it. */
export const finishTask = (unit: Unit, orderId: number, taskId: string): Promise<void> =>
  end(unit, orderId, taskId, null)

/**
 * Ends a locked order's failed task.
 * @param changed the customer got something in spite of the failure; otherwise the quota is returned
 */
export async function failTask(
  unit: Unit,
  order: OrderRow,
  failure: FailedTask,
  { changed }: { changed: boolean }
): Promise<void> {
  if (order.taskId)
    await end(
      unit,
      order.id,
      order.taskId,
      { ...failure, task: order.task, changed },
      changed ? {} : refundQuota(order)
    )
}

/** @param failure what the order's row shows */
async function end(
  unit: Unit,
  orderId: number,
  taskId: string,
  failure: (FailedTask & { task: OrderTask | null; changed: boolean }) | null,
  back: OrderChanges = {}
): Promise<void> {
  const changes = {
    ...NO_TASK,
    ...back,
    taskDone: null,
    taskErrorCode: failure?.code ?? null,
    taskErrorParams: failure?.params ?? null
  }
  const ended = await updateOrder(unit, orderId, changes, { taskId })
  if (!ended) return
  if (!failure || failure.changed) await announceTask(unit, orderId, taskId)
  await recordEvent(
    unit,
    orderId,
    failure ? 'task_failed' : 'task_done',
    failure ? { task: failure.task, code: failure.code, ...failure.params } : {}
  )
}

type Request = Note & { by?: string; task?: OrderTask; emailed?: boolean }

/** An order's latest task, as it was requested. `by`: the administrator; `emailed`: the customer is to be mailed. */
export async function lastRequestOf(db: Executor, orderId: number): Promise<Request> {
  const [asked] = await db
    .select({ detail: orderEvents.detail })
    .from(orderEvents)
    .where(and(eq(orderEvents.orderId, orderId), eq(orderEvents.kind, 'task_requested')))
    .orderBy(desc(orderEvents.id))
    .limit(1)
  return asked?.detail ?? {}
}

const CHANGES = { reset: 'password', change: 'addresses' } as const

/** Mails the customer about an operator's task that has ended, if the operator wanted that. */
async function announceTask(unit: Unit, orderId: number, taskId: string): Promise<void> {
  const { task, emailed, ...note } = await lastRequestOf(unit.tx, orderId)
  if (!emailed || (task !== 'reset' && task !== 'change')) return
  const change = CHANGES[task]
  await announce(
    unit,
    orderId,
    { template: 'order-changed', data: { change }, key: `changed:${orderId}:${taskId}` },
    note
  )
}
