import { fromCents, toCents } from '@netlet/contract/money'
import { endsTakenBack } from '../delivery/index.ts'
import { graceAfter, heldUntil, termWithout, type OrderRow } from '../orders/index.ts'
import { counted, sumRefunds, type RefundRow } from './refund-rows.ts'
import { givenBackOf, type PaymentRow } from './rows.ts'

/** What going and coming back of a payment's money is judged by, read and locked once (`gatherBalance`). */
export type Balance = {
  now: Date
  payment: PaymentRow
  /** The order that it is for, locked; null where there is none. */
  order: OrderRow | null
  refunds: readonly Pick<RefundRow, 'state' | 'amount'>[]
  /** Days that other payments of the order gave which count. */
  otherDays: number
  /** Days of a term as it is sold today. */
  soldDays: number
  graceHours: number
}

/** What giving back so much of a payment does, in all. `amount`: what of the shop's money goes by it. */
export type RefundDecision = { refundedAmount: string; amount: string } & (
  | { do: 'take_part' }
  /** A part of a payment that settled nothing. */
  | { do: 'note_part' }
  /** The order goes on or ended before: its payment never counted, or not for it. */
  | { do: 'close' }
  /** The order waits for another payment: this one never counted. */
  | { do: 'await_payment' }
  /** All of a purchase: the lease ends. */
  | { do: 'end_lease' }
  /** All of a renewal: so many days of the term are taken off, and what ends with that. */
  | ({ do: 'take_term' } & TermEnd)
)

/** `heldUntil`: until when the addresses are held for another renewal. */
type TermEnd = { days: number; ends: 'nothing' | 'term' | 'grace' | 'term_and_lease'; heldUntil: Date | null }

/** Decides what follows where more of a payment is given back than its books say. Null: nothing, since all of it was before. */
export function judgeRefund(facts: Balance): RefundDecision | null {
  const { payment, order, refunds } = facts
  if (payment.refundedAt) return null
  const back = sumRefunds(counted(refunds), payment.charged)
  const refundedAmount = givenBackOf(payment.amount, back.sum)
  const books = { refundedAmount, amount: lessOf(refundedAmount, payment.refundedAmount) }
  if (!back.all) return { ...books, do: payment.accepted ? 'take_part' : 'note_part' }
  if (!order) return { ...books, do: 'close' }
  const isItsPurchase = payment.kind === 'purchase' && order.platformOrderId === payment.platformOrderId
  if (order.state === 'failed' && !payment.accepted && order.platformOrderId === payment.platformOrderId)
    return { ...books, do: 'await_payment' }
  if (isItsPurchase && order.state !== 'refunded') return { ...books, do: 'end_lease' }
  if (payment.kind === 'renewal' && payment.accepted) return { ...books, do: 'take_term', ...termEnd(facts, order) }
  return { ...books, do: 'close' }
}

function termEnd({ payment, otherDays, soldDays, graceHours, now }: Balance, order: OrderRow): TermEnd {
  const renewal = { days: payment.days ?? order.proxyTime, paidDays: otherDays, graceHours }
  const { taken: days, expiredAt, graceUntil } = termWithout(order, renewal, now)
  if (expiredAt && endsTakenBack({ ...order, expiredAt }, now)) {
    const grace = graceAfter(expiredAt, graceHours, now)
    return { days, ends: 'term_and_lease', heldUntil: heldUntil({ ...order, expiredAt }, grace, soldDays, now) }
  }
  if (graceUntil?.getTime() !== order.graceUntil?.getTime())
    return { days, ends: 'grace', heldUntil: graceUntil && graceUntil > now ? graceUntil : null }
  return { days, ends: days > 0 ? 'term' : 'nothing', heldUntil: null }
}

/** What follows where less of a payment is given back than its books say. */
export type ReturnDecision = { refundedAmount: string; amount: string } & (
  | { do: 'nothing' }
  /** What came back changes nothing but the payment's books. */
  | { do: 'correct' }
  /** A part came back. */
  | { do: 'restore_part' }
  /** All of a purchase had been given back: its order has ended, and may be reopened, or waits as it did. */
  | { do: 'restore_order' }
  /** All of a renewal had been given back. `days`: what was taken off its order's term; null: nothing. */
  | { do: 'restore_term'; days: number | null }
  /** It counts for nothing, or its order has ended by other means. */
  | { do: 'note' }
)

/** Decides what follows where money of a payment came back to the shop. */
export function judgeReturn({
  payment,
  order,
  refunds
}: Pick<Balance, 'payment' | 'order' | 'refunds'>): ReturnDecision {
  const back = sumRefunds(counted(refunds), payment.charged)
  const refundedAmount = givenBackOf(payment.amount, back.sum)
  const books = { refundedAmount, amount: lessOf(payment.refundedAmount, refundedAmount) }
  // It had taken nothing, or all of the money was given back by other means as well.
  if (back.all || (!payment.refundedAt && refundedAmount === payment.refundedAmount)) return { ...books, do: 'nothing' }
  if (!order) return { ...books, do: 'correct' }
  if (!payment.refundedAt) return { ...books, do: payment.accepted ? 'restore_part' : 'correct' }
  const isItsPurchase = payment.kind === 'purchase' && order.platformOrderId === payment.platformOrderId
  if (isItsPurchase && order.state === 'refunded') return { ...books, do: 'restore_order' }
  if (payment.kind === 'renewal' && payment.accepted)
    return { ...books, do: 'restore_term', days: payment.termTaken ? (payment.days ?? order.proxyTime) : null }
  return { ...books, do: 'note' }
}

const lessOf = (one: string, other: string): string => fromCents(toCents(one) - toCents(other))
