import { isNull } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { job, type Job } from '../../infra/job.ts'
import type { BulkActions } from './actions.ts'
import { bulkResumeQueue, bulkRunQueue } from './queues.ts'
import { bulkRuns } from './tables.ts'
import { workOnRun } from './work-on-run.ts'

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
