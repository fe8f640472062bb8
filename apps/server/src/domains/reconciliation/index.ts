/**
 * Looks on the platform for what no webhook told: payments, refunds, cancellations, edits, and refunds that became another amount or
 * failed. It owns no table: what it finds is stored as an event of `commerce`, and handled like one that the platform told.
 */
export { reconciliationJobs } from './jobs.ts'
