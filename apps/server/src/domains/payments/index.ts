import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import type { AppContext } from '../../infra/context.ts'
import { refundOnPlatform } from './ask-refund.ts'
import { showRefund } from './refund-plan.ts'

/**
 * Applies the platform's payments, refunds and disputes to orders. It owns `payments` and `payment_refunds`, and
 * changes orders, deliveries and points through the commands of their domains. The inbox, the statements and the
 * reconciliation are domains of their own above it.
 */
export { acceptDelivered, applyToNamedOrder } from './settle-by-administrator.ts'
export { applyReturn, atOwnInstant } from './apply-return.ts'
export { disputePayment, stageOf } from './disputes.ts'
export { cancelPayment, recordRefund, paymentAndOrderOf, type Refunding, recordRefundReport } from './refund-reports.ts'
export { enqueueOrderRead, readOrderQueue } from './queues.ts'
export { compareLines, downToCents, linesOf, missing, quantityOf, titleOf, variantsAdded } from './paid-order.ts'
export {
  ROUNDING_CENTS,
  addRefund,
  convertRefunds,
  counted,
  hasNoResult,
  isMarked,
  PENDING_MS,
  keyAfter,
  toPaymentCurrency,
  isPlatformRefund,
  isUnconverted,
  moveRefund,
  pendingKey,
  recordRead,
  setAwaitsRead,
  refundIdOf,
  refundRowsOf,
  rowsOf,
  setRefundAmount,
  sumRefunds,
  totalOf,
  type RefundRow,
  type ReportedMoney
} from './refund-rows.ts'
export { deliveryRefusalSql, deliveryRefusal, refusedByRefund } from './refusals.ts'
export { holdsUnsettledMoney, isPaidRenewal, markIgnored, ordersPaidBy, paidBy, paymentOf } from './rows.ts'
export { rateOf, recordPayment, type PaymentRow } from './rows.ts'
export { settlePayment } from './settle.ts'
export { ENDED_BY_DELIVERY, paymentAllows, paymentStateOf } from './states.ts'
export { tagOutcome } from './mails-and-tags.ts'

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
