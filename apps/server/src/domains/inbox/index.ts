/**
 * Lists the platform's money events that wait for an administrator, shows what each decision would do, and applies it.
 * It owns no table: `commerce` owns the events, and `payments` writes what a decision does.
 */
export { countUnresolvedEvents, hasOpenMoney, isUnresolved } from './inbox.ts'
export { paymentFinders } from './notice-finders.ts'
export { inboxRoutes } from './routes.ts'
export { settleReport } from './settle-report.ts'
