import { job, type Job } from '../../infra/job.ts'
import { compareFigures } from './figures.ts'
import { compareFiguresQueue, readForeignRefundsQueue, reconcileQueue } from './queues.ts'
import { askForAllRefunds, readForeignRefunds } from './read-foreign-refunds.ts'
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
      await askForAllRefunds(ctx)
      await reconcilePayments(ctx)
    }
  }),
  job(readForeignRefundsQueue, {
    purpose:
      "Asks the platform what became of a refund that it told, and how much one in the buyer's currency was in the shop's; then a payment that was held goes on.",
    run: readForeignRefunds
  })
]
