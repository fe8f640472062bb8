import type { Unit } from '../../infra/command.ts'
import { job, type Job } from '../../infra/job.ts'
import { queue } from '../../infra/jobs.ts'
import { compareFigures } from './figures.ts'

/** No retry: the reconciliation queues an unread order again every five minutes. */
export const readOrderQueue = queue<{ platformOrderId: string }>('read-platform-order', {
  retryLimit: 0,
  deleteAfterSeconds: 3600
})

/** Queues a read of the platform's order. Repeated calls before it runs queue it once. */
export const queueOrderRead = (unit: Unit, platformOrderId: string): void =>
  unit.jobs.send(readOrderQueue, { platformOrderId }, { key: platformOrderId })

export const paymentJobs: Job[] = [
  job(queue<object>('compare-order-figures', { expireInSeconds: 600, deleteAfterSeconds: 86_400 }), {
    purpose: 'Recounts order figures, and logs where the stored ones differ.',
    cron: '41 3 * * *',
    run: async ctx => {
      const days = await compareFigures(ctx.db)
      if (days.length > 0) ctx.log.error({ days: days.slice(0, 31) }, 'figures of orders differ from the orders')
    }
  })
]
