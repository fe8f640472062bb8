import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { warnOfEndingKeys } from './api-keys.ts'

const warnOfKeysQueue = queue<object>('warn-of-ending-keys', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const accountJobs: Job[] = [
  job(warnOfKeysQueue, {
    purpose: 'Emails the owners of API keys and tokens a week before they end.',
    cron: '23 * * * *',
    run: ctx => warnOfEndingKeys(ctx)
  })
]
