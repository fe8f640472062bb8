/**
 * Applies the platform's payments, refunds and disputes to orders. It owns `payments` and `payment_refunds`, and
 * changes orders, deliveries and points through the commands of their domains. The inbox, the statements and the
 * reconciliation are domains of their own above it.
 */
export { acceptDelivered, applyToNamedOrder } from './settle-by-administrator.ts'
export { applyReturn, atOwnInstant } from './apply-return.ts'
export { disputePayment, stageOf } from './disputes.ts'
export { cancelPayment, recordRefund, paymentAndOrderOf, type Refunding, refundPayment } from './refund-payment.ts'
export { holdsUnsettledMoney, ordersPaidBy, paidBy } from './figures.ts'
export { queueOrderRead, readOrderQueue } from './jobs.ts'
export { compareLines, downToCents, lineOf, linesOf, missing, titleOf } from './paid-order.ts'
export {
  addRefund,
  convertRefunds,
  counted,
  hasNoResult,
  isMarked,
  MOST_PENDING,
  keyAfter,
  toPaymentCurrency,
  isListed,
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
export { paymentRetention } from './retention.ts'
export { paymentRoutes } from './routes.ts'
export { isPaidRenewal, markIgnored, paymentOf, rateOf, recordPayment, type PaymentRow } from './rows.ts'
export { settlePayment } from './settle.ts'
export { ENDED_BY_DELIVERY, paymentAllows, paymentStateOf } from './states.ts'
export { tagOutcome } from './mails-and-tags.ts'
