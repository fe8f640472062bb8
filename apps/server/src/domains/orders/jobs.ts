import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { remindExpiries } from './remind.ts'
import { foldFigures } from './figures.ts'
import { timeOutOrders } from './time-out.ts'

const timeOutQueue = queue<object>('time-out-orders', { retryLimit: 0, deleteAfterSeconds: 3600 })

const remindQueue = queue<object>('remind-expiries', { retryLimit: 2, deleteAfterSeconds: 3600 })

const foldFiguresQueue = queue<object>('fold-order-figures', { retryLimit: 0, deleteAfterSeconds: 3600 })

export const orderJobs: Job[] = [
  job(foldFiguresQueue, {
    purpose: 'Adds changed order figures to their days.',
    cron: '* * * * *',
    run: ctx => foldFigures(ctx)
  }),
  job(timeOutQueue, {
    purpose: 'Frees the addresses of orders that are not fully paid in time.',
    cron: '* * * * *',
    run: ctx => timeOutOrders(ctx)
  }),
  job(remindQueue, {
    purpose: 'Emails customers before an order expires: some days before, and on the last day.',
    cron: '7,27,47 * * * *',
    run: ctx => remindExpiries(ctx)
  })
]
