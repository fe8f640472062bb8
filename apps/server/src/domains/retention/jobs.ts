import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import type { RetentionEntry } from '../../infra/retention.ts'
import { applyRetention, type RetentionPace } from './figures.ts'

/** `from`: where the previous run stopped for lack of time. */
const retentionQueue = queue<{ from?: string }>('apply-retention', {
  retryLimit: 0,
  expireInSeconds: 540,
  deleteAfterSeconds: 3600
})

export const retentionJobs = (entries: readonly RetentionEntry[], pace: RetentionPace = {}): Job[] => [
  job(retentionQueue, {
    purpose:
      'Deletes data after its retention period, in batches. docs/RETENTION.md lists the periods. The next run continues where this one stops.',
    cron: '*/10 * * * *',
    run: (ctx, { from }) => runRetention(ctx, entries, { ...pace, from })
  })
]

async function runRetention(
  ctx: AppContext,
  entries: readonly RetentionEntry[],
  options: RetentionPace & { from?: string | undefined }
): Promise<void> {
  const next = await applyRetention(ctx, entries, options)
  if (next === null) return
  await command(ctx, SYSTEM, async unit => unit.jobs.send(retentionQueue, { from: next }, { key: 'rest' }))
}
