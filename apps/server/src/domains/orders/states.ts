import type { OrderState } from '@netlet/contract'

/**
 * The states of an order and its transitions. Code changes a state only through `transition`. docs/ORDERS.md draws this
 * table.
 */
export const TRANSITIONS = {
  /** The platform reported the payment. */
  pay: { from: ['placed', 'timed_out', 'cancelled'], to: 'paid' },
  /** The reservation ended without a payment. */
  time_out: { from: ['placed'], to: 'timed_out' },
  /** The customer cancelled it before paying. */
  cancel: { from: ['placed'], to: 'cancelled' },
  /**
   * Paid, but not deliverable: lines are missing, wrong currency, a test payment, or no addresses. From 'refunded': the
   * money of such a payment came back after a dispute.
   */
  fail: { from: ['paid', 'refunded'], to: 'failed' },
  /** The whole of a payment that never counted was refunded. The order can be paid again while it is reserved. */
  await_payment: { from: ['failed'], to: 'placed' },
  /** Addresses are leased and the agents get them. */
  start_delivery: { from: ['paid', 'failed'], to: 'delivering' },
  deliver_part: { from: ['delivering'], to: 'partly_delivered' },
  deliver_all: { from: ['delivering', 'partly_delivered'], to: 'delivered' },
  /** Its time is over. Before its first delivery an order has no expiry, unless it was renewed in its grace. */
  expire: { from: ['delivering', 'partly_delivered', 'delivered'], to: 'expired' },
  /** Renewed in its grace: its held addresses are served again. */
  revive: { from: ['expired'], to: 'delivering' },
  /** It ended undelivered, or with paid time left, and an administrator delivers it. */
  reopen: { from: ['expired'], to: 'delivering' },
  /** The platform refunded all of the money. */
  refund: { from: ['paid', 'failed', 'delivering', 'partly_delivered', 'delivered', 'expired'], to: 'refunded' },
  /** Money came back, or more was paid. The lease has ended; an administrator may reopen it. */
  restore: { from: ['refunded'], to: 'expired' }
} as const satisfies Record<string, { from: readonly OrderState[]; to: OrderState }>

export type OrderEvent = keyof typeof TRANSITIONS

/** The state after `event`; null if the event is not allowed in `state`. */
export function next(state: OrderState, event: OrderEvent): OrderState | null {
  const { from, to } = TRANSITIONS[event]
  return (from as readonly OrderState[]).includes(state) ? to : null
}

/**
 * States in which an order may have an expiry. "Timed" means that its time may run, "served" that agents serve its
 * addresses or are about to. Both have the same states today, but not by necessity.
 */
export const TIMED_STATES = TRANSITIONS.expire.from

export const isTimed = (state: OrderState): boolean => (TIMED_STATES as readonly OrderState[]).includes(state)

export { isServed, SERVED_STATES } from '@netlet/contract/states'
