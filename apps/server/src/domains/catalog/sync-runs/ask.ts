import { refuse, type SyncKind, type SyncRun } from '@netlet/contract'
import { and, eq, isNull } from '../../../infra/db/drizzle.ts'
import type { UserActor } from '../../../infra/actor.ts'
import { command } from '../../../infra/command.ts'
import type { AppContext } from '../../../infra/context.ts'
import { lock } from '../../../infra/db/locks.ts'
import { done, ok, type Result } from '../../../infra/result.ts'
import { findRun, isOld, presentRun, SMALL } from './list-runs.ts'
import { syncQueue } from './queue.ts'
import { transition } from './states.ts'
import { syncRuns } from './tables.ts'

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
