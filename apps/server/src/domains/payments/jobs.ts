import { job, queue, type Job } from '../../infra/jobs.ts'
import { reconcilePayments } from './reconcile.ts'

const reconcileQueue = queue<object>('reconcile-payments', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const paymentJobs: Job[] = [
  job(reconcileQueue, {
    purpose: 'Asks the platform for paid orders and records those that no webhook told of.',
    cron: '*/5 * * * *',
    run: reconcilePayments
  })
]
