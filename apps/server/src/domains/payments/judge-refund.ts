import type { Params } from '@netlet/contract'
import { fromCents, toCents } from '@netlet/contract/money'
import { endsAtOnce } from '../delivery/index.ts'
import { graceAfter, heldUntil, termWithout, type OrderRow } from '../orders/index.ts'
import { ROUNDING_CENTS, counted, sumRefunds, totalOf, type RefundRow } from './refund-rows.ts'
import { refundedPartOf, minus, type PaymentRow } from './rows.ts'

/** The facts for judging refunded or returned money of a payment, read and locked once by `gatherBalance`. */
export type Balance<Refund = RefundRow> = {
  now: Date
  payment: PaymentRow
  /** Locked; null if the payment has no order. */
  order: OrderRow | null
  refunds: readonly Refund[]
  /** Days that the order's other payments gave, if they count. */
  otherDays: number
  /** Days of a term as sold today. */
  soldDays: number
  graceHours: number
}

type Sum = Pick<RefundRow, 'state' | 'amount'>

/** `refundedAmount`: the payment's new total. `amount`: the increase. `back`: the total of `charged`, in cents. */
export type RefundDecision = { refundedAmount: string; amount: string; back: bigint } & (
  | { do: 'take_part' }
  /** A part of a payment that settled nothing. */
  | { do: 'note_part' }
  /** The payment did not count for this order, which goes on or ended before. */
  | { do: 'close' }
  /** The payment never counted, so the order waits for another. */
  | { do: 'await_payment' }
  /** The whole purchase: the lease ends. */
  | { do: 'end_lease' }
  /** The whole renewal: its days are taken off the term. */
  | ({ do: 'take_term' } & TermEnd)
)

/** `heldUntil`: until when the addresses are held for another renewal. */
type TermEnd = { days: number; ends: 'nothing' | 'term' | 'grace' | 'term_and_lease'; heldUntil: Date | null }

/** Decides what follows if more was refunded than the payment's books say. Null: it was fully refunded before. */
export function judgeRefund(facts: Balance<Sum>): RefundDecision | null {
  const { payment, order, refunds } = facts
  if (payment.refundedAt) return null
  const back = sumRefunds(counted(refunds), payment.charged)
  const refundedAmount = refundedPartOf(payment.amount, back.sum)
  const books = { refundedAmount, amount: minus(refundedAmount, payment.refundedAmount), back: back.sum }
  if (!back.all) return { ...books, do: payment.accepted ? 'take_part' : 'note_part' }
  if (!order) return { ...books, do: 'close' }
  const isItsPurchase = payment.kind === 'purchase' && order.platformOrderId === payment.platformOrderId
  if (order.state === 'failed' && !payment.accepted && order.platformOrderId === payment.platformOrderId)
    return { ...books, do: 'await_payment' }
  if (isItsPurchase && order.state !== 'refunded') return { ...books, do: 'end_lease' }
  if (payment.kind === 'renewal' && payment.accepted) return { ...books, do: 'take_term', ...termEnd(facts, order) }
  return { ...books, do: 'close' }
}

type Given = Pick<Balance, 'payment' | 'refunds'>

/** How much more went back than was paid; null: no more, or not with this row. A `reported:` row repeats others. */
export function refundedTwice({ payment: { charged }, refunds }: Given, row?: RefundRow): Params | null {
  const known = counted(refunds).filter(({ key, amount }) => !key.startsWith('reported:') && amount !== '0.00')
  const more = totalOf(known, charged) - toCents(charged)
  const isMore = more > ROUNDING_CENTS * BigInt(known.length) && known.length > 1
  return isMore && (!row || known.some(({ id }) => id === row.id)) ? { amount: fromCents(more), charged } : null
}

function termEnd({ payment, otherDays, soldDays, graceHours, now }: Balance<Sum>, order: OrderRow): TermEnd {
  const renewal = { days: payment.days ?? order.proxyTime, paidDays: otherDays, graceHours }
  const { taken: days, expiredAt, graceUntil } = termWithout(order, renewal, now)
  if (expiredAt && endsAtOnce({ ...order, expiredAt }, now)) {
    const grace = graceAfter(expiredAt, graceHours, now)
    return { days, ends: 'term_and_lease', heldUntil: heldUntil({ ...order, expiredAt }, grace, soldDays, now) }
  }
  if (graceUntil?.getTime() !== order.graceUntil?.getTime())
    return { days, ends: 'grace', heldUntil: graceUntil && graceUntil > now ? graceUntil : null }
  return { days, ends: days > 0 ? 'term' : 'nothing', heldUntil: null }
}

/** What returned money does, in the terms of a `RefundDecision`. `amount`: the decrease. */
export type ReturnDecision = { refundedAmount: string; amount: string; back: bigint } & (
  | { do: 'nothing' }
  /** Only the payment's books change. */
  | { do: 'correct' }
  /** A part came back. */
  | { do: 'restore_part' }
  /** The whole purchase came back. Its ended order can be reopened, or waits as before. */
  | { do: 'restore_order' }
  /** The renewal counts again. `days`: what its refund took off the term and is back; null: nothing. */
  | { do: 'restore_term'; days: number | null }
  /** The payment does not count, or its order ended for another reason. */
  | { do: 'note' }
)

type Returning = Pick<Balance<Sum>, 'payment' | 'order' | 'refunds'> & { before: bigint }

/** Decides what follows if refunded money comes back to the shop. `before`: the refunded cents of `charged` until now. */
export function judgeReturn({ payment, order, refunds, before }: Returning): ReturnDecision {
  const back = sumRefunds(counted(refunds), payment.charged)
  const refundedAmount = refundedPartOf(payment.amount, back.sum)
  const books = { refundedAmount, amount: minus(payment.refundedAmount, refundedAmount), back: back.sum }
  // The dispute or refund took nothing, or other refunds still cover the whole payment.
  if (back.all || (!payment.refundedAt && back.sum === before)) return { ...books, do: 'nothing' }
  if (!order) return { ...books, do: 'correct' }
  if (!payment.refundedAt) return { ...books, do: payment.accepted ? 'restore_part' : 'correct' }
  const isItsPurchase = payment.kind === 'purchase' && order.platformOrderId === payment.platformOrderId
  if (isItsPurchase && order.state === 'refunded') return { ...books, do: 'restore_order' }
  // If more was paid, nothing of the refund came back.
  const isTermBack = payment.termTaken && back.sum < before
  if (payment.kind === 'renewal' && payment.accepted)
    return { ...books, do: 'restore_term', days: isTermBack ? (payment.days ?? order.proxyTime) : null }
  return { ...books, do: 'note' }
}
