import type { Shop } from '../../platform/shop.ts'
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
export async function deliveryJobs(shop: Shop): Promise<void> {
  const { jobs } = shop
  await jobs.work(
    convergeQueue,
    ({ serverId }) => convergeServer(shop, serverId, (tx, ids) => advance(tx, shop, ids)),
    {
      concurrency: 4
    }
  )
  await jobs.work(orderTaskQueue, data => runTask(shop, data), { concurrency: 2 })
  await jobs.work(checkTaskQueue, data => runTask(shop, data), { concurrency: 2 })
  await jobs.work(timeOutQueue, async () => void (await timeOutOrders(shop)))
  await jobs.work(expireQueue, async () => void (await expireOrders(shop)))
  await jobs.work(sweepQueue, () => sweep(shop))
  for (const queue of [timeOutQueue, expireQueue, sweepQueue]) await jobs.schedule(queue, '* * * * *')
  await sweep(shop)
}
