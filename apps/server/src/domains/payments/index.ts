/**
 * What the platform's payments do to orders: settling purchases and renewals, refunds, the inbox of what could not simply
 * be delivered, checkout links for renewals, and looking for what no webhook told of. It owns `payments` and
 * `payment_refunds`; orders, deliveries and points change through the commands of their own domains. Only the
 * first screen (`home`) and the composition of the app and its workers import it.
 */
export { countUnresolvedEvents, hasOpenMoney, isUnresolved } from './inbox.ts'
export { acceptByHand } from './apply-by-hand.ts'
export { exportPayments } from './export-payments.ts'
export { holdsMoneyOf, paidBy } from './held-money.ts'
export { paymentJobs } from './jobs.ts'
export { paymentRetention } from './retention.ts'
export { paymentRoutes } from './routes.ts'
export { changeRefund, doubtRefund } from './changed-refunds.ts'
export { disputePayment } from './disputes.ts'
export { deliveryHeld, mayDeliver } from './refusals.ts'
export { cancelPayment, refundPayment } from './give-back.ts'
export { settlePayment } from './settle.ts'
export { paymentFinders } from './notice-finders.ts'
export { ordersPaidBy } from './figures.ts'
