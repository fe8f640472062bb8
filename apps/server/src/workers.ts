import { accountJobs, accountQueues } from './domains/accounts/index.ts'
import { applyProductUpdate, withdrawProduct } from './domains/catalog/index.ts'
import { commerceJobs, type EventHandlers } from './domains/commerce/index.ts'
import { advance, deliveryJobs, type DeliveryPorts } from './domains/delivery/index.ts'
import { convergeQueue, convergeServer, fleetJobs, fleetQueues, type OnConfirmed } from './domains/fleet/index.ts'
import { inventoryJobs, inventoryQueues } from './domains/inventory/index.ts'
import { mailJobs, mailQueues } from './domains/mail/index.ts'
import { orderJobs } from './domains/orders/index.ts'
import { acceptPayment, paymentJobs, settlePayment } from './domains/payments/index.ts'
import { rewardsJobs, rewardsQueues } from './domains/rewards/index.ts'
import { job, startJobs, type Job, type JobQueue } from './infra/jobs.ts'
import type { AppContext } from './infra/context.ts'
import { withUnit } from './infra/legacy-unit.ts'

/** What the domains do with the platform's events. */
export const eventHandlers: EventHandlers = {
  'orders/paid': settlePayment,
  'products/update': applyProductUpdate,
  'products/delete': withdrawProduct
}

export const deliveryPorts: DeliveryPorts = { acceptPayment }

/** Bridge until the fleet takes `confirmOutcomes`: it has locked the orders and written its users by then. */
export const onConfirmed =
  (ctx: AppContext): OnConfirmed =>
  (tx, orderIds) =>
    withUnit(tx, ctx.jobs, unit => advance(unit, orderIds))

/** Every kind of background work, each declared by the domain that does it. */
const allJobs: Job[] = [
  ...commerceJobs(eventHandlers),
  ...orderJobs,
  job(convergeQueue, {
    purpose: 'Lets the agent of one server follow what is wanted of it; its orders advance with what it confirms.',
    concurrency: 4,
    run: (ctx, { serverId }) => convergeServer(ctx, serverId, onConfirmed(ctx))
  }),
  ...deliveryJobs(deliveryPorts),
  ...paymentJobs
]

/** Every queue of the shop: each process may send to all of them. */
export const allQueues: JobQueue<object>[] = [
  ...mailQueues,
  ...accountQueues,
  ...inventoryQueues,
  ...fleetQueues,
  ...rewardsQueues,
  ...allJobs.map(({ queue }) => queue)
]

/** Lets this process work on all of them. */
export async function startWorkers(ctx: AppContext): Promise<void> {
  const starts = [mailJobs, accountJobs, inventoryJobs, fleetJobs, rewardsJobs]
  for (const start of starts) await start(ctx)
  await startJobs(ctx, allJobs)
}
