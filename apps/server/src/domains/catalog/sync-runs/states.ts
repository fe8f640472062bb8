import type { SyncState } from '@netlet/contract'
import { and, eq, inArray } from 'drizzle-orm'
import type { Unit } from '../../../infra/command.ts'
import { syncRuns } from './tables.ts'

/** The life of a sync: what may happen in which state, and where it leads. */
const TRANSITIONS = {
  /** The platform has been read and compared. */
  plan: { from: ['reading'], to: 'ready' },
  /** Somebody has looked at the plan and wants it. */
  apply: { from: ['ready'], to: 'applying' },
  /** All of it is done, in the same transaction. */
  finish: { from: ['applying'], to: 'applied' },
  /** An administrator stopped it, or a newer one takes its place. Nothing of it is left. */
  cancel: { from: ['reading', 'ready', 'applying'], to: 'cancelled' },
  /** The platform failed, or the plan is not true any more. */
  fail: { from: ['reading', 'applying'], to: 'failed' }
} as const satisfies Record<string, { from: readonly SyncState[]; to: SyncState }>

type SyncEvent = keyof typeof TRANSITIONS
type Changes = Partial<Omit<typeof syncRuns.$inferInsert, 'id' | 'what' | 'state' | 'endedAt'>>

/** States from which nothing leads on. */
const hasEnded = (state: SyncState): boolean =>
  !Object.values(TRANSITIONS).some(({ from }) => (from as readonly SyncState[]).includes(state))

/**
 * Moves a sync along the table and tells whoever watches it. False where its state has no such way: of a worker that
 * finishes and somebody who cancels at once, the first one wins, and the other one learns it here.
 */
export async function transition(unit: Unit, id: number, event: SyncEvent, changes: Changes = {}): Promise<boolean> {
  const { from, to } = TRANSITIONS[event]
  // What was read may be large, and is of no use any more.
  const ending = hasEnded(to) ? { endedAt: unit.now, source: null, plan: null, version: null } : {}
  const moved = await unit.tx
    .update(syncRuns)
    .set({ ...changes, ...ending, state: to })
    .where(and(eq(syncRuns.id, id), inArray(syncRuns.state, [...from])))
    .returning({ id: syncRuns.id })
  if (moved.length > 0) unit.publish('catalog_sync', id)
  return moved.length > 0
}
