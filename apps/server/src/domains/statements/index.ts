/**
 * Payments as customers and administrators read them: receipts, the payments of an order or a user, an order's timeline, and the
 * export of an account. It owns no table and changes nothing.
 */
export { exportPayments } from './payments.ts'
export { statementRoutes } from './routes.ts'
