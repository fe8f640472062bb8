/**
 * Asks the platform for what no webhook reported: payments, refunds, cancellations, edits, and refunds that changed or
 * failed. It owns no table: `commerce` stores what it finds as an event, which is handled like a webhook.
 */
export { changeRefund, doubtRefund } from './changed-refunds.ts'
export { reconciliationJobs } from './jobs.ts'
export { holdCreated } from './pending-payments.ts'
export { readTransaction } from './read-order.ts'
