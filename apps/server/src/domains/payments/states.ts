import type { payments } from './tables.ts'

/** `held`: it brought too little, too late or a second time; an administrator looks at it. `accepted`: it counts. */
export type PaymentState = 'held' | 'accepted'

/** The life of a payment; it begins as either. */
export const PAYMENT_TRANSITIONS = {
  /** An administrator delivers in spite of too little money. */
  accept: { from: ['held'], to: 'accepted' }
} as const satisfies Record<string, { from: readonly PaymentState[]; to: PaymentState }>

export const paymentStateOf = (payment: Pick<typeof payments.$inferSelect, 'accepted'>): PaymentState =>
  payment.accepted ? 'accepted' : 'held'
