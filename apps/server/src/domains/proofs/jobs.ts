import { job, type Job } from '../../infra/job.ts'
import { proveAccess, proveDue } from './prove.ts'
import { proveQueue } from './request-proofs.ts'
import { queue } from '../../infra/jobs.ts'

/** Each minute: starts the tries that are due. */
const proveDueQueue = queue<object>('prove-due-access', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const proofJobs: Job[] = [
  job(proveQueue, {
    purpose:
      "Tests credentials on a server's proxies: old ones must be refused, and new ones must reach the check site.",
    concurrency: 4,
    importance: 'background',
    perGroup: 1,
    run: (ctx, { serverId }) => proveAccess(ctx, serverId)
  }),
  job(proveDueQueue, {
    purpose: 'Schedules credential tests that are due on every server.',
    cron: '* * * * *',
    run: proveDue
  })
]
