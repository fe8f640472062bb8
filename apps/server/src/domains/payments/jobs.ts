import { job, type Job } from '../../infra/job.ts'
import { compareFigures } from './figures.ts'
import { compareFiguresQueue, readOrderQueue, reconcileQueue } from './queues.ts'
import { askForUnread, readOrder } from './read-order.ts'
import { reconcilePayments } from './reconcile.ts'

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
    async run(ctx) {
      await askForUnread(ctx)
      await reconcilePayments(ctx)
    }
  }),
  job(readOrderQueue, {
    purpose:
      'Asks the platform what became of a refund or dispute that it told of; a payment that was held is judged again.',
    run: readOrder
  })
]
