import { routes } from '@netlet/contract'
import type { Mount } from '../../platform/http/mount.ts'
import type { Shop } from '../../platform/shop.ts'
import { receivePlatformEvent } from '../catalog/index.ts'
import { deliveredQueue } from '../delivery/index.ts'
import { announceDelivery, remindExpiries, resettle, tagPlatformOrder } from './after-delivery.ts'
import { reconcileQueue, remindQueue, resettleQueue, settleQueue, tagQueue } from './queues.ts'
import { reconcilePayments } from './reconcile.ts'
import { renewCheckout } from './renew-checkout.ts'
import { settlePayment } from './settle.ts'

export { settlePayment } from './settle.ts'
export const paymentQueues = [settleQueue, tagQueue, resettleQueue, reconcileQueue, remindQueue]

export function paymentRoutes(mount: Mount, shop: Shop): void {
  mount(routes.orders.payWebhook, ({ request }) =>
    receivePlatformEvent(shop, request, { topic: 'orders/paid', queue: settleQueue })
  )
  mount(routes.orders.renew, ({ params, caller }) =>
    renewCheckout(shop, params.id, caller.isSuperuser ? null : caller.id)
  )
}

/** Works on payments in this process. */
export async function paymentJobs(shop: Shop): Promise<void> {
  const { jobs } = shop
  await jobs.work(settleQueue, ({ eventId }) => settlePayment(shop, eventId), { concurrency: 4 })
  await jobs.work(tagQueue, data => tagPlatformOrder(shop, data))
  await jobs.work(deliveredQueue, ({ orderId }) => announceDelivery(shop, orderId))
  await jobs.work(resettleQueue, () => resettle(shop))
  await jobs.work(remindQueue, async () => void (await remindExpiries(shop)))
  await jobs.work(reconcileQueue, async () => void (await reconcilePayments(shop)))
  await jobs.schedule(reconcileQueue, '*/5 * * * *')
  await jobs.schedule(resettleQueue, '* * * * *')
  await jobs.schedule(remindQueue, '7 * * * *')
  await resettle(shop)
}
