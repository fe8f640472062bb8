import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import type { AppContext } from '../../infra/context.ts'
import { mountList } from '../../infra/list/index.ts'
import { userPaymentList } from './list-payments.ts'
import { findEntryDetail, inboxList } from './inbox.ts'
import { orderPaymentList } from './order-payments.ts'
import { orderTimeline } from './order-timeline.ts'
import { refundOnPlatform } from './ask-refund.ts'
import { planRefund } from './refund-plan.ts'
import { receiptsOf } from './receipts.ts'
import { renewCheckout, renewCheckouts } from './renew-checkout.ts'
import { openSaleCheck } from './sale-check.ts'
import { applyPayment, ignorePayment, markRefunded, planDecision } from './resolve.ts'

export function paymentRoutes(mount: Mount, ctx: AppContext): void {
  const { payments, orders } = routes
  const saleCheck = openSaleCheck(ctx.now)
  mount(orders.renew, ({ params, caller }) => renewCheckout(ctx, params.id, caller, saleCheck))
  mount(orders.renewMany, ({ body, caller }) => renewCheckouts(ctx, body.order_ids, caller, saleCheck))
  mount(orders.receipts, ({ params, caller }) => receiptsOf(ctx.db, params.id, caller.id))
  const reading = () => ({ tx: ctx.db, now: ctx.now(), secrets: ctx.secrets })
  mount(orders.refundPlan, ({ params, query: { platform_order: named, amount } }) =>
    planRefund(reading(), { orderId: params.id, named }, { amount })
  )
  mount(orders.refund, ({ params, caller, body: { platform_order: named, ...form } }) =>
    refundOnPlatform(ctx, caller, { orderId: params.id, named }, form)
  )
  mount(payments.refundPlan, ({ params, query }) => planRefund(reading(), { eventId: params.id }, query))
  mount(payments.refund, ({ params, caller, body }) => refundOnPlatform(ctx, caller, { eventId: params.id }, body))
  mountList(mount, ctx, payments.inbox, () => inboxList({ now: ctx.now() }))
  mount(payments.inboxEntry, ({ params }) => findEntryDetail(ctx.db, params.id))
  mountList(mount, ctx, payments.ofUser, ({ params }) => userPaymentList(params.id))
  mountList(mount, ctx, payments.ofOrder, ({ params }) => orderPaymentList(params.id, ctx))
  mount(orders.timeline, ({ params, query }) => orderTimeline(ctx.db, params.id, query))
  mount(payments.plan, ({ params, caller, query }) => planDecision(ctx, caller, params.id, query))
  mount(payments.apply, ({ params, caller, body }) => applyPayment(ctx, caller, params.id, body))
  mount(payments.markRefunded, ({ params, caller, body }) => markRefunded(ctx, caller, params.id, body))
  mount(payments.ignore, ({ params, caller, body }) => ignorePayment(ctx, caller, params.id, body))
}
