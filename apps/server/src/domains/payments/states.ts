import type { PaymentState } from '@netlet/contract'
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

/** Outcomes of a purchase that its order's delivery ends, of whatever kind it was asked for. */
export const ENDED_BY_DELIVERY = [
  'underpaid',
  'lines_missing',
  'purchase_not_sold',
  'wrong_currency',
  'test_payment',
  'refund_amount_unknown',
  'too_late'
] as const

type Payment = Pick<typeof payments.$inferSelect, 'accepted' | 'refundedAt' | 'ignoredAt'>

export const paymentStateOf = ({ accepted, refundedAt, ignoredAt }: Payment): PaymentState =>
  refundedAt ? 'refunded' : accepted ? 'accepted' : ignoredAt ? 'ignored' : 'held'

/** May `event` happen to the payment now? */
export const paymentAllows = (payment: Payment, event: keyof typeof PAYMENT_TRANSITIONS): boolean =>
  (PAYMENT_TRANSITIONS[event].from as readonly PaymentState[]).includes(paymentStateOf(payment))
