import { job, type Job } from '../../infra/job.ts'
import { renewDenyLists } from './desired/desired-users.ts'
import { renewOrderLimits } from './desired/order-limits.ts'
import { denyListsQueue, limitsQueue } from './queues.ts'

export const serverJobs: Job[] = [
  job(limitsQueue, {
    purpose: "Gives an order's limits to its agents, after a renewal or its refund changed them.",
    importance: 'urgent',
    run: (ctx, { orderId }) => renewOrderLimits(ctx, orderId)
  }),
  job(denyListsQueue, {
    purpose: 'Gives every agent its deny lists again, after an edit of the access rules.',
    run: renewDenyLists
  })
]
