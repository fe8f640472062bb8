import type { OrderState } from '@netlet/contract'

/**
 * The life of an order: what may happen in which state, and which state follows. Code changes a state only through
 * `transition`, and docs/ORDERS.md draws this table.
 */
export const TRANSITIONS = {
  /** The platform reported the payment. */
  pay: { from: ['placed', 'timed_out', 'cancelled'], to: 'paid' },
  /** Nobody paid within the reservation. */
  time_out: { from: ['placed'], to: 'timed_out' },
  /** Its customer wants it no more, before paying. */
  cancel: { from: ['placed'], to: 'cancelled' },
  /**
   * Paid, but it cannot be delivered: its lines fall short, another currency, a test, or no addresses left. Again, where
   * the money of such a payment came back after a dispute.
   */
  fail: { from: ['paid', 'refunded'], to: 'failed' },
  /** All of a payment that never counted was given back: the order waits for another one, as long as it is reserved. */
  await_payment: { from: ['failed'], to: 'placed' },
  /** Addresses are leased and on their way to the agents. */
  start_delivery: { from: ['paid', 'failed'], to: 'delivering' },
  deliver_part: { from: ['delivering'], to: 'partly_delivered' },
  deliver_all: { from: ['delivering', 'partly_delivered'], to: 'delivered' },
  /**
   * Its time is over. The time of an order starts with its first delivery: before, it has no expiry. One that was
   * renewed in its grace has, also while it is on its way again.
   */
  expire: { from: ['delivering', 'partly_delivered', 'delivered'], to: 'expired' },
  /** It was renewed in its grace: the addresses that were held for it are served again. */
  revive: { from: ['expired'], to: 'delivering' },
  /** It ended undelivered, or with time left that is paid for: an administrator has it delivered after all. */
  reopen: { from: ['expired'], to: 'delivering' },
  /** The platform gave all of the money back. */
  refund: { from: ['paid', 'failed', 'delivering', 'partly_delivered', 'delivered', 'expired'], to: 'refunded' },
  /** The money came back, since a dispute was won. Its lease has ended: an administrator may reopen it. */
  restore: { from: ['refunded'], to: 'expired' }
} as const satisfies Record<string, { from: readonly OrderState[]; to: OrderState }>

export type OrderEvent = keyof typeof TRANSITIONS

/** Where `event` leads from `state`; null where it cannot happen there. */
export function next(state: OrderState, event: OrderEvent): OrderState | null {
  const { from, to } = TRANSITIONS[event]
  return (from as readonly OrderState[]).includes(state) ? to : null
}

/**
 * Two questions, one answer today: "timed" asks for the time (it may run, its end can be moved), "served" for the addresses
 * (agents serve them, or are to). They are kept apart since a state of one kind need not be of the other.
 *
 * States in which the order's time may run: where it has an expiry.
 */
export const TIMED_STATES = TRANSITIONS.expire.from

/** May its time run, so that its end can be moved? */
export const isTimed = (state: OrderState): boolean => (TIMED_STATES as readonly OrderState[]).includes(state)

export { isServed, SERVED_STATES } from '@netlet/contract/states'
