/**
 * Payments as customers and administrators read them: receipts, payments of an order or a user, an order's timeline,
 * and an account's export. It owns no table and writes nothing.
 */
export { exportPayments } from './payments.ts'
export { statementRoutes } from './routes.ts'
