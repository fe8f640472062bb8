import type { OrderRow } from './transition.ts'

export type TaskState = 'none' | 'queued' | 'running'

/**
 * The states of an order's task. `queued`: its work is not done yet. `running`: one transaction has done it, and the
 * agents have to confirm; a repeat of the job only waits for them. docs/ORDERS.md draws this table.
 */
export const TASK_TRANSITIONS = {
  request: { from: ['none'], to: 'queued' },
  begin: { from: ['queued'], to: 'running' },
  finish: { from: ['queued', 'running'], to: 'none' }
} as const satisfies Record<string, { from: readonly TaskState[]; to: TaskState }>

export type TaskEvent = keyof typeof TASK_TRANSITIONS

export function taskStateOf(order: Pick<OrderRow, 'task' | 'taskBegunAt'>): TaskState {
  if (order.task === null) return 'none'
  return order.taskBegunAt === null ? 'queued' : 'running'
}

export const NO_TASK = { task: null, taskId: null, taskAt: null, taskBegunAt: null, taskCounted: false } as const

/** The quota columns at the start of a term. */
export const NOTHING_USED = { changesUsed: 0, resetsUsed: 0 } as const

export const taskAllows = (order: Pick<OrderRow, 'task' | 'taskBegunAt'>, event: TaskEvent): boolean =>
  (TASK_TRANSITIONS[event].from as readonly TaskState[]).includes(taskStateOf(order))
