import { routes } from '@netlet/contract'
import type { Mount } from '../../infra/http/mount.ts'
import type { AppContext } from '../../infra/context.ts'
import { mountList } from '../../infra/list/index.ts'
import { orderTimeline } from './order-timeline.ts'
import { orderPaymentList, userPaymentList } from './payments.ts'
import { receiptsOf } from './receipts.ts'

/**
 * Payments as customers and administrators read them: receipts, payments of an order or a user, an order's timeline,
 * an account's export, and whether the books agree. It owns no table and writes nothing.
 */
export { compareFigures, statementJobs, wrongBooks } from './books-check.ts'
export { exportPayments } from './payments.ts'

export function statementRoutes(mount: Mount, ctx: AppContext): void {
  const { payments, orders } = routes
  mount(orders.receipts, ({ params, caller }) => receiptsOf(ctx.db, params.id, caller.id))
  mount(orders.timeline, ({ params, query }) => orderTimeline(ctx.db, params.id, query))
  mountList(mount, ctx, payments.ofUser, ({ params }) => userPaymentList(params.id))
  mountList(mount, ctx, payments.ofOrder, ({ params }) => orderPaymentList(params.id, ctx))
}
