import type { PaymentState, RefundState } from '@netlet/contract'
import type { payments } from './tables.ts'

/** A payment starts as held, accepted or refunded. docs/ORDERS.md draws this table. */
export const PAYMENT_TRANSITIONS = {
  /** It settles its order: judged again, applied by an administrator, or delivered although something was missing. */
  accept: { from: ['held', 'ignored'], to: 'accepted' },
  /** An administrator closes it with a reason and no effect. */
  ignore: { from: ['held'], to: 'ignored' },
  /** All of it was refunded. */
  refund: { from: ['held', 'ignored', 'accepted'], to: 'refunded' },
  /** The money came back after a won dispute or a failed refund, or more was paid, and it counts as before. */
  restore: { from: ['refunded'], to: 'accepted' },
  /** The money came back, and had settled nothing. */
  hold: { from: ['refunded'], to: 'held' },
  /** The money came back, and an administrator had ignored the payment, which stands. */
  leave: { from: ['refunded'], to: 'ignored' }
} as const satisfies Record<string, { from: readonly PaymentState[]; to: PaymentState }>

/**
 * A refund starts as asked, answered (pending, made on the platform), counted, or returned (its dispute was won first).
 * docs/ORDERS.md draws this table.
 */
export const REFUND_TRANSITIONS = {
  /** The platform answered with the id that its report will carry. */
  answer: { from: ['asked', 'unanswered'], to: 'answered' },
  /** The platform's answer was lost, so it may have made the refund. */
  lose_answer: { from: ['asked'], to: 'unanswered' },
  /** Requested again with the same idempotency key. */
  repeat: { from: ['asked', 'unanswered'], to: 'asked' },
  /** The platform made no refund, or it failed before its report. */
  refuse: { from: ['asked', 'unanswered', 'answered'], to: 'refused' },
  /** The platform reported that it was made, even after it had said that it failed. */
  count: { from: ['asked', 'unanswered', 'answered', 'refused'], to: 'counted' },
  /** The money came back: a dispute was won, or the refund failed after its report. */
  return: { from: ['counted'], to: 'returned' }
} as const satisfies Record<string, { from: readonly RefundState[]; to: RefundState }>

/** States in which the platform's result is not known yet. */
export const STATES_WITHOUT_RESULT = REFUND_TRANSITIONS.refuse.from

/** Outcomes of a payment that close when its order is delivered or renewed. */
export const ENDED_BY_DELIVERY = [
  'lines_missing',
  'purchase_not_sold',
  'wrong_currency',
  'test_payment',
  'cancelled',
  'too_late',
  'paid_more'
] as const

type Payment = Pick<typeof payments.$inferSelect, 'accepted' | 'refundedAt' | 'ignoredAt'>

export const paymentStateOf = ({ accepted, refundedAt, ignoredAt }: Payment): PaymentState =>
  refundedAt ? 'refunded' : accepted ? 'accepted' : ignoredAt ? 'ignored' : 'held'

/** May `event` happen to the payment now? */
export const paymentAllows = (payment: Payment, event: keyof typeof PAYMENT_TRANSITIONS): boolean =>
  (PAYMENT_TRANSITIONS[event].from as readonly PaymentState[]).includes(paymentStateOf(payment))
