import {
  SYNC_KINDS,
  SYNC_PLAN_MS,
  type SyncPlan,
  type SyncRun,
  type SyncState,
  refuse,
  sentenceOf
} from '@netlet/contract'
import { iso, isoOrNull } from '../../../infra/clock.ts'
import type { Unit } from '../../../infra/command.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { and, desc, eq, getTableColumns, inArray } from '../../../infra/db/drizzle.ts'
import { type Result, ok } from '../../../infra/result.ts'
import { syncRuns } from './tables.ts'

/** Removes an administrator's name and address from the syncs that the administrator started. */
export async function forgetSyncActor({ tx }: Unit, userId: number, replacement: string): Promise<void> {
  await tx.update(syncRuns).set({ actorName: replacement, actorIp: '0.0.0.0' }).where(eq(syncRuns.actorId, userId))
}

const { source: _source, plan: _plan, version: _version, ...small } = getTableColumns(syncRuns)

/** Without the platform's data, which may take megabytes. */
export const SMALL = small
export type SmallRun = Omit<typeof syncRuns.$inferSelect, 'source' | 'plan' | 'version'>

export async function newestRuns(db: Executor): Promise<SyncRun[]> {
  const found = await Promise.all(
    SYNC_KINDS.map(what =>
      db.select(SMALL).from(syncRuns).where(eq(syncRuns.what, what)).orderBy(desc(syncRuns.id)).limit(1)
    )
  )
  return found.flat().map(presentRun)
}

export async function findRun(db: Executor, id: number): Promise<SmallRun | undefined> {
  const [run] = await db.select(SMALL).from(syncRuns).where(eq(syncRuns.id, id))
  return run
}

/** What a sync would do; 'stale' if it has ended or has no plan yet. */
export async function readPlan(db: Executor, id: number): Promise<Result<SyncPlan>> {
  const [run] = await db.select({ plan: syncRuns.plan }).from(syncRuns).where(eq(syncRuns.id, id))
  if (!run) return refuse('not_found')
  return run.plan ? ok(run.plan) : refuse('stale')
}

/** Is its plan too old to apply? The platform may have changed without an event. */
export const isOld = ({ readyAt }: Pick<SmallRun, 'readyAt'>, now: Date): boolean =>
  readyAt !== null && now.getTime() - readyAt.getTime() > SYNC_PLAN_MS

export const presentRun = (run: SmallRun): SyncRun => ({
  id: run.id,
  what: run.what,
  state: run.state,
  step: run.step,
  done: run.done,
  total: run.total,
  username: run.actorName,
  created_at: iso(run.createdAt),
  ready_at: isoOrNull(run.readyAt),
  ended_at: isoOrNull(run.endedAt),
  counts: run.counts,
  reason: run.reason,
  params: run.params ?? {},
  msg: run.reason ? sentenceOf({ ok: false, reason: run.reason, params: run.params ?? {} }) : null
})

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
