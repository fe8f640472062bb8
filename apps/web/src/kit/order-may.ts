import type { Order } from '@netlet/contract'

/** What the server would refuse is not offered. It decides, by the same rules, with the order as it is then. */

const isOn = (order: Order): boolean => order.pay_status === 1 && order.state !== 'refunded' && !order.is_expired

/** Are there proxies to be copied, exported and checked? */
export const hasProxies = (order: Order): boolean => isOn(order) && order.delivery_num > 0

/** May this piece of work be asked for? One that runs is waited for. */
export function mayAsk(order: Order, task: NonNullable<Order['task']>): boolean {
  if (!isOn(order) || order.task !== null) return false
  if (task === 'deliver') return true
  const underway = order.state === 'delivering' || order.state === 'partly_delivered'
  return order.delivery_num > 0 && (task === 'check' || !underway)
}

/** May its end be moved? */
export const mayExtend = ({ pay_status, state, expired_at }: Order): boolean =>
  pay_status === 1 && ['delivering', 'partly_delivered', 'delivered'].includes(state) && expired_at !== null
