import type { BulkRun } from '@netlet/contract'
import { and, eq, inArray } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { bulkRuns } from './tables.ts'

type BulkState = BulkRun['state']

/** The life of a run: what may happen in which state, and where it leads. */
export const TRANSITIONS = {
  /** A worker has taken it up. */
  start: { from: ['queued'], to: 'running' },
  /** No row is left. */
  finish: { from: ['running'], to: 'done' },
  /** An administrator stopped it. Rows that are done stay done. */
  cancel: { from: ['queued', 'running'], to: 'cancelled' },
  /** Who asked for it may not do it any more. */
  fail: { from: ['queued', 'running'], to: 'failed' }
} as const satisfies Record<string, { from: readonly BulkState[]; to: BulkState }>

export type BulkEvent = keyof typeof TRANSITIONS

/** States from which nothing leads on. */
const hasEnded = (state: BulkState): boolean =>
  !Object.values(TRANSITIONS).some(({ from }) => (from as readonly BulkState[]).includes(state))

/** Moves a run along the table and tells whoever watches it. False where its state has no such way. */
export async function transition(
  unit: Unit,
  id: number,
  event: BulkEvent,
  changes: Partial<Pick<typeof bulkRuns.$inferInsert, 'reason' | 'params'>> = {}
): Promise<boolean> {
  const { from, to } = TRANSITIONS[event]
  const moved = await unit.tx
    .update(bulkRuns)
    .set({ ...changes, state: to, endedAt: hasEnded(to) ? unit.now : null })
    .where(and(eq(bulkRuns.id, id), inArray(bulkRuns.state, [...from])))
    .returning({ id: bulkRuns.id })
  if (moved.length > 0) unit.publish('bulk_run', id)
  return moved.length > 0
}
