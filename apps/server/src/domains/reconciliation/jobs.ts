import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { readOrderQueue } from '../payments/index.ts'
import { queueUnreadOrders, readOrder } from './read-order.ts'
import { reconcileDisputes } from './missed-disputes.ts'
import { recover, recoverQueue } from './recover.ts'
import { reconcilePayments } from './reconcile.ts'

export const reconciliationJobs: Job[] = [
  job(queue<object>('reconcile-payments', { retryLimit: 0, deleteAfterSeconds: 3600 }), {
    purpose:
      'Reads payments, refunds, disputes and cancellations from the platform, and records those that no webhook reported.',
    cron: '*/5 * * * *',
    async run(ctx) {
      await queueUnreadOrders(ctx)
      await reconcilePayments(ctx)
    }
  }),
  job(recoverQueue, {
    purpose: 'After a restore from a backup: finds what was paid since, and then lets the shop sell and change again.',
    cron: '* * * * *',
    atStart: true,
    run: recover
  }),
  job(queue<object>('reconcile-disputes', { retryLimit: 0, deleteAfterSeconds: 3600 }), {
    purpose: 'Reads disputes from the platform, and records those that no webhook reported.',
    cron: '23 * * * *',
    run: async ctx => void (await reconcileDisputes(ctx))
  }),
  job(readOrderQueue, {
    purpose: 'Reads the result of a reported refund or dispute from the platform, and reassesses held payments.',
    run: readOrder
  })
]
