import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import type { AppContext } from '../../infra/context.ts'
import { receivePlatformEvent } from '../catalog/index.ts'
import { deliveredQueue } from '../delivery/index.ts'
import { announceDelivery, remindExpiries, resettle, tagPlatformOrder } from './after-delivery.ts'
import { reconcileQueue, remindQueue, resettleQueue, settleQueue, tagQueue } from './queues.ts'
import { reconcilePayments } from './reconcile.ts'
import { renewCheckout } from './renew-checkout.ts'
import { settlePayment } from './settle.ts'

export { settlePayment } from './settle.ts'
export const paymentQueues = [settleQueue, tagQueue, resettleQueue, reconcileQueue, remindQueue]

export function paymentRoutes(mount: Mount, ctx: AppContext): void {
  mount(routes.orders.payWebhook, ({ request }) =>
    receivePlatformEvent(ctx, request, { topic: 'orders/paid', queue: settleQueue })
  )
  mount(routes.orders.renew, ({ params, caller }) =>
    renewCheckout(ctx, params.id, caller.isSuperuser ? null : caller.id)
  )
}

/** Works on payments in this process. */
export async function paymentJobs(ctx: AppContext): Promise<void> {
  const { jobs } = ctx
  await jobs.work(settleQueue, ({ eventId }) => settlePayment(ctx, eventId), { concurrency: 4 })
  await jobs.work(tagQueue, data => tagPlatformOrder(ctx, data))
  await jobs.work(deliveredQueue, ({ orderId }) => announceDelivery(ctx, orderId))
  await jobs.work(resettleQueue, () => resettle(ctx))
  await jobs.work(remindQueue, async () => void (await remindExpiries(ctx)))
  await jobs.work(reconcileQueue, async () => void (await reconcilePayments(ctx)))
  await jobs.schedule(reconcileQueue, '*/5 * * * *')
  await jobs.schedule(resettleQueue, '* * * * *')
  await jobs.schedule(remindQueue, '7 * * * *')
  await resettle(ctx)
}
