import { type BulkRun, RUN_PERMISSIONS, refuse } from '@netlet/contract'
import { and, eq, inArray } from '../../infra/db/drizzle.ts'
import { type Unit, command } from '../../infra/command.ts'
import { bulkRuns } from './tables.ts'
import { type UserActor, mayDo } from '../../infra/actor.ts'
import type { AppContext } from '../../infra/context.ts'
import { type Result, done } from '../../infra/result.ts'
import { findRun } from './list-runs.ts'

/** Stops a run before its next row. A repeat changes nothing. */
export function cancelRun(ctx: AppContext, by: UserActor, id: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const found = await findRun(unit.tx, id)
    if (!found.ok) return found
    if (!mayDo(by, RUN_PERMISSIONS[found.data.action])) return refuse('role_not_allowed')
    if (await transition(unit, id, 'cancel')) {
      unit.audit('bulk_run.cancel', id)
      return done
    }
    const run = await findRun(unit.tx, id)
    if (!run.ok) return run
    return run.data.state === 'cancelled' ? done : refuse('already_over')
  })
}

type BulkState = BulkRun['state']

export const TRANSITIONS = {
  /** A worker has started it. */
  start: { from: ['queued'], to: 'running' },
  /** No row is left. */
  finish: { from: ['running'], to: 'done' },
  /** An administrator stopped it. Finished rows stay done. */
  cancel: { from: ['queued', 'running'], to: 'cancelled' },
  /** The administrator may no longer do this. */
  fail: { from: ['queued', 'running'], to: 'failed' }
} as const satisfies Record<string, { from: readonly BulkState[]; to: BulkState }>

export type BulkEvent = keyof typeof TRANSITIONS

/** States without a transition to another one. */
const hasEnded = (state: BulkState): boolean =>
  !Object.values(TRANSITIONS).some(({ from }) => (from as readonly BulkState[]).includes(state))

/** Moves a run to its next state and notifies its viewers. False if its state does not allow it. */
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
