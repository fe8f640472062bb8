import { job, type Job } from '../../infra/job.ts'
import { proveAccess, proveDue } from './prove.ts'
import { proveQueue } from './request-proofs.ts'
import { queue } from '../../infra/jobs.ts'

/** Each minute: starts the tries that are due. */
const proveDueQueue = queue<object>('prove-due-access', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const proofJobs: Job[] = [
  job(proveQueue, {
    purpose: "Tries credentials at a server's proxies: old ones have to be refused, new ones to reach the check site.",
    concurrency: 4,
    importance: 'background',
    perGroup: 1,
    run: (ctx, { serverId }) => proveAccess(ctx, serverId)
  }),
  job(proveDueQueue, {
    purpose: 'Asks for tries of credentials that are due, of every server.',
    cron: '* * * * *',
    run: proveDue
  })
]
