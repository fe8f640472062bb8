import { routes } from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Mount } from '../../infra/http/mount.ts'
import { mountList } from '../../infra/list/index.ts'
import type { BulkActions } from './actions.ts'
import { findRun, listRows, runList } from './list-runs.ts'
import { bulkResumeQueue, bulkRunQueue, planRun, startRun } from './start-run.ts'
import { cancelRun } from './states.ts'
import { asc, eq, isNull, lt } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { job, type Job } from '../../infra/job.ts'
import { bulkRuns } from './tables.ts'
import { workOnRun } from './work-on-run.ts'
import { countRows, type RetentionEntry } from '../../infra/retention.ts'

/**
 * Bulk runs: one action on many rows, as a job with progress, a result for each row, and a cancel button. It owns
 * `bulk_runs` and `bulk_rows`, and reads whether the administrator still is one. It knows actions by name only; the
 * composition provides their work as `BulkActions`.
 */
export { forgetActor, unendedRun } from './list-runs.ts'
export type { BulkActions, BulkWork, RunInput } from './actions.ts'
export { bulkQueues } from './start-run.ts'
export { noteInput, startRunIn } from './start-run.ts'

export function bulkRoutes(mount: Mount, ctx: AppContext, actions: BulkActions): void {
  const { bulk } = routes
  mount(bulk.start, ({ body, caller }) => startRun(ctx, caller, actions, body))
  mount(bulk.plan, ({ body, caller }) => planRun(ctx, caller, actions, body))
  mountList(mount, ctx, bulk.runs, () => runList)
  mount(bulk.run, ({ params }) => findRun(ctx.db, params.id))
  mount(bulk.rows, ({ params, query, caller }) => listRows(ctx.db, caller, params.id, query))
  mount(bulk.cancel, ({ params, caller }) => cancelRun(ctx, caller, params.id))
}

export const bulkJobs = (actions: BulkActions): Job[] => [
  job(bulkRunQueue, {
    purpose: 'Runs one bulk action over its rows, for 20 seconds at a time.',
    concurrency: 2,
    async run(ctx, { runId }) {
      if (await workOnRun(ctx, actions, runId)) await enqueueRuns(ctx, [runId])
    }
  }),
  job(bulkResumeQueue, {
    purpose: 'Resumes bulk actions that a stopped process left unfinished.',
    cron: '23 4 * * *',
    atStart: true,
    async run(ctx) {
      const unfinished = await ctx.db.select({ id: bulkRuns.id }).from(bulkRuns).where(isNull(bulkRuns.endedAt))
      await enqueueRuns(
        ctx,
        unfinished.map(({ id }) => id)
      )
    }
  })
]

async function enqueueRuns(ctx: AppContext, ids: number[]): Promise<void> {
  await command(ctx, SYSTEM, async unit => {
    for (const id of ids) unit.jobs.send(bulkRunQueue, { runId: id }, { key: String(id) })
  })
}

export const bulkRetention: RetentionEntry[] = [
  {
    what: 'bulk_runs',
    keep: { setting: 'keep_bulk_runs_days' },
    why: 'What a bulk action did to each row. The audit log keeps the changes.',
    // One at a time: each has up to 100,000 rows.
    async remove(unit, before) {
      const [old] = await unit.tx
        .select({ id: bulkRuns.id })
        .from(bulkRuns)
        .where(lt(bulkRuns.endedAt, before))
        .orderBy(asc(bulkRuns.endedAt))
        .limit(1)
      if (!old) return 0
      await unit.tx.delete(bulkRuns).where(eq(bulkRuns.id, old.id))
      unit.publish('bulk_run', old.id)
      return 1
    },
    count: db => countRows(db, bulkRuns, bulkRuns.endedAt)
  }
]
