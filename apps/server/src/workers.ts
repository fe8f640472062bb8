import { accountJobs, accountQueues } from './domains/accounts/index.ts'
import { catalogJobs, catalogQueues } from './domains/catalog/index.ts'
import { checkJobs, checkQueues, confirmPort, deliveryJobs, deliveryQueues } from './domains/delivery/index.ts'
import { fleetJobs } from './domains/fleet/index.ts'
import { inventoryJobs } from './domains/inventory/index.ts'
import { mailJobs, mailQueues } from './domains/mail/index.ts'
import { paymentJobs, paymentQueues } from './domains/payments/index.ts'
import { rewardsJobs, rewardsQueues } from './domains/rewards/index.ts'
import { startJobs, type Job, type JobQueue } from './infra/jobs.ts'
import type { AppContext } from './infra/context.ts'

const declared: Job[] = [...inventoryJobs, ...fleetJobs({ confirm: confirmPort })]

/** Every queue of the shop: each process may send to all of them. */
export const allQueues: JobQueue<object>[] = [
  ...mailQueues,
  ...accountQueues,
  ...catalogQueues,
  ...declared.map(job => job.queue),
  ...deliveryQueues,
  ...checkQueues,
  ...paymentQueues,
  ...rewardsQueues
]

/** Lets this process work on all of them. */
export async function startWorkers(ctx: AppContext): Promise<void> {
  await startJobs(ctx, declared)
  const starts = [mailJobs, accountJobs, catalogJobs, deliveryJobs, checkJobs, paymentJobs, rewardsJobs]
  for (const start of starts) await start(ctx)
}
