import type { Order } from '@netlet/contract'
import type { Obstacle } from '../../kit/order-obstacles.ts'

/** The console's words for why an action is unavailable. */
export const obstacle = <H extends Obstacle>(why: H | undefined) => why && (`whyNot.order.${why}` as const)

/** Addresses can be moved while the order's time runs or its delivery is pending. */
export function whyNotMove(order: Order) {
  if (order.pay_status !== 1) return obstacle('notPaid')
  if (order.state === 'refunded') return obstacle('refunded')
  if (order.is_expired || order.state === 'expired') return obstacle('over')
  return order.state === 'failed' ? ('whyNot.order.failed' as const) : undefined
}
