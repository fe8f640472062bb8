import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import { ok } from '../../infra/result.ts'
import type { AppContext } from '../../infra/context.ts'
import type { RetentionEntry } from '../../infra/retention.ts'
import { applyRetention, retentionOverview, type RetentionPace } from './figures.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { sql } from '../../infra/db/drizzle.ts'
import { DAY } from '../../infra/clock.ts'

export function retentionRoutes(mount: Mount, ctx: AppContext, entries: readonly RetentionEntry[]): void {
  mount(routes.settings.retention, async () => ok(await retentionOverview(ctx, entries)))
}

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

/** Finished jobs. The queue removes them itself; this entry only counts them. */
export const jobArchive: RetentionEntry = {
  what: 'jobs',
  keep: { ms: DAY },
  why: 'Finished jobs show what ran and what failed. Many are deleted within an hour because they contain addresses.',
  remove: async () => 0,
  async count(db) {
    const { rows } = await db.execute<{ rows: number; oldest: string | null }>(
      sql`select count(*) as rows, min(completed_on) as oldest from pgboss.job where completed_on is not null`
    )
    const oldest = rows[0]?.oldest
    return { rows: rows[0]?.rows ?? 0, oldest: oldest ? new Date(oldest) : null }
  }
}
