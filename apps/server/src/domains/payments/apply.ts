import { fillIn, ORDER_FAILURES, toCents } from '@netlet/contract'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { enqueueTags, EventWaits, storeFurther, type EventResult } from '../commerce/index.ts'
import { restoreAddresses, reviveDelivery, startDelivery } from '../delivery/index.ts'
import {
  addToPaid,
  restoreDeleted,
  failOrder,
  lockOrder,
  markPaid,
  recordEvent,
  renewOrder,
  replacePayment,
  type OrderRow
} from '../orders/index.ts'
import { setCouponUse, grantForPayment, lockEarners, restoreForPayment, markCouponsUsed } from '../rewards/index.ts'
import { readSettings } from '../settings/index.ts'
import type { Decision, Delivery, Facts, HoldReason, OrderProblem, Renewal } from './judge.ts'
import { refundedTwice } from './judge-refund.ts'
import { countCodes, recordFullRefund } from './refund-reports.ts'
import { addRefund, counted, refundRowsOf } from './refund-rows.ts'
import { isRefundedOrVoided } from './paid-order.ts'
import { keptOf, minus, paymentOf, recordPayment, setAccepted, type PaymentRow } from './rows.ts'
import { mailPayer, mailReceipt, mailRenewal, mailUnsettled, noticeDispute, tagFailed } from './mails-and-tags.ts'
import { paymentAllows } from './states.ts'

export type Settling = Pick<AppContext, 'secrets' | 'config'>
type Earning = Pick<AppContext, 'secrets'>

/** Writes a decision about a payment and reports it to the customer and the platform. */
export async function applyDecision(
  unit: Unit,
  ctx: Settling,
  facts: Facts,
  decision: Exclude<Decision, { do: 'grow' }>
): Promise<EventResult> {
  const { paid, payment: known, about } = facts
  if (decision.do === 'nothing' && !known) {
    const isExpired = paid.financial_status === 'expired'
    if (isExpired || decision.outcome === 'ignored') await markCouponsUsed(unit, about?.order.userId ?? null, paid)
    if (isExpired) await setCouponUse(unit, paid.id, false)
  }
  if (decision.do === 'nothing') return { outcome: decision.outcome }
  if (decision.do === 'wait') throw new EventWaits('a refund of this payment is under way')
  if (decision.do === 'refund' && known) return recordFullRefund(unit, ctx, paid)
  // As if the refund had come before the payment.
  const reported = decision.do === 'refund' && isRefundedOrVoided(paid) ? await addReported(unit, paid) : undefined
  const refunds = [...facts.refunds, ...(reported ? [reported] : [])]
  const payment = await recordPayment(unit, { ...facts, refunds })
  const order = about && (known && decision.do === 'record' ? about.order : await restoreDeleted(unit, about.order))
  const result = await applyToOrder(unit, ctx, facts, { decision, payment, order })
  // The platform counted the promo codes as used, once, even if the payment settles nothing.
  if (!known) await markCouponsUsed(unit, order?.userId ?? null, paid)
  const disputes = known ? [] : counted(refunds).filter(({ key }) => key.startsWith('dispute:'))
  for (const row of disputes) await noticeDispute(unit, { payment, order }, row)
  if (decision.do !== 'refund') return result
  await countCodes(unit, { payment, order, refunds })
  const detail = refundedTwice({ payment, refunds })
  if (detail) await storeFurther(unit, `twice:${paid.id}`, { order_id: paid.id, outcome: 'refunded_twice', detail })
  return result
}

const addReported = (unit: Unit, { id }: PaidOrder) =>
  addRefund(unit, { key: `reported:${id}`, platformOrderId: id, amount: null, state: 'counted', awaitsRead: true })

type Recorded = {
  decision: Exclude<Decision, { do: 'nothing' | 'wait' | 'grow' }>
  payment: PaymentRow
  order: OrderRow | null
}

async function applyToOrder(
  unit: Unit,
  ctx: Settling,
  { paid, named, payment: known }: Facts,
  { decision, payment, order }: Recorded
): Promise<EventResult> {
  if (decision.do === 'refund') return endBeforeDelivery(unit, order, payment)
  if (decision.do === 'record' && decision.outcome === 'unknown_order') {
    tagFailed(unit, paid.id, 'No such order in the shop, or its account was deleted')
    mailPayer(unit, paid)
    return { outcome: 'unknown_order', detail: { order_id: named ?? 'missing' } }
  }
  if (decision.do === 'record') return { outcome: decision.outcome }
  if (!order) throw new Error(`payment ${payment.id} has no order`)
  const on = { order, payment }
  const { amount } = payment
  switch (decision.do) {
    case 'deliver':
      if (await deliver(unit, ctx, on, decision)) return settled(on)
      return outOfStock(unit, ctx, on)
    case 'renew':
      if (await renew(unit, ctx, on, decision)) return settled(on)
      return hold(unit, ctx, on, { code: 'out_of_stock' })
    case 'fail': {
      const paidOrder = await markPaid(unit, order, { ...payment, days: decision.days })
      return fail(unit, ctx, { order: paidOrder, payment }, decision.problem)
    }
    case 'fail_again':
      await addToPaid(unit, order, { more: minus(amount, known?.amount ?? amount), lastAmount: amount })
      await failOrder(unit, order, decision.problem)
      return { outcome: 'ignored' }
    case 'hold':
      return hold(unit, ctx, on, decision.reason)
  }
}

/** A payment and its order, both locked. */
export type OnOrder = { order: OrderRow; payment: PaymentRow }

/**
 * Delivers an order for a payment, which then counts.
 * @returns false if there are no addresses: the order fails, but an order's first payment still counts
 */
export async function deliver(
  unit: Unit,
  ctx: Settling,
  { order, payment }: OnOrder,
  { as, days, receiptDate }: Delivery
): Promise<boolean> {
  if (as === 'first') {
    const paidOrder = await markPaid(unit, order, { ...payment, days })
    await accept(unit, ctx, { order: paidOrder, payment })
    if (!(await startDelivery(unit, paidOrder))) return false
    await mailReceipt(unit, ctx, paidOrder, { ...payment, paidAt: receiptDate })
    return true
  }
  const failed = as === 'instead' ? await replacePayment(unit, order, { ...payment, days }) : order
  if (!(await startDelivery(unit, failed))) return false
  await accept(unit, ctx, { order: failed, payment })
  await mailReceipt(unit, ctx, failed, { ...payment, paidAt: receiptDate })
  return true
}

/** Marks a payment as accepted and grants what its kept part earns. */
export async function accept(unit: Unit, ctx: Earning, { order, payment }: OnOrder, days?: number): Promise<void> {
  if (paymentAllows(payment, 'accept')) await setAccepted(unit, order, payment, days)
  await earn(unit, ctx, order, payment.platformOrderId)
}

/** Grants what the kept part of a payment earns, once for each platform order. */
async function earn(unit: Unit, { secrets }: Earning, order: OrderRow, paymentId: string): Promise<void> {
  const payment = await paymentOf(unit.tx, paymentId)
  if (!payment) return
  const { userId, publicId: orderPublicId } = order
  const settings = await readSettings(unit.tx, secrets)
  await grantForPayment(unit, { orderPublicId, userId, amount: keptOf(payment).amount, settings, paymentId })
}

/** Brings a payment's rewards in line with its kept part after money came back or was added. */
export async function updateEarnings(unit: Unit, ctx: Earning, order: OrderRow, payment: PaymentRow): Promise<void> {
  await lockEarners(unit.tx, order.userId)
  const rows = await refundRowsOf(unit.tx, payment.platformOrderId)
  const moneys = rows.flatMap(({ state, createdAt: takenAt, reversedAt }) =>
    state === 'counted' || state === 'returned' ? [{ takenAt, reversedAt }] : []
  )
  await restoreForPayment(unit, payment.platformOrderId, keptOf(payment), moneys)
  await earn(unit, ctx, order, payment.platformOrderId)
}

/**
 * Renews an order.
 * @returns false if an expired order's addresses are gone and there are no others. Its term is unchanged. It may keep
 *   other addresses of its grace than before; all are released when the grace ends
 */
export async function renew(
  unit: Unit,
  ctx: Settling,
  { order, payment }: OnOrder,
  { days, paidAt }: Renewal
): Promise<boolean> {
  const isExpired = order.state === 'expired'
  if (isExpired) await lockEarners(unit.tx, order.userId)
  const changed = isExpired ? await restoreAddresses(unit, order) : 0
  if (changed === null) return false
  await renewOrder(unit, order, { ...payment, days, paidAt })
  await accept(unit, ctx, { order, payment }, days)
  await reviveDelivery(unit, order)
  enqueueTags(unit, { platformOrderId: payment.platformOrderId, tags: ['delivered', 'renew'] }, 'renew')
  const renewed = await lockOrder(unit, order.id)
  await mailRenewal(unit, ctx, order, { ...payment, days, changed, expiresAt: renewed?.expiredAt ?? null })
  return true
}

/** The payment settled its order. If a part was refunded before, an administrator decides whether the lease goes on. */
function settled(on: OnOrder): EventResult {
  const amount = on.payment.refundedAmount
  return toCents(amount) === 0n
    ? { outcome: 'settled' }
    : { outcome: 'partly_refunded', detail: { ...subject(on), amount } }
}

/** The whole payment was refunded before the delivery, so it settles nothing. */
async function endBeforeDelivery(unit: Unit, order: OrderRow | null, payment: PaymentRow): Promise<EventResult> {
  if (!order) return { outcome: 'refunded' }
  const { platformOrderNumber: platform_order, charged: amount } = payment
  await recordEvent(unit, order.id, 'payment_refunded', { platform_order, amount })
  unit.publish('order', order.id, order.userId)
  return { outcome: 'refunded', detail: { order_id: order.publicId, platform_order } }
}

const subject = (on: OnOrder) => ({ order_id: on.order.publicId, platform_order: on.payment.platformOrderNumber })

async function outOfStock(unit: Unit, ctx: Settling, on: OnOrder): Promise<EventResult> {
  tagFailed(unit, on.payment.platformOrderId, 'Out of stock')
  await mailUnsettled(unit, ctx, on, { template: 'payment-not-delivered', why: 'out_of_stock' })
  return { outcome: 'too_late', detail: subject(on) }
}

/** The addresses stay reserved until the reservation ends, because an administrator may accept the payment. */
async function fail(unit: Unit, ctx: Settling, on: OnOrder, problem: OrderProblem): Promise<EventResult> {
  const params = 'params' in problem ? problem.params : {}
  await failOrder(unit, on.order, problem)
  tagFailed(unit, on.payment.platformOrderId, fillIn(ORDER_FAILURES[problem.code], params))
  await mailUnsettled(unit, ctx, on, { template: 'payment-not-delivered', why: problem.code })
  return { outcome: problem.code, detail: { ...subject(on), ...params } }
}

/** The payment waits for an administrator, and its order does not change. */
async function hold(unit: Unit, ctx: Settling, on: OnOrder, reason: HoldReason): Promise<EventResult> {
  const { order, payment } = on
  const { platformOrderId, platformOrderNumber: platform_order, charged: amount } = payment
  unit.publish('order', order.id, order.userId)
  if (reason.code === 'paid_twice') {
    await recordEvent(unit, order.id, 'paid_again', { platform_order, amount })
    tagFailed(unit, platformOrderId, `Order ${order.publicId} had been paid before`)
    await mailUnsettled(unit, ctx, on, { template: 'payment-again' })
    return { outcome: 'paid_twice', detail: subject(on) }
  }
  const { code } = reason
  const params = 'params' in reason ? reason.params : {}
  const why = code in ORDER_FAILURES ? { code } : { reason: code }
  await recordEvent(unit, order.id, 'payment_held', { platform_order, amount, ...why, ...params })
  tagFailed(unit, platformOrderId, fillIn(HELD[code], { ...params, order: order.publicId }))
  const template = payment.kind === 'purchase' ? 'payment-not-delivered' : 'payment-not-renewed'
  await mailUnsettled(unit, ctx, on, { template, why: code })
  const isLate = code === 'renewal_too_late' || code === 'out_of_stock' || code === 'order_refunded'
  const outcome = isLate ? 'too_late' : code === 'renewal_not_sold' ? 'purchase_not_sold' : code
  return { outcome, detail: { ...subject(on), ...params } }
}

/** Notes for the platform's order if its payment is held. */
const HELD = {
  ...ORDER_FAILURES,
  order_refunded: 'Order {order} had been refunded',
  renewal_not_sold: 'No longer sold, or not in this form: {what}',
  renewal_too_late: 'Order {order} could no longer be renewed'
}
