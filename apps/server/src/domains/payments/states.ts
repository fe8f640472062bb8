import type { payments } from './tables.ts'

/** `held`: it brought too little, came too late or a second time; an administrator looks at it. `accepted`: it counts. */
export type PaymentState = 'held' | 'accepted'

/** The life of a payment, which begins as either. docs/ORDERS.md draws this table. */
export const PAYMENT_TRANSITIONS = {
  /** An administrator delivers in spite of too little money. */
  accept: { from: ['held'], to: 'accepted' }
} as const satisfies Record<string, { from: readonly PaymentState[]; to: PaymentState }>

type Payment = Pick<typeof payments.$inferSelect, 'accepted'>

export const paymentStateOf = ({ accepted }: Payment): PaymentState => (accepted ? 'accepted' : 'held')

/** May `event` happen to the payment now? */
export const paymentAllows = (payment: Payment, event: keyof typeof PAYMENT_TRANSITIONS): boolean =>
  (PAYMENT_TRANSITIONS[event].from as readonly PaymentState[]).includes(paymentStateOf(payment))
