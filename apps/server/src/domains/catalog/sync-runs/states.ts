import type { SyncState } from '@netlet/contract'
import type { Unit } from '../../../infra/command.ts'
import { and, eq, inArray } from '../../../infra/db/drizzle.ts'
import { syncRuns } from './tables.ts'

const TRANSITIONS = {
  /** The platform has been read and compared. */
  plan: { from: ['reading'], to: 'ready' },
  /** An administrator accepted the plan. */
  apply: { from: ['ready'], to: 'applying' },
  /** All changes are done, in the same transaction. */
  finish: { from: ['applying'], to: 'applied' },
  /** An administrator stopped it, or a newer one replaces it. Its changes are rolled back. */
  cancel: { from: ['reading', 'ready', 'applying'], to: 'cancelled' },
  /** The platform failed, or the plan no longer applies. */
  fail: { from: ['reading', 'applying'], to: 'failed' }
} as const satisfies Record<string, { from: readonly SyncState[]; to: SyncState }>

type SyncEvent = keyof typeof TRANSITIONS

type Changes = Partial<Omit<typeof syncRuns.$inferInsert, 'id' | 'what' | 'state' | 'endedAt'>>

/** States without a transition to another one. */
const hasEnded = (state: SyncState): boolean =>
  !Object.values(TRANSITIONS).some(({ from }) => (from as readonly SyncState[]).includes(state))

/**
 * Moves a sync to its next state and notifies its viewers. False if its state does not allow it: if a worker finishes
 * while an administrator cancels, the first one wins and the other gets false.
 */
export async function transition(unit: Unit, id: number, event: SyncEvent, changes: Changes = {}): Promise<boolean> {
  const { from, to } = TRANSITIONS[event]
  // The platform's data may be large and is no longer needed.
  const ending = hasEnded(to) ? { endedAt: unit.now, source: null, plan: null, version: null } : {}
  const moved = await unit.tx
    .update(syncRuns)
    .set({ ...changes, ...ending, state: to })
    .where(and(eq(syncRuns.id, id), inArray(syncRuns.state, [...from])))
    .returning({ id: syncRuns.id })
  if (moved.length > 0) unit.publish('catalog_sync', id)
  return moved.length > 0
}
