import { eq, isNull, lt } from 'drizzle-orm'
import { SYSTEM } from '../../infra/actor.ts'
import { DAY } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { job, type Job } from '../../infra/job.ts'
import type { BulkActions } from './actions.ts'
import { bulkCleanupQueue, bulkRunQueue } from './queues.ts'
import { bulkRuns } from './tables.ts'
import { workOnRun } from './work-on-run.ts'

const KEPT = 30 * DAY

export const bulkJobs = (actions: BulkActions): Job[] => [
  job(bulkRunQueue, {
    purpose: 'Runs one bulk action over its rows, for 20 seconds at a time.',
    concurrency: 2,
    async run(ctx, { runId }) {
      if (await workOnRun(ctx, actions, runId)) await enqueueRuns(ctx, [runId])
    }
  }),
  job(bulkCleanupQueue, {
    purpose: 'Removes bulk runs that ended 30 days ago, and takes up those that a process left behind.',
    cron: '23 4 * * *',
    atStart: true,
    async run(ctx) {
      await removeOldRuns(ctx)
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

async function removeOldRuns(ctx: AppContext): Promise<void> {
  const before = new Date(ctx.now().getTime() - KEPT)
  const old = await ctx.db.select({ id: bulkRuns.id }).from(bulkRuns).where(lt(bulkRuns.endedAt, before))
  // One at a time: each takes up to 100,000 rows with it.
  for (const { id } of old) {
    await command(ctx, SYSTEM, async unit => {
      await unit.tx.delete(bulkRuns).where(eq(bulkRuns.id, id))
      unit.publish('bulk_run', id)
    })
  }
}
