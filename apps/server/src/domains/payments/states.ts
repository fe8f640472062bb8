import type { PaymentState, RefundState } from '@netlet/contract'
import type { payments } from './tables.ts'

/** The life of a payment, which begins as held, accepted, or refunded. docs/ORDERS.md draws this table. */
export const PAYMENT_TRANSITIONS = {
  /** It settles its order: an administrator delivered in spite of what was missing, or applied it. */
  accept: { from: ['held', 'ignored'], to: 'accepted' },
  /** An administrator leaves it as it is, with a reason. */
  ignore: { from: ['held'], to: 'ignored' },
  /** All of it was given back. */
  refund: { from: ['held', 'ignored', 'accepted'], to: 'refunded' },
  /** It came back, since a dispute was won, and counts as before. */
  restore: { from: ['refunded'], to: 'accepted' },
  /** It came back, and had settled nothing. */
  hold: { from: ['refunded'], to: 'held' },
  /** It came back, and an administrator had ignored it: that stands. */
  leave: { from: ['refunded'], to: 'ignored' }
} as const satisfies Record<string, { from: readonly PaymentState[]; to: PaymentState }>

/** The life of a refund, which begins as asked for in the console, as counted, or as returned where a dispute is won before it was told. docs/ORDERS.md draws this table. */
export const REFUND_TRANSITIONS = {
  /** The platform answered by which id it will tell of it. */
  answer: { from: ['asked', 'unanswered'], to: 'answered' },
  /** The platform may have made it: its answer did not come. */
  lose_answer: { from: ['asked'], to: 'unanswered' },
  /** It is asked for again, by the same idempotency key. */
  repeat: { from: ['asked', 'unanswered'], to: 'asked' },
  /** The platform made none, or it failed there before it was told. */
  refuse: { from: ['asked', 'unanswered', 'answered'], to: 'refused' },
  /** The platform told that it was made, also where it had said before that it failed. */
  count: { from: ['asked', 'unanswered', 'answered', 'refused'], to: 'counted' },
  /** The money is the shop's again: a dispute was won, or the refund failed after it was told. */
  return: { from: ['counted'], to: 'returned' }
} as const satisfies Record<string, { from: readonly RefundState[]; to: RefundState }>

/** States in which nobody knows yet what the platform makes of a request. */
export const UNDERWAY_STATES = REFUND_TRANSITIONS.refuse.from

/** Outcomes of a payment that the delivery of its order ends, and a renewal by it. */
export const ENDED_BY_DELIVERY = [
  'lines_missing',
  'purchase_not_sold',
  'wrong_currency',
  'test_payment',
  'cancelled',
  'too_late'
] as const

type Payment = Pick<typeof payments.$inferSelect, 'accepted' | 'refundedAt' | 'ignoredAt'>

export const paymentStateOf = ({ accepted, refundedAt, ignoredAt }: Payment): PaymentState =>
  refundedAt ? 'refunded' : accepted ? 'accepted' : ignoredAt ? 'ignored' : 'held'

/** May `event` happen to the payment now? */
export const paymentAllows = (payment: Payment, event: keyof typeof PAYMENT_TRANSITIONS): boolean =>
  (PAYMENT_TRANSITIONS[event].from as readonly PaymentState[]).includes(paymentStateOf(payment))
