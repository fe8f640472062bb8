import { toCents } from '@netlet/contract/money'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import { isOverWith, type OrderRow, renewable, type SoldToday } from '../orders/index.ts'
import {
  chargedOf,
  compareLines,
  isPaidBack,
  isUnpaid,
  missing,
  moneyOf,
  moneyProblem,
  type MoneyProblem,
  type MoneyRules
} from './paid-order.ts'
import { counted, sumRefunds, underwayOf, type RefundRow } from './refund-rows.ts'
import { reportedAt, type PaymentRow } from './rows.ts'
import { paymentStateOf } from './states.ts'

/** What a report of a payment is judged by, read and locked once (`gather`). */
export type Facts = {
  now: Date
  money: MoneyRules
  paid: PaidOrder
  kind: 'purchase' | 'renewal'
  /** The number of our order that it names, as it was told; null: it names none. */
  named: string | null
  /** As it was known before this report. */
  payment: PaymentRow | null
  /** Its refunds and disputes, in its currency. */
  refunds: readonly RefundRow[]
  /** The platform told that its order was cancelled. */
  isCancelled: boolean
  /** The order that it is for; null where there is none, or its account was deleted. */
  about: OrderFacts | null
  /** It names no order, but holds a plan or rule of ours. */
  isOurs: boolean
}

/** A locked order with what its payments are judged by. */
export type OrderFacts = {
  order: OrderRow
  /** The payment that the order was marked as paid by. */
  first: PaymentRow | null
  /** What it is paid by, and for how long: as it was placed while its addresses are held, later as it is sold today. */
  terms: SoldToday
}

/** Why a purchase is not delivered, as the order's failure names it. */
export type OrderProblem =
  | MoneyProblem
  | { code: 'lines_missing'; params: { missing: string } }
  | { code: 'purchase_not_sold'; params: { what: string } }
  | { code: 'cancelled' }

/** Why a payment waits for an administrator, and its order stays as it is. */
export type HoldReason =
  | MoneyProblem
  | { code: 'lines_missing'; params: { missing: string } }
  | { code: 'renewal_not_sold'; params: { what: string } }
  | { code: 'cancelled' }
  | { code: 'renewal_too_late'; params: { state: string } }
  | { code: 'paid_twice' }

/** `first`: the order's first payment; `instead`: of one that does not count; `again`: the payment that its order failed with. */
export type Delivery = { do: 'deliver'; days: number; as: 'first' | 'instead' | 'again' }
/** Another term of so many days. */
export type Renewal = { do: 'renew'; days: number }

/** What becomes of a payment. Whether there are addresses for it is found when it is applied. */
export type Decision =
  /** Nothing is written. */
  | { do: 'nothing'; outcome: 'not_paid' | 'ignored' }
  /** It is judged once it is known what becomes of a refund that was asked for. */
  | { do: 'wait' }
  /** The report is written down, and changes nothing. */
  | { do: 'record'; outcome: 'ignored' | 'unknown_order' }
  /** The platform took more for an order that this payment settled, since its order was edited there and the rest was paid. */
  | { do: 'grow'; payment: PaymentRow }
  /** All of it was given back. */
  | { do: 'give_back' }
  | Delivery
  | Renewal
  /** The order is paid, and fails. */
  | { do: 'fail'; problem: OrderProblem; days: number }
  /** The order that failed with this payment lacks something else by now. */
  | { do: 'fail_again'; problem: OrderProblem }
  | { do: 'hold'; reason: HoldReason }

const nothing = (outcome: 'not_paid' | 'ignored'): Decision => ({ do: 'nothing', outcome })
const record = (outcome: 'ignored' | 'unknown_order'): Decision => ({ do: 'record', outcome })

/**
 * Decides what a report of the platform does with a payment: the same facts give the same decision. A payment that is held is judged
 * again by each later report, since its order may have been edited on the platform; what is still missing is not told twice.
 */
export function judge(facts: Facts): Decision {
  const { paid, payment, about, refunds, named, isOurs } = facts
  if (isUnpaid(paid)) return nothing('not_paid')
  if (payment && hasGrown(facts, payment)) return { do: 'grow', payment }
  if (payment && !isNews(facts, payment)) return nothing('ignored')
  if (underwayOf(refunds, facts.now)) return { do: 'wait' }
  const isAllBack = sumRefunds(counted(refunds), chargedOf(paid)).all
  if (isPaidBack(paid) || (isAllBack && !payment)) return { do: 'give_back' }
  if (isAllBack) return record('ignored')
  if (!about) return record(!payment && (named || isOurs) ? 'unknown_order' : 'ignored')
  const decision = facts.kind === 'renewal' ? judgeRenewal(facts, about) : judgePurchase(facts, about)
  if (!payment || decision.do === 'deliver' || decision.do === 'renew') return decision
  if (decision.do === 'fail' || decision.do === 'fail_again') return decision
  return record('ignored')
}

function hasGrown({ paid, money }: Facts, payment: PaymentRow): boolean {
  const at = reportedAt(paid)
  const isLater = at !== null && (payment.reportedAt === null || at > payment.reportedAt)
  const isMore = toCents(moneyOf(paid, money)) > toCents(payment.amount)
  return paymentStateOf(payment) === 'accepted' && isLater && isMore && !isPaidBack(paid)
}

/** Of a known payment only one that is held is judged again, by a report that is no older than the last. */
function isNews({ paid }: Facts, payment: PaymentRow): boolean {
  const at = reportedAt(paid)
  const isOld = at !== null && payment.reportedAt !== null && at < payment.reportedAt
  return paymentStateOf(payment) === 'held' && !isOld
}

function judgePurchase(facts: Facts, about: OrderFacts): Decision {
  const { order, first, terms } = about
  const problem = purchaseProblem(facts, about)
  if (!order.paidAt) return problem ? { do: 'fail', problem, days: terms.days } : delivery(terms, 'first')
  const isItsPayment = order.platformOrderId === facts.paid.id
  if (problem && isItsPayment && order.state === 'failed') return { do: 'fail_again', problem }
  // The right payment after one that fell short: the order need not wait for an administrator.
  const waits = order.state === 'failed' && first?.accepted === false
  return problem || !waits ? { do: 'hold', reason: { code: 'paid_twice' } } : delivery(terms, 'instead')
}

const delivery = ({ days }: SoldToday, as: Delivery['as']): Delivery => ({ do: 'deliver', days, as })

function judgeRenewal(facts: Facts, about: OrderFacts): Decision {
  const problem = renewalProblem(facts, about)
  if (problem) return { do: 'hold', reason: problem }
  const renewal = renewalOf(about, facts.now)
  return renewal ?? { do: 'hold', reason: { code: 'renewal_too_late', params: { state: about.order.state } } }
}

/** The renewal that an order can have now; null where it cannot be renewed, or its time would be over already. */
function renewalOf({ order, terms: { days } }: OrderFacts, now: Date): Renewal | null {
  return renewable(order, now).ok && !isOverWith(order, days, now) ? { do: 'renew', days } : null
}

/** What keeps a payment from settling its order as its purchase. Prices are the platform's: they are not compared. */
function purchaseProblem({ paid, money, isCancelled }: Facts, { order, terms }: OrderFacts): OrderProblem | null {
  const wrong = moneyProblem(paid, money)
  if (wrong) return wrong
  if (isCancelled) return { code: 'cancelled' }
  if (terms.withdrawn) return { code: 'purchase_not_sold', params: { what: terms.withdrawn.name } }
  const short = missing(compareLines(terms.lines, paid), order)
  return short === null ? null : { code: 'lines_missing', params: { missing: short } }
}

/** What keeps a payment from renewing its order: it is renewed as it is sold today, or not at all. */
function renewalProblem({ paid, money, isCancelled }: Facts, { order, terms }: OrderFacts): HoldReason | null {
  const wrong = moneyProblem(paid, money)
  if (wrong) return wrong
  if (isCancelled) return { code: 'cancelled' }
  if (terms.withdrawn) return { code: 'renewal_not_sold', params: { what: terms.withdrawn.name } }
  const short = missing(compareLines(terms.lines, paid), order)
  if (short === null) return null
  // Enough of what was sold once: the customer paid what it was asked for by an old link.
  if (missing(compareLines(order.lines, paid), order) === null)
    return { code: 'renewal_not_sold', params: { what: short } }
  return { code: 'lines_missing', params: { missing: short } }
}

/**
 * Decides what an administrator's word does who applies a payment to an order: it counts for the lines, the currency and a test.
 * @returns why it cannot be applied where it cannot
 */
export function judgeApplication(
  about: OrderFacts,
  payment: PaymentRow,
  now: Date
): Delivery | Renewal | 'order_has_payment' | 'order_cannot_renew' {
  const { order, first, terms } = about
  if (!order.paidAt) return delivery(terms, 'first')
  if (order.state !== 'failed') return renewalOf(about, now) ?? 'order_cannot_renew'
  if (order.platformOrderId === payment.platformOrderId) return delivery(terms, 'again')
  return first?.accepted ? 'order_has_payment' : delivery(terms, 'instead')
}
