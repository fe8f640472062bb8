import { accountJobs, accountQueues } from './domains/accounts/index.ts'
import { catalogJobs, catalogQueues } from './domains/catalog/index.ts'
import { checkJobs, checkQueues, deliveryJobs, deliveryQueues } from './domains/delivery/index.ts'
import { fleetJobs, fleetQueues } from './domains/fleet/index.ts'
import { inventoryJobs, inventoryQueues } from './domains/inventory/index.ts'
import { mailJobs, mailQueues } from './domains/mail/index.ts'
import { paymentJobs, paymentQueues } from './domains/payments/index.ts'
import { rewardsJobs, rewardsQueues } from './domains/rewards/index.ts'
import { figureJobs } from './domains/orders/index.ts'
import { startJobs, type JobQueue } from './infra/jobs.ts'
import type { AppContext } from './infra/context.ts'

/** Every queue of the shop: each process may send to all of them. */
export const allQueues: JobQueue<object>[] = [
  ...mailQueues,
  ...accountQueues,
  ...catalogQueues,
  ...inventoryQueues,
  ...fleetQueues,
  ...deliveryQueues,
  ...checkQueues,
  ...paymentQueues,
  ...rewardsQueues,
  ...figureJobs.map(({ queue }) => queue)
]

/** Lets this process work on all of them. */
export async function startWorkers(ctx: AppContext): Promise<void> {
  const starts = [
    mailJobs,
    accountJobs,
    catalogJobs,
    inventoryJobs,
    fleetJobs,
    deliveryJobs,
    checkJobs,
    paymentJobs,
    rewardsJobs
  ]
  for (const start of starts) await start(ctx)
  await startJobs(ctx, figureJobs)
}
