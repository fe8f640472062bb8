import { queue } from '../../../infra/jobs.ts'
import {
  mayOperate,
  type Refusal,
  refuse,
  type SyncKind,
  type SyncPlan,
  type SyncRun,
  type SyncState
} from '@netlet/contract'
import { actorOf, SYSTEM, type UserActor } from '../../../infra/actor.ts'
import { command, dryRun } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import { isTemporaryFailure } from '../../../infra/db/client.ts'
import { and, eq, inArray, isNull } from '../../../infra/db/drizzle.ts'
import { lock } from '../../../infra/db/locks.ts'
import { done, ok, type Result } from '../../../infra/result.ts'
import { users } from '../../accounts/tables.ts'
import { presentPlan, versionOfPlan } from '../plan-sync.ts'
import { type PlatformSource, readSource, type Report } from '../read-source.ts'
import { planCatalogue, importCatalogue } from '../sync-catalogue.ts'
import { planOf, importCollections, importTags } from '../sync-groupings.ts'
import { findRun, isOld, presentRun, SMALL } from './list-runs.ts'
import { transition } from './states.ts'
import { syncRuns } from './tables.ts'

/** One hour: the platform limits how fast a shop with thousands of products can be read. */
export const syncQueue = queue<{ runId: number }>('sync-catalogue', { expireInSeconds: 3600 })

/** The least time between two writes of progress, each of which also checks for a cancellation, in milliseconds. */
const PROGRESS_MS = 300

/** The sync was cancelled: ends the worker's run and rolls back its transaction. */
class SyncStopped extends Error {}

/** Writes a sync's progress for all viewers. @throws SyncStopped if the sync is no longer in `state` */
function reportProgress(ctx: AppContext, { id, state }: { id: number; state: SyncState }): Report {
  let [at, current] = [-Infinity, '']
  return async (step, done, total = null) => {
    if (step === current && performance.now() - at < PROGRESS_MS) return
    // On another connection: the sync's own transaction is invisible until it commits.
    const isOn = await command(ctx, SYSTEM, async unit => {
      const written = await unit.tx
        .update(syncRuns)
        .set({ step, done, total })
        .where(and(eq(syncRuns.id, id), eq(syncRuns.state, state)))
        .returning({ id: syncRuns.id })
      unit.publish('catalog_sync', id)
      return written.length > 0
    })
    if (!isOn) throw new SyncStopped('the sync was cancelled')
    at = performance.now()
    current = step
  }
}

type Run = typeof syncRuns.$inferSelect

/**
 * Runs a sync's current step: reading and comparing, or applying its plan. Each step is written as a whole, so a retry
 * after a crash starts it again; of two workers, the first result counts.
 * @throws if a retry may help
 */
export async function workOnSync(ctx: AppContext, runId: number): Promise<void> {
  const [found] = await ctx.db
    .select({ run: syncRuns, user: users })
    .from(syncRuns)
    .leftJoin(users, eq(users.id, syncRuns.actorId))
    .where(and(eq(syncRuns.id, runId), inArray(syncRuns.state, ['reading', 'applying'])))
  if (!found) return
  const { run, user } = found
  const mayStill = user?.isActive && user.isSuperuser && mayOperate(user.operatorRole, 'products.change')
  const work = run.state === 'reading' ? readAndPlan : applyPlan
  try {
    const result = mayStill
      ? await work(ctx, run, actorOf(run, user.operatorRole))
      : refuse('bulk_not_allowed', { params: { username: run.actorName } })
    if (!result.ok) await fail(ctx, runId, result)
  } catch (error) {
    if (error instanceof SyncStopped) return
    if (isTemporaryFailure(error)) throw error
    ctx.log.error({ err: error, run: runId }, 'a sync of the catalogue failed')
    await fail(ctx, runId, refuse('internal'))
  }
}

async function readAndPlan(ctx: AppContext, run: Run): Promise<Result<null>> {
  const report = reportProgress(ctx, run)
  const source = await readSource(ctx, run.what, report)
  if (!source.ok) return source
  const planned = await plan(ctx, run, { source: source.data, report })
  if (!planned.ok) return planned
  await command(ctx, SYSTEM, unit =>
    transition(unit, run.id, 'plan', { source: source.data, ...planned.data, readyAt: unit.now })
  )
  return ok(null)
}

async function plan(
  ctx: AppContext,
  { what }: Run,
  { source, report }: { source: PlatformSource; report: Report }
): Promise<Result<{ plan: SyncPlan; version: string }>> {
  await report('comparing', 0)
  if (what !== 'catalogue') {
    const found = await planOf(ctx.db, what, source)
    return ok({ plan: { what, ...presentPlan(found) }, version: versionOfPlan(found) })
  }
  return dryRun(ctx, SYSTEM, {}, async unit => {
    const { shown, version } = await planCatalogue(unit, source, (done, total) => report('comparing', done, total))
    return ok({ plan: { what, ...shown }, version })
  })
}

/** One transaction with the end of the sync, so that a cancelled sync leaves no changes. */
async function applyPlan(ctx: AppContext, run: Run, by: UserActor): Promise<Result<null>> {
  const { id, what, source, version } = run
  if (!source || version === null) throw new Error('a sync without a plan cannot be applied')
  // No worker ran for a long time.
  if (isOld(run, ctx.now())) return refuse('stale')
  const report = reportProgress(ctx, run)
  await report('applying', 0)
  return command(ctx, by, async unit => {
    const tell = (done: number, total: number) => report('applying', done, total)
    const take = { catalogue: importCatalogue, collections: importCollections, tags: importTags }[what]
    const taken = await take(unit, source, { version, tell })
    if (!taken.ok) return taken
    if (!(await transition(unit, id, 'finish', { counts: taken.data }))) throw new SyncStopped('the sync was cancelled')
    return ok(null)
  })
}

/** If it was cancelled in the meantime, this changes nothing. */
async function fail(ctx: AppContext, runId: number, { reason, params }: Refusal): Promise<void> {
  await command(ctx, SYSTEM, unit => transition(unit, runId, 'fail', { reason, params: params ?? null }))
}

/** Starts a comparison with the platform, or returns the running one of this kind. Replaces an unapplied plan. */
export function startSync(ctx: AppContext, by: UserActor, what: SyncKind): Promise<Result<SyncRun>> {
  return command(ctx, by, async unit => {
    await lock(unit.tx, 'syncRuns', what)
    const [last] = await unit.tx
      .select(SMALL)
      .from(syncRuns)
      .where(and(eq(syncRuns.what, what), isNull(syncRuns.endedAt)))
      .for('update')
    if (last && last.state !== 'ready') return ok(presentRun(last))
    if (last) await transition(unit, last.id, 'cancel')
    const [run] = await unit.tx
      .insert(syncRuns)
      .values({ what, createdAt: unit.now, ...asActor(by) })
      .returning(SMALL)
    if (!run) throw new Error('the sync was not added')
    unit.publish('catalog_sync', run.id)
    unit.jobs.send(syncQueue, { runId: run.id }, { key: String(run.id) })
    return ok(presentRun(run))
  })
}

/** Applies a plan. A repeat applies it once; 'stale' if it is too old or gone. */
export function applySync(ctx: AppContext, by: UserActor, id: number): Promise<Result<SyncRun>> {
  return command(ctx, by, async unit => {
    const run = await findRun(unit.tx, id)
    if (!run) return refuse('not_found')
    if (run.state === 'ready' && isOld(run, unit.now)) return refuse('stale')
    const begun = { step: 'waiting', done: 0, total: null, ...asActor(by) } as const
    if (await transition(unit, id, 'apply', begun)) unit.jobs.send(syncQueue, { runId: id }, { key: String(id) })
    const now = await findRun(unit.tx, id)
    return now && (now.state === 'applying' || now.state === 'applied') ? ok(presentRun(now)) : refuse('stale')
  })
}

/** Stops a sync at any step and rolls its changes back. A repeat changes nothing. */
export function cancelSync(ctx: AppContext, by: UserActor, id: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    if (await transition(unit, id, 'cancel')) return done
    const run = await findRun(unit.tx, id)
    if (!run) return refuse('not_found')
    return run.state === 'cancelled' ? done : refuse('already_over')
  })
}

const asActor = ({ id, username, ip }: UserActor) => ({ actorId: id, actorName: username, actorIp: ip })
