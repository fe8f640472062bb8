import { job, type Job } from '../../infra/job.ts'
import { renewDenyLists } from './desired/desired-users.ts'
import { renewOrderLimits } from './desired/order-limits.ts'
import { denyListsQueue, limitsQueue } from './queues.ts'

export const serverJobs: Job[] = [
  job(limitsQueue, {
    purpose: "Sends an order's new limits to its agents after a renewal or a refund of one.",
    importance: 'urgent',
    run: (ctx, { orderId }) => renewOrderLimits(ctx, orderId)
  }),
  job(denyListsQueue, {
    purpose: 'Sends every agent its deny lists after a change to access rules.',
    run: renewDenyLists
  })
]
