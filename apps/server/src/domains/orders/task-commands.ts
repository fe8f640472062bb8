/** The one piece of work that someone asked for on an order: which it is, whether its work was done, how it ended. */
import type { OrderTask, Params, TaskFailure } from '@netlet/contract'
import { randomUUID } from 'node:crypto'
import { actsAsAdmin, type Actor } from '../../infra/actor.ts'
import type { Unit } from '../../infra/command.ts'
import { giveQuotaBack, takeQuota } from './quotas.ts'
import { NO_TASK, taskAllows } from './task-states.ts'
import { note, updateOrder, type OrderChanges, type OrderRow } from './transition.ts'

/** The administrator's own name, also while the shop is viewed as a user. */
const adminOf = (by: Actor): string | undefined =>
  by.kind === 'user' ? (by.impersonator?.username ?? by.username) : undefined

export type FailedTask = { code: TaskFailure; params?: Params }

/**
 * Gives a locked order a task.
 * @param counted it is its customer who asks: it takes one of the quota
 * @returns the task's id
 * @throws while another one is running
 */
export async function queueTask(
  unit: Unit,
  order: OrderRow,
  task: OrderTask,
  { counted = false }: { counted?: boolean } = {}
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
    ...(counted ? takeQuota(order, task) : {})
  })
  const by = actsAsAdmin(unit.by) ? { by: adminOf(unit.by) } : {}
  await note(unit, order.id, 'task_requested', { task, ...by })
  return taskId
}

/** Writes down, in the transaction that does a task's work, that it was done. @throws where it was done before */
export async function beginTask(unit: Unit, order: OrderRow): Promise<void> {
  if (!taskAllows(order, 'begin')) throw new Error(`The task of order ${order.id} cannot begin`)
  await updateOrder(unit, order.id, { taskBegunAt: unit.now })
  await note(unit, order.id, 'task_begun', { task: order.task })
}

/** A locked order's task turned out to take nothing of the quota: what it took is given back, and it never is again. */
export async function undoTaskCount(unit: Unit, order: OrderRow): Promise<void> {
  if (order.taskCounted) await updateOrder(unit, order.id, { ...giveQuotaBack(order), taskCounted: false })
}

/** Shows how many proxies a running check has done, unless another task has taken its place. */
export async function recordTaskDone(unit: Unit, orderId: number, taskId: string, done: number): Promise<void> {
  await updateOrder(unit, orderId, { taskDone: done }, { taskId })
}

/** Ends a task that is done, unless another one has taken its place. */
export const finishTask = (unit: Unit, orderId: number, taskId: string): Promise<void> =>
  end(unit, orderId, taskId, null)

/**
 * Ends a locked order's task that failed.
 * @param changed its customer has something of it all the same; otherwise what it took of the quota is given back
 */
export async function failTask(
  unit: Unit,
  order: OrderRow,
  failure: FailedTask,
  { changed }: { changed: boolean }
): Promise<void> {
  if (order.taskId)
    await end(unit, order.id, order.taskId, { ...failure, task: order.task }, changed ? {} : giveQuotaBack(order))
}

/** @param failure what the order's row shows of it */
async function end(
  unit: Unit,
  orderId: number,
  taskId: string,
  failure: (FailedTask & { task: OrderTask | null }) | null,
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
  if (ended)
    await note(
      unit,
      orderId,
      failure ? 'task_failed' : 'task_done',
      failure ? { task: failure.task, code: failure.code, ...failure.params } : {}
    )
}
