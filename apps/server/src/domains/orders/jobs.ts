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
    purpose: 'Adds what changed in the figures of orders to the days they belong to.',
    cron: '* * * * *',
    run: ctx => foldFigures(ctx)
  }),
  job(timeOutQueue, {
    purpose: 'Gives the addresses back of orders that nobody paid, or not in full, in time.',
    cron: '* * * * *',
    run: ctx => timeOutOrders(ctx)
  }),
  job(remindQueue, {
    purpose: 'Mails customers before their order expires: some days before, and on the last day.',
    cron: '7,27,47 * * * *',
    run: ctx => remindExpiries(ctx)
  })
]
