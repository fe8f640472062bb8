import { SYNC_KINDS, SYNC_PLAN_MS, type SyncPlan, type SyncRun, refuse, sentenceOf } from '@netlet/contract'
import { iso, isoOrNull } from '../../../infra/clock.ts'
import type { Unit } from '../../../infra/command.ts'
import type { Executor } from '../../../infra/db/client.ts'
import { desc, eq, getTableColumns } from '../../../infra/db/drizzle.ts'
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
