import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { compareFigures } from './figures.ts'
import { reconcilePayments } from './reconcile.ts'

const reconcileQueue = queue<object>('reconcile-payments', { retryLimit: 0, deleteAfterSeconds: 3600 })

const compareFiguresQueue = queue<object>('compare-order-figures', { expireInSeconds: 600, deleteAfterSeconds: 86_400 })

export const paymentJobs: Job[] = [
  job(compareFiguresQueue, {
    purpose: 'Counts the figures of orders again and logs where the stored ones differ.',
    cron: '41 3 * * *',
    run: async ctx => {
      const days = await compareFigures(ctx.db)
      if (days.length > 0) ctx.log.error({ days: days.slice(0, 31) }, 'figures of orders differ from the orders')
    }
  }),
  job(reconcileQueue, {
    purpose: 'Asks the platform for payments, refunds and cancellations, and records those that no webhook told of.',
    cron: '*/5 * * * *',
    run: reconcilePayments
  })
]
