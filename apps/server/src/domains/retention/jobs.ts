import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import type { RetentionEntry } from '../../infra/retention.ts'
import { applyRetention } from './apply.ts'

const retentionQueue = queue<object>('apply-retention', {
  retryLimit: 0,
  expireInSeconds: 540,
  deleteAfterSeconds: 3600
})

export const retentionJobs = (entries: readonly RetentionEntry[]): Job[] => [
  job(retentionQueue, {
    purpose: 'Removes what is kept long enough, in batches; docs/RETENTION.md says what and how long.',
    cron: '*/10 * * * *',
    run: ctx => applyRetention(ctx, entries)
  })
]
