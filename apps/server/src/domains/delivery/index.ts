import type { AppContext } from '../../infra/context.ts'
import { convergeQueue, convergeServer } from '../fleet/index.ts'
import { timeOutOrders, timeOutQueue } from '../orders/index.ts'
import { advance } from './advance.ts'
import { expireOrders } from './expire.ts'
import { checkTaskQueue, deliveredQueue, expireQueue, orderTaskQueue, sweepQueue } from './queues.ts'
import { sweep } from './sweep.ts'
import { runTask } from './tasks.ts'

export { checkJobs, checkQueues } from './checks/index.ts'
export { advance } from './advance.ts'
export { expireOrders } from './expire.ts'
export { deliveredQueue } from './queues.ts'
export { deliveryRoutes } from './routes.ts'
export { startDelivery } from './start.ts'
export { requestTaskIn } from './tasks.ts'

export const deliveryQueues = [
  convergeQueue,
  timeOutQueue,
  expireQueue,
  sweepQueue,
  orderTaskQueue,
  checkTaskQueue,
  deliveredQueue
]

/** Works on deliveries in this process, and takes up what others left behind. */
export async function deliveryJobs(ctx: AppContext): Promise<void> {
  const { jobs } = ctx
  await jobs.work(convergeQueue, ({ serverId }) => convergeServer(ctx, serverId, (tx, ids) => advance(tx, ctx, ids)), {
    concurrency: 4
  })
  await jobs.work(orderTaskQueue, data => runTask(ctx, data), { concurrency: 2 })
  await jobs.work(checkTaskQueue, data => runTask(ctx, data), { concurrency: 2 })
  await jobs.work(timeOutQueue, async () => void (await timeOutOrders(ctx)))
  await jobs.work(expireQueue, async () => void (await expireOrders(ctx)))
  await jobs.work(sweepQueue, () => sweep(ctx))
  for (const queue of [timeOutQueue, expireQueue, sweepQueue]) await jobs.schedule(queue, '* * * * *')
  await sweep(ctx)
}
