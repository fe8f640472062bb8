/** Why a paid order has a problem, as sentences for `fillIn`. */
export const ORDER_FAILURES = {
  /** The addresses were gone when the payment arrived. */
  out_of_stock: 'Out of stock: the addresses were gone when the payment arrived',
  underpaid: 'Underpaid: {paid} of {due}',
  agent_refused: 'A server refused the proxies: {message}',
  /** The platform order lacks lines that this order needs. */
  lines_missing: 'Payment does not cover the order: {missing}',
  /** Paid after its reservation, when the product was no longer on sale. */
  purchase_not_sold: 'Payment arrived late; no longer sold: {what}',
  wrong_currency: 'Paid in {currency}, not in {expected}',
  test_payment: 'Test payment: no money was charged',
  /** The platform's order was cancelled without a refund. */
  cancelled: 'Cancelled on the platform, but not refunded',
  server_unreachable: 'Server {server} is not responding; {count} {count|address is|addresses are} waiting for it',
  addresses_lost: '{count} {count|address no longer belongs|addresses no longer belong} to any server'
} as const
export type OrderFailure = keyof typeof ORDER_FAILURES

/** Why the last task of an order failed. */
export const TASK_FAILURES = {
  out_of_stock: 'Out of stock',
  agent_refused: 'A server refused the proxies: {message}'
} as const
export type TaskFailure = keyof typeof TASK_FAILURES

/** Sentences for customers, if the others name servers or quote them. */
export const CUSTOMER_FAILURES = {
  agent_refused: 'A server refused the proxies',
  server_unreachable: 'A server is not responding; {count} {count|address is|addresses are} waiting for it'
} as const satisfies Partial<Record<OrderFailure | TaskFailure, string>>

/** Why money of an order came, went back or settled nothing, in its history. */
export const MONEY_REASONS = [
  'refund',
  'chargeback',
  'dispute_won',
  'refund_failed',
  'paid_more',
  'renewal_not_sold',
  'renewal_too_late'
] as const
export type MoneyReason = (typeof MONEY_REASONS)[number]

/** The events in an order's history. */
export const ORDER_EVENTS = [
  'placed',
  'pay',
  'time_out',
  'cancel',
  'fail',
  'start_delivery',
  'deliver_part',
  /** An agent refused the order's addresses. Repeated only if its message changes. */
  'delivery_refused',
  /** Addresses wait for a server that does not answer, or to be replaced. */
  'delivery_waits',
  /** The obstacle to the delivery is gone. */
  'delivery_resumed',
  'deliver_all',
  'expire',
  'revive',
  'reopen',
  'refund',
  'restore',
  'await_payment',
  'leased',
  'reservation_ended',
  'paid_again',
  'payment_held',
  'payment_applied',
  'payment_ignored',
  'payment_refunded',
  'payment_restored',
  'refund_requested',
  'renewed',
  'grace_ended',
  'partly_refunded',
  'moved',
  'credited',
  'expiry_set',
  'task_requested',
  'task_begun',
  'task_done',
  'task_failed',
  'deleted'
] as const
export type OrderEventKind = (typeof ORDER_EVENTS)[number]
