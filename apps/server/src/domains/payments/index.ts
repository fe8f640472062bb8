/**
 * What the platform's payments do to orders: settling purchases and renewals, refunds, the inbox of what could not simply
 * be delivered, checkout links for renewals, and looking for what no webhook told of. It owns `payments` and
 * `payment_refunds`; orders, deliveries and points change through the commands of their own domains. It is at the top:
 * nothing imports it but the composition of the app and its workers.
 */
export { countOpenEvents, isOpen } from './inbox.ts'
export { acceptByHand } from './accept.ts'
export { exportPayments } from './export-payments.ts'
export { holdsMoneyOf } from './held-money.ts'
export { paymentJobs } from './jobs.ts'
export { paymentRetention } from './retention.ts'
export { paymentRoutes } from './routes.ts'
export { disputePayment } from './disputes.ts'
export { mayDeliver } from './refund-underway.ts'
export { cancelPayment, refundPayment } from './refunds.ts'
export { settlePayment } from './settle.ts'
export { ordersPaidBy } from './figures.ts'
