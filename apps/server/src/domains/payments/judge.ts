import { toCents } from '@netlet/contract/money'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import { isOverWith, type OrderRow, renewable, type CurrentTerms } from '../orders/index.ts'
import {
  chargedOf,
  compareLines,
  isRefundedOrVoided,
  isUnpaid,
  missing,
  moneyProblem,
  type MoneyProblem,
  type MoneyRules,
  variantsAdded
} from './paid-order.ts'
import { blockingRefundOf, counted, sumRefunds, recentRequestOf, type RefundRow } from './refund-rows.ts'
import { timeOf, type PaymentRow } from './rows.ts'
import { paymentStateOf } from './states.ts'

/** The facts for judging a payment's report, read and locked once by `gather`. */
export type Facts = {
  now: Date
  money: MoneyRules
  paid: PaidOrder
  kind: 'purchase' | 'renewal'
  /** The number of our order as reported; null if it names none. */
  named: string | null
  /** As known before this report. */
  payment: PaymentRow | null
  /** Its refunds and disputes, in its currency. */
  refunds: readonly RefundRow[]
  /** The platform reported that its order was cancelled. */
  isCancelled: boolean
  /** The payment's order; null if there is none, or its account was deleted. */
  about: OrderFacts | null
  /** The report contains a plan or rule of ours. */
  isOurs: boolean
}

/** A locked order and the facts for judging its payments. */
export type OrderFacts = {
  order: OrderRow
  /** The payment that marked the order as paid. */
  first: PaymentRow | null
  /** When it was ordered on the platform, which decides whether that was in time. */
  paidAt: Date
  receiptDate: Date
  /** Until when the order could be renewed, if it has expired. */
  renewableBefore: Date | null
  /** The lines and days that a payment must match: as placed while its addresses are held, later as sold today. */
  terms: CurrentTerms
}

type PaymentProblem = MoneyProblem | { code: 'lines_missing'; params: { missing: string } } | { code: 'cancelled' }
/** Why a purchase is not delivered; the code becomes the order's failure. */
export type OrderProblem = PaymentProblem | { code: 'purchase_not_sold'; params: { what: string } }

/** Why a payment waits for an administrator while its order does not change. */
export type HoldReason =
  | OrderProblem
  | { code: 'renewal_not_sold'; params: { what: string } }
  | { code: 'renewal_too_late'; params: { state: string } }
  | { code: 'out_of_stock' | 'order_refunded' | 'paid_twice' }

/** `first`: the order's first payment. `instead`: replaces one that does not count. `again`: the one it failed with. */
export type Delivery = { do: 'deliver'; days: number; receiptDate: Date; as: 'first' | 'instead' | 'again' }
/** Another term of this many days. */
export type Renewal = { do: 'renew'; days: number; paidAt: Date }

/** What happens to a payment. `apply` finds out whether there are addresses. */
export type Decision =
  /** Nothing is written. */
  | { do: 'nothing'; outcome: 'not_paid' | 'ignored' }
  /** Judged again once the result of a requested refund is known. */
  | { do: 'wait' }
  /** The report is recorded and changes nothing. */
  | { do: 'record'; outcome: 'ignored' | 'unknown_order' }
  /** The platform's order was edited after this payment, and the customer paid the rest. */
  | { do: 'grow'; payment: PaymentRow }
  /** The whole payment was refunded. */
  | { do: 'refund' }
  | Delivery
  | Renewal
  /** The order is paid, and fails. */
  | { do: 'fail'; problem: OrderProblem; days: number }
  /** The order that failed with this payment now lacks something else. */
  | { do: 'fail_again'; problem: OrderProblem }
  | { do: 'hold'; reason: HoldReason }

const nothing = (outcome: 'not_paid' | 'ignored'): Decision => ({ do: 'nothing', outcome })
const record = (outcome: 'ignored' | 'unknown_order'): Decision => ({ do: 'record', outcome })

/**
 * Decides what a report does with a payment; the same facts give the same decision. Each later report judges a held
 * payment again, because its order may have been edited. The customer gets one mail about what is missing.
 */
export function judge(facts: Facts): Decision {
  const { paid, payment, about, refunds, named, isOurs } = facts
  if (isUnpaid(paid)) return nothing('not_paid')
  // Other goods of the platform. Without a row, nothing that follows about this payment concerns the shop.
  if (!payment && named === null && !isOurs) return nothing('ignored')
  // The platform never changes the currency of an order.
  if (payment && paid.currency !== payment.currency && !isRefundedOrVoided(paid)) return nothing('ignored')
  if (payment && hasGrown(facts, payment)) return { do: 'grow', payment }
  if (payment && !isNews(facts, payment)) return nothing('ignored')
  if (recentRequestOf(refunds, facts.now)) return { do: 'wait' }
  const isAllBack = sumRefunds(counted(refunds), chargedOf(paid)).all
  if (isRefundedOrVoided(paid) || (isAllBack && !payment)) return { do: 'refund' }
  if (isAllBack) return record('ignored')
  if (!about) return record(payment ? 'ignored' : 'unknown_order')
  // A refund of it is pending. Reading its order judges it again once that refund has a result.
  if (blockingRefundOf(refunds, facts.now)) return record('ignored')
  const decision = facts.kind === 'renewal' ? judgeRenewal(facts, about) : judgePurchase(facts, about)
  const isFirst = !payment || (payment.reportedAt === null && timeOf(paid.updated_at) !== null)
  return !isFirst && decision.do === 'hold' ? record('ignored') : decision
}

/** Was more paid, or put on the order, for a payment that is not judged again, or that its refunds no longer cover? */
function hasGrown({ paid, refunds }: Facts, payment: PaymentRow): boolean {
  const at = timeOf(paid.updated_at)
  const isLater = at !== null && (payment.reportedAt === null || at > payment.reportedAt)
  const charged = chargedOf(paid)
  const state = paymentStateOf(payment)
  const isKept = state === 'refunded' ? !sumRefunds(counted(refunds), charged).all : state !== 'held'
  const more = toCents(charged) - toCents(payment.charged)
  const isMore = more > 0n || (more === 0n && state === 'accepted' && variantsAdded(payment.lines, paid).length > 0)
  return isKept && isLater && isMore && !isRefundedOrVoided(paid)
}

/** Only a held payment is judged again, by a report that is not older than the last. */
function isNews({ paid }: Facts, payment: PaymentRow): boolean {
  const at = timeOf(paid.updated_at)
  const isOld = at !== null && payment.reportedAt !== null && at < payment.reportedAt
  return paymentStateOf(payment) === 'held' && !isOld
}

function judgePurchase(facts: Facts, about: OrderFacts): Decision {
  const { order, first, terms } = about
  const problem = purchaseProblem(facts, about)
  if (!order.paidAt) return problem ? { do: 'fail', problem, days: terms.days } : delivery(about, 'first')
  // The first payment went back, so this one is no second one.
  if (order.state === 'refunded') return { do: 'hold', reason: { code: 'order_refunded' } }
  const isItsPayment = order.platformOrderId === facts.paid.id
  if (problem && isItsPayment && order.state === 'failed') return { do: 'fail_again', problem }
  // The right payment follows one that fell short, so the order need not wait for an administrator.
  const waits = order.state === 'failed' && first?.accepted === false
  if (!waits) return { do: 'hold', reason: { code: 'paid_twice' } }
  return problem ? { do: 'hold', reason: problem } : delivery(about, 'instead')
}

const delivery = ({ terms: { days }, receiptDate }: OrderFacts, as: Delivery['as']): Delivery => ({
  do: 'deliver',
  days,
  receiptDate,
  as
})

function judgeRenewal(facts: Facts, about: OrderFacts): Decision {
  const problem = renewalProblem(facts, about)
  if (problem) return { do: 'hold', reason: problem }
  return renewalOf(about) ?? { do: 'hold', reason: { code: 'renewal_too_late', params: { state: about.order.state } } }
}

/** The renewal of an order; null if it could not be renewed when it was paid, or the new term would have been over. */
function renewalOf({ order, terms: { days }, paidAt, renewableBefore }: OrderFacts): Renewal | null {
  const isPossible = renewable({ ...order, graceUntil: renewableBefore }, paidAt).ok && !isOverWith(order, days, paidAt)
  return isPossible ? { do: 'renew', days, paidAt } : null
}

/** Why a payment does not settle its order as a purchase. The platform sets the prices, so they are not compared. */
function purchaseProblem({ paid, money, isCancelled }: Facts, { order, terms }: OrderFacts): OrderProblem | null {
  const wrong = moneyProblem(paid, money)
  if (wrong) return wrong
  if (isCancelled) return { code: 'cancelled' }
  if (terms.withdrawn) return { code: 'purchase_not_sold', params: { what: terms.withdrawn.name } }
  const short = missing(compareLines(terms.lines, paid), order)
  return short === null ? null : { code: 'lines_missing', params: { missing: short } }
}

/** Why a payment does not renew its order. A renewal must match what is sold today. */
function renewalProblem(facts: Facts, about: OrderFacts): HoldReason | null {
  const problem = purchaseProblem(facts, about)
  if (problem?.code === 'purchase_not_sold') return { code: 'renewal_not_sold', params: problem.params }
  if (problem?.code !== 'lines_missing') return problem
  // The lines match what was once sold: the customer paid through an old link.
  const isOld = missing(compareLines(about.order.lines, facts.paid), about.order) === null
  return isOld ? { code: 'renewal_not_sold', params: { what: problem.params.missing } } : problem
}

/**
 * Decides what applying a payment by hand does. The administrator overrides the lines, the currency and the test flag.
 * @returns the reason of the refusal if it cannot be applied
 */
export function judgeApplication(
  about: OrderFacts,
  payment: PaymentRow
): Delivery | Renewal | 'order_has_payment' | 'order_cannot_renew' {
  const { order, first } = about
  if (!order.paidAt) return delivery(about, 'first')
  if (order.state !== 'failed') return renewalOf(about) ?? 'order_cannot_renew'
  if (order.platformOrderId === payment.platformOrderId) return delivery(about, 'again')
  return first?.accepted ? 'order_has_payment' : delivery(about, 'instead')
}
