import { catalogJobs, catalogQueues } from './domains/catalog/index.ts'
import { deliveryJobs, deliveryQueues } from './domains/delivery/index.ts'
import { mailJobs, sendMailQueue } from './domains/mail/index.ts'
import { paymentJobs, paymentQueues } from './domains/payments/index.ts'
import type { JobQueue } from './platform/jobs.ts'
import type { Shop } from './platform/shop.ts'

/** Every queue of the shop: each process may send to all of them. */
export const allQueues: JobQueue<object>[] = [sendMailQueue, ...catalogQueues, ...deliveryQueues, ...paymentQueues]

/** Lets this process work on all of them. */
export async function startWorkers(shop: Shop): Promise<void> {
  await mailJobs(shop)
  await catalogJobs(shop)
  await deliveryJobs(shop)
  await paymentJobs(shop)
}
