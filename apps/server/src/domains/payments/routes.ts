import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import type { AppContext } from '../../infra/context.ts'
import { refundOnPlatform } from './ask-refund.ts'
import { showRefund } from './refund-plan.ts'

export function paymentRoutes(mount: Mount, ctx: AppContext): void {
  const { payments, orders } = routes
  mount(orders.refundPlan, ({ params, query: { platform_order: named, amount } }) =>
    showRefund(ctx, { orderId: params.id, named }, { amount })
  )
  mount(orders.refund, ({ params, caller, body: { platform_order: named, ...form } }) =>
    refundOnPlatform(ctx, caller, { orderId: params.id, named }, form)
  )
  mount(payments.refundPlan, ({ params, query }) => showRefund(ctx, { eventId: params.id }, query))
  mount(payments.refund, ({ params, caller, body }) => refundOnPlatform(ctx, caller, { eventId: params.id }, body))
}
