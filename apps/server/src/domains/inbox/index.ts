/**
 * What of the platform's events about money waits for an administrator: the list, what each decision would do, and the decisions. It
 * owns no table: events are those of `commerce`, and what a decision does is done by `payments`.
 */
export { countUnresolvedEvents, hasOpenMoney, isUnresolved } from './inbox.ts'
export { paymentFinders } from './notice-finders.ts'
export { inboxRoutes } from './routes.ts'
