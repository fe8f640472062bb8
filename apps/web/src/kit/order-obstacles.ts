import type { Order } from '@netlet/contract'
import en from '../i18n/account.en.json'
import type { Key } from '../i18n/account.ts'
import type { Translate, Values } from '../i18n/words.ts'

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

/**
 * The key of why an order or its task failed; undefined for codes of newer servers. Operators receive parameters that
 * customers do not, such as the server's name, and these select the fuller sentence.
 */
export const failureKey = (code: string, params: Values): Key | undefined =>
  [`failed.${code}.named`, `failed.${code}`].find((key): key is Key => key in en && hasAll(en[key as Key], params))

const hasAll = (sentence: string, params: Values): boolean =>
  [...sentence.matchAll(/\{(\w+)\}/g)].every(([, name]) => name !== undefined && name in params)

/** What is wrong with an order, else why its last task failed. English if there is no translation. */
export function orderFailure(t: Translate<typeof en>, order: Order): string | null {
  const failure = order.fail ?? order.task_fail
  if (!failure) return null
  const key = failureKey(failure.code, failure.params)
  return key ? t(key, failure.params) : (order.fail_reason ?? order.task_error)
}
