import { job, queue, type Job } from '../../infra/jobs.ts'
import { removeExpired } from './housekeeping.ts'

const housekeepingQueue = queue('accounts-housekeeping')

export const accountJobs: Job[] = [
  job(housekeepingQueue, {
    purpose: 'Removes expired sessions, codes, captchas, counted login failures and OAuth states',
    cron: '*/10 * * * *',
    run: removeExpired
  })
]
