import type { Order } from '@netlet/contract'
import type { Hindrance } from '../../kit/order-may.ts'

/** The console's words of what is in the way. */
export const hindrance = <H extends Hindrance>(why: H | undefined) => why && (`whyNot.order.${why}` as const)

/** What the server moves: addresses of an order whose time runs, or that is still to be delivered. */
export function whyNotMove(order: Order) {
  if (order.pay_status !== 1) return hindrance('notPaid')
  if (order.state === 'refunded') return hindrance('refunded')
  if (order.is_expired || order.state === 'expired') return hindrance('over')
  return order.state === 'failed' ? ('whyNot.order.failed' as const) : undefined
}
