/**
 * Payments as customers and administrators read them: receipts, payments of an order or a user, an order's timeline,
 * an account's export, and whether the books agree. It owns no table and writes nothing.
 */
export { compareFigures, statementJobs, wrongBooks } from './books-check.ts'
export { exportPayments } from './payments.ts'
export { statementRoutes } from './routes.ts'
