import { accountJobs } from './domains/accounts/index.ts'
import { catalogJobs, catalogQueues } from './domains/catalog/index.ts'
import { checkJobs, checkQueues, deliveryJobs, deliveryQueues } from './domains/delivery/index.ts'
import { fleetJobs, fleetQueues } from './domains/fleet/index.ts'
import { inventoryJobs, inventoryQueues } from './domains/inventory/index.ts'
import { mailJobs } from './domains/mail/index.ts'
import { paymentJobs, paymentQueues } from './domains/payments/index.ts'
import { rewardsJobs } from './domains/rewards/index.ts'
import { startJobs, type Job, type JobQueue } from './infra/jobs.ts'
import type { AppContext } from './infra/context.ts'

const jobs: Job[] = [...mailJobs, ...accountJobs, ...rewardsJobs]

/** Every queue of the shop: each process may send to all of them. */
export const allQueues: JobQueue<object>[] = [
  ...jobs.map(job => job.queue),
  ...catalogQueues,
  ...inventoryQueues,
  ...fleetQueues,
  ...deliveryQueues,
  ...checkQueues,
  ...paymentQueues
]

/** Lets this process work on all of them. */
export async function startWorkers(ctx: AppContext): Promise<void> {
  const starts = [catalogJobs, inventoryJobs, fleetJobs, deliveryJobs, checkJobs, paymentJobs]
  await startJobs(ctx, jobs)
  for (const start of starts) await start(ctx)
}
