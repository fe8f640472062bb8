import type { Order } from '@netlet/contract'

// Actions that the server would refuse are hidden. The server applies the same rules to the order's current state.

/** Why an action on an order is not possible; undefined if it is. */
export type Obstacle = 'notPaid' | 'refunded' | 'over' | 'busy' | 'underway' | 'noProxies' | 'notBegun'

function whyNotOn(order: Order): Obstacle | undefined {
  if (order.pay_status !== 1) return 'notPaid'
  if (order.state === 'refunded') return 'refunded'
  return order.is_expired ? 'over' : undefined
}

/** Are there proxies to copy, export and check? */
export const whyNoProxies = (order: Order): Obstacle | undefined =>
  whyNotOn(order) ?? (order.delivery_num > 0 ? undefined : 'noProxies')
export const hasProxies = (order: Order): boolean => whyNoProxies(order) === undefined

/** May this task be requested? Not while another one runs. */
export function whyNotAsk(order: Order, task: NonNullable<Order['task']>): Obstacle | undefined {
  const off = whyNotOn(order)
  if (off) return off
  if (order.task !== null) return 'busy'
  if (task === 'deliver') return undefined
  if (order.delivery_num === 0) return 'noProxies'
  const underway = order.state === 'delivering' || order.state === 'partly_delivered'
  return underway && task !== 'check' ? 'underway' : undefined
}

/** States in which the order's time runs. */
const TIMED: ReadonlySet<Order['state']> = new Set(['delivering', 'partly_delivered', 'delivered'])
export const isRunning = ({ state }: Order): boolean => TIMED.has(state)

/** May its end be moved? */
export function whyNotExtend(order: Order): Obstacle | undefined {
  const { pay_status, state, expired_at } = order
  if (pay_status !== 1) return 'notPaid'
  if (state === 'refunded') return 'refunded'
  if (state === 'expired') return 'over'
  return isRunning(order) && expired_at !== null ? undefined : 'notBegun'
}
