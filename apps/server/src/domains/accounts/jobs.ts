import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { removeExpired } from './housekeeping.ts'

const housekeepingQueue = queue('remove-expired-logins')

export const accountJobs: Job[] = [
  job(housekeepingQueue, {
    purpose: 'Removes expired sessions, codes, captchas, counted login failures and OAuth states.',
    cron: '*/10 * * * *',
    run: removeExpired
  })
]
