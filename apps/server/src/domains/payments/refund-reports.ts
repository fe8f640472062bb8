import { ATTENTION, fromCents, toCents } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import type { CancelledOrder, PaidOrder, RefundEvent } from '../../integrations/shopify/index.ts'
import { MINUTE } from '../../infra/clock.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import type { AppContext } from '../../infra/context.ts'
import { termOf } from '../catalog/index.ts'
import { EventWaits, isCancelledThere, storeFurther, type EventResult } from '../commerce/index.ts'
import { endDelivery, expireShortened } from '../delivery/index.ts'
import {
  awaitPayment,
  restoreDeleted,
  lockOrder,
  recordEvent,
  partlyRefundOrder,
  refundOrder,
  takeBackTerm,
  wasDelivered,
  wasRenewalServed,
  type OrderRow
} from '../orders/index.ts'
import { setCouponUse, lockEarners, rewardInvitation, takeBackForPayment, takeBackPart } from '../rewards/index.ts'
import { readSettings } from '../settings/index.ts'
import { judgeRefund, refundedTwice, type Balance, type RefundDecision } from './judge-refund.ts'
import type { RefundEffect } from '../mail/index.ts'
import { isRefundedOrVoided } from './paid-order.ts'
import { enqueueOrderRead } from './queues.ts'
import {
  addRefund,
  blockingRefundOf,
  ROUNDING_CENTS,
  counted,
  isRefundedForGood,
  isPlatformRefund,
  isUnconverted,
  hasNoResult,
  isMark,
  isMarked,
  leftOf,
  keyAfter,
  moveRefund,
  pendingKey,
  refundIdOf,
  refundRowsOf,
  rowsOf,
  setRefundAmount,
  sumRefunds,
  totalOf,
  type RefundRow
} from './refund-rows.ts'
import {
  daysOfOtherPayments,
  keptOf,
  lastAmountOf,
  paidRenewals,
  paymentOf,
  reportedMoney,
  standingPayment,
  timeOf,
  type PaymentRow
} from './rows.ts'
import { payments } from './tables.ts'
import { mailRefunded, noticeDispute, type Mailing } from './mails-and-tags.ts'

export type Refunding = Mailing & Pick<AppContext, 'secrets'>

type RefundReport = {
  platformOrderId: string
  /** Identifies the refund or dispute, so that a repeated report counts once. */
  key: string
  /** In the payment's currency; null: all that is left. */
  amount: string | null
  /** '15.40 GBP': as reported in the buyer's currency. `amount` is '0.00' if it cannot be converted yet. */
  foreignAmount?: string | null
  reason: 'refund' | 'chargeback'
  /** The part that the shop sends by hand, in the payment's currency. */
  byHand?: string | null
}

/** Statuses of a transaction that do not change any more. */
const FINAL: ReadonlySet<string> = new Set(['success', 'failure', 'error'])

/**
 * `refunds/create`: counts the successful refund transactions. Goods returned without money count as nothing. The
 * buyer's currency is converted at the payment's rate.
 */
export async function recordRefundReport(unit: Unit, refund: RefundEvent, ctx: Refunding): Promise<EventResult> {
  const { order_id: platformOrderId } = refund
  const refunds = refund.transactions.filter(({ kind }) => kind === 'refund')
  const made = refunds.filter(({ status, amount }) => status === 'success' && Number(amount) > 0)
  const pending = refunds.filter(({ status }) => !FINAL.has(status))
  if (made.length + pending.length === 0) return { outcome: 'ignored', about: { platformOrderId } }
  await lock(unit.tx, 'platformOrder', platformOrderId)
  const key = `refund:${refund.id}`
  const { amount } = await reportedMoney(unit, ctx, platformOrderId, pending)
  if (made.length === 0) {
    await awaitRefund(unit, { platformOrderId, key, amount })
    return { outcome: 'ignored', about: { platformOrderId } }
  }
  const money = await reportedMoney(unit, ctx, platformOrderId, made)
  if (pending.length > 0) {
    const known = rowsOf(counted(await refundRowsOf(unit.tx, platformOrderId)), key)
    // If more is known to be made than this report says, the report is late, and the rest may have been made.
    if (totalOf(known, '0') <= toCents(money.amount))
      await addRefund(unit, { key: pendingKey(key), platformOrderId, amount, state: 'answered', awaitsRead: true })
  }
  const manual = made.filter(one => one.manual_payment_gateway === true)
  const byHand = manual.length > 0 ? (await reportedMoney(unit, ctx, platformOrderId, manual)).amount : null
  return recordRefund(unit, ctx, { platformOrderId, key, ...money, reason: 'refund', byHand })
}

/**
 * A pending refund counts as nothing yet, and its order is read again until the platform knows its result. Its request,
 * if the answer was lost, gets its id and is not made again.
 */
async function awaitRefund(
  unit: Unit,
  { platformOrderId, key, amount }: Pick<RefundReport, 'platformOrderId' | 'key'> & { amount: string }
): Promise<void> {
  const rows = await refundRowsOf(unit.tx, platformOrderId)
  const known = rows.find(row => row.key === key)
  // The order was read first, and lists a pending refund without its money.
  if (known?.state === 'answered' && known.amount === '0.00') await setRefundAmount(unit, known, amount)
  if (known) return
  const asked = requestOf(rows, { key, amount, now: unit.now })
  const answered = { key, awaitsRead: true }
  if (asked) await moveRefund(unit, asked, 'answer', answered)
  else await addRefund(unit, { ...answered, platformOrderId, amount, state: 'answered' })
}

/**
 * `orders/cancelled`: money went back only if the platform says so. Otherwise the shop still has it, and an
 * administrator refunds it or lets the lease go on, unless a refund is pending. An unpaid order is voided, which gives
 * nothing back.
 */
export async function cancelPayment(unit: Unit, cancelled: CancelledOrder, ctx: Refunding): Promise<EventResult> {
  const { id: platformOrderId } = cancelled
  await lock(unit.tx, 'platformOrder', platformOrderId)
  const { payment, order, about, detail } = await paymentAndOrderOf(unit, platformOrderId)
  if (payment ? isRefundedOrVoided(cancelled) : cancelled.financial_status === 'refunded')
    return recordFullRefund(unit, ctx, cancelled)
  const isKnown = await isCancelledThere(unit.tx, platformOrderId)
  // Its failure, or the report of its payment that is judged again, says that the order was cancelled.
  const isPending = blockingRefundOf(await refundRowsOf(unit.tx, platformOrderId), unit.now)?.state === 'answered'
  if (!payment || payment.refundedAt || isKnown || isPending) return { outcome: 'ignored', about }
  const outcome = payment.accepted && order?.state !== 'failed' ? 'cancelled_delivered' : 'cancelled'
  return { outcome, detail, about }
}

/**
 * The platform's status says that all of an order was refunded, and names no refund. The key is new each time, because
 * the money may have come back since. Does nothing if it counts already, or if the report is not newer.
 */
export async function recordFullRefund(
  unit: Unit,
  ctx: Refunding,
  cancelled: Pick<PaidOrder, 'id'> & Partial<Pick<PaidOrder, 'updated_at'>>
): Promise<EventResult> {
  const { tx } = unit
  const { id: platformOrderId } = cancelled
  const known = await paymentOf(tx, platformOrderId)
  const first = `reported:${platformOrderId}`
  const at = timeOf(cancelled.updated_at)
  if (at !== null && known) await tx.update(payments).set({ reportedAt: at }).where(eq(payments.id, known.id))
  const rows = rowsOf(await refundRowsOf(tx, platformOrderId), first)
  const isLater = at !== null && (!known?.reportedAt || at > known.reportedAt)
  if (rows.length > 0 && !(isLater && counted(rows).length === 0))
    return { outcome: 'ignored', about: { platformOrderId } }
  return recordRefund(unit, ctx, { platformOrderId, key: keyAfter(rows, first), amount: null, reason: 'refund' })
}

/** Records a refund or dispute once, even before its payment is known, and applies its effects. */
export async function recordRefund(unit: Unit, ctx: Refunding, report: RefundReport): Promise<EventResult> {
  const { platformOrderId, key, reason } = report
  await lock(unit.tx, 'platformOrder', platformOrderId)
  const row = await countRefund(unit, report)
  if (!row) return { outcome: 'ignored', about: { platformOrderId } }
  const facts = await gatherBalance(unit, ctx, platformOrderId)
  if (!facts) return { outcome: 'refunded', about: { platformOrderId } }
  const { payment, order } = facts
  const { about, detail } = subjectIn(payment, order, platformOrderId)
  if (reason === 'chargeback') await noticeDispute(unit, facts, row)
  if (isUnconverted(row)) {
    enqueueOrderRead(unit, platformOrderId)
    return { outcome: 'refunded', about }
  }
  const decision = judgeRefund(facts)
  const applied: EventResult = decision
    ? await applyRefund(unit, ctx, facts, { ...report, decision, row })
    : { outcome: 'ignored' }
  const more = refundedTwice(facts, row)
  const twice = { outcome: 'refunded_twice', detail: { ...detail, ...more } } as const
  // The renewals wait for a decision of their own.
  const isBeside = applied.outcome === 'renewals_unserved'
  if (more && isBeside) await storeFurther(unit, `twice:${key}`, { order_id: platformOrderId, ...twice })
  const result: EventResult = more && !isBeside ? twice : applied
  await countCodes(unit, facts)
  // A deleted order is restored, so that an administrator finds it in the lists.
  if (order && result.outcome in ATTENTION && !result.resolved) await restoreDeleted(unit, order)
  return { ...result, about }
}

/** The row of a report: our own request's, or a new one. Undefined if it counts already: reading the order tells what more was made. */
async function countRefund(unit: Unit, report: RefundReport): Promise<RefundRow | undefined> {
  const { key, platformOrderId, amount, foreignAmount = null } = report
  const rows = await refundRowsOf(unit.tx, platformOrderId)
  const whole = (await paymentOf(unit.tx, platformOrderId))?.charged ?? null
  const columns = {
    key,
    amount: amount ?? leftOf(rows, whole),
    foreignAmount,
    awaitsRead: isPlatformRefund(key),
    createdAt: unit.now
  }
  if (rowsOf(rows, key).some(isMarked)) return undefined
  const asked = refundIdOf(report) && !isMark(key) ? requestOf(rows, { key, amount, now: unit.now }) : undefined
  if (!asked) return addRefund(unit, { ...columns, platformOrderId, state: 'counted' })
  await moveRefund(unit, asked, 'count', columns)
  const isLess = toCents(columns.amount ?? '0') + ROUNDING_CENTS < toCents(asked.amount ?? '0')
  return { ...asked, ...columns, askedPart: asked.askedPart && !isLess, state: 'counted' }
}

/** How long the platform's answer to a request may take. After that, the process that waited for it has died. */
const ANSWERED_WITHIN = 2 * MINUTE

/**
 * The console's request that a report belongs to, by the refund's id, or by the amount if the answer was lost.
 * @throws `EventWaits` while the answer with the id may still come
 */
function requestOf(
  rows: readonly RefundRow[],
  { key, amount, now }: { key: string; amount: string | null; now: Date }
): RefundRow | undefined {
  const named = rows.find(row => row.key === key)
  if (named) return hasNoResult(named) || named.state === 'refused' ? named : undefined
  const open = rows.filter(({ state }) => state === 'asked' || state === 'unanswered')
  if (open.some(row => row.state === 'asked' && row.createdAt.getTime() > now.getTime() - ANSWERED_WITHIN))
    throw new EventWaits('the platform has yet to answer a request for a refund')
  return open.find(row => {
    const difference = toCents(row.amount ?? '0') - toCents(amount ?? '0')
    return difference <= ROUNDING_CENTS && difference >= -ROUNDING_CENTS
  })
}

/** Reads and locks the facts for judging a change of a payment's refunds; null if the payment is unknown. */
export async function gatherBalance(
  unit: Unit,
  { secrets }: Pick<Refunding, 'secrets'>,
  platformOrderId: string
): Promise<Balance | null> {
  const { tx, now } = unit
  const known = await paymentOf(tx, platformOrderId)
  if (!known) return null
  const order = known.orderId === null ? null : ((await lockOrder(unit, known.orderId)) ?? null)
  const [payment = known] = await tx.select().from(payments).where(eq(payments.id, known.id)).for('update')
  return balanceOf({ tx, now, secrets }, payment, order, await refundRowsOf(tx, platformOrderId))
}

/** The same facts from rows that were already read. */
export async function balanceOf<Refund>(
  { tx, now, secrets }: { tx: Executor; now: Date } & Pick<Refunding, 'secrets'>,
  payment: PaymentRow,
  order: OrderRow | null,
  refunds: readonly Refund[]
): Promise<Balance<Refund>> {
  const isRenewal = order && payment.kind === 'renewal'
  return {
    now,
    payment,
    order,
    refunds,
    otherDays: isRenewal ? await daysOfOtherPayments(tx, order, payment.id) : 0,
    soldDays: isRenewal ? await termOf(tx, order.variantId) : 0,
    graceHours: (await readSettings(tx, secrets)).grace_hours
  }
}

/** The payment and the locked order of a platform order, and their names for an event. */
export async function paymentAndOrderOf(unit: Unit, platformOrderId: string) {
  const payment = await paymentOf(unit.tx, platformOrderId)
  const order = payment?.orderId ? await lockOrder(unit, payment.orderId) : undefined
  return { payment, order, ...subjectIn(payment, order, platformOrderId) }
}

function subjectIn(payment: PaymentRow | undefined, order: OrderRow | null | undefined, platformOrderId: string) {
  const name = payment?.platformOrderNumber ?? platformOrderId
  return {
    about: { platformOrderId, platformOrderName: name, orderPublicId: order?.publicId ?? null },
    detail: { order_id: order?.publicId ?? 'unknown', platform_order: name }
  }
}

type Applied = { decision: RefundDecision; row: RefundRow } & Pick<RefundReport, 'reason' | 'byHand'>

/** Writes the effects of a refund or dispute. */
async function applyRefund(
  unit: Unit,
  ctx: Refunding,
  { payment, order, refunds, graceHours, otherDays, now }: Balance,
  { decision, row, reason, byHand }: Applied
): Promise<EventResult> {
  const { tx } = unit
  const { refundedAmount, amount } = decision
  const isAll = decision.do !== 'take_part' && decision.do !== 'note_part'
  const refundedAt = isAll ? now : null
  await tx.update(payments).set({ refundedAmount, refundedAt }).where(eq(payments.id, payment.id))
  unit.publish('platform_event')
  if (!order) return { outcome: 'refunded' }
  const { platformOrderNumber, charged } = payment
  const disputed = reason === 'chargeback'
  const before = sumRefunds(counted(refunds.filter(({ id }) => id !== row.id)), payment.charged).sum
  const returned = fromCents(decision.back - before)
  const { detail: subject } = subjectIn(payment, order, payment.platformOrderId)
  const detail = { ...subject, amount: returned, ...(disputed ? { reason } : {}) }
  const given = { amount, reported: returned, platformOrderNumber, reason }
  if (isAll) await takeBackEarnings(unit, ctx, payment, order)
  const handed = byHand ? `${byHand} ${payment.currency}` : row.input?.byHand
  const tell = (ended: RefundEffect) =>
    mailRefunded(unit, ctx, order, payment, { ended, disputed, byHand: handed, amount: returned, key: row.key })
  switch (decision.do) {
    case 'note_part':
      await tell('part')
      return { outcome: 'refunded', detail }
    case 'take_part': {
      await tell('part')
      await partlyRefundOrder(unit, order, given)
      await lockEarners(tx, order.userId)
      await takeBackPart(unit, payment.platformOrderId, keptOf({ amount: payment.amount, refundedAmount }))
      // Once the rest is made, all went back. If it fails, reading the order reports that.
      const coming = refunds.filter(one => one.state === 'counted' || (one.state === 'answered' && one.awaitsRead))
      if (sumRefunds(coming, payment.charged).all) return { outcome: 'refunded', detail }
      // The administrator who requested this part has decided that the lease goes on.
      const by = disputed || !row.askedPart ? null : row.askedBy
      return { outcome: 'partly_refunded', detail, ...(by !== null && { resolved: { resolution: 'refunded', by } }) }
    }
    case 'await_payment':
      await awaitPayment(unit, order, { ...given, reported: payment.charged })
      await tell('unpaid')
      return { outcome: 'refunded', detail }
    case 'end_lease': {
      await refundOrder(unit, order, given)
      await endDelivery(unit, [order.id])
      await tell(order.deliveredAt || order.deliveryNum > 0 ? 'yes' : 'undelivered')
      const unserved = await paidRenewals(unit, order.id)
      return unserved === null
        ? { outcome: 'refunded', detail }
        : { outcome: 'renewals_unserved', detail: { ...detail, amount: unserved } }
    }
    case 'take_term': {
      const lastAmount = await lastAmountOf(tx, order.id)
      const days = payment.days ?? order.proxyTime
      const taken = await takeBackTerm(unit, order, given, { days, paidDays: otherDays, graceHours, lastAmount })
      // This time comes back with the money. An administrator may have shortened the term before.
      const change = taken.days > 0 ? { termTaken: true, ...taken } : { termTaken: false }
      await tx.update(payments).set(change).where(eq(payments.id, payment.id))
      const left = await lockOrder(unit, order.id)
      if (left) await expireShortened(unit, ctx, left, graceHours)
      await tell('no')
      return { outcome: 'refunded', detail }
    }
    case 'close':
      await recordEvent(unit, order.id, 'payment_refunded', {
        platform_order: platformOrderNumber,
        amount: charged,
        reason
      })
      unit.publish('order', order.id, order.userId)
      await tell(payment.accepted ? 'no' : 'uncounted')
      return { outcome: 'refunded', detail }
  }
}

/** Takes back what a payment earned. If it had rewarded an invitation, another payment of the user does so instead. */
async function takeBackEarnings(unit: Unit, ctx: Refunding, payment: PaymentRow, order: OrderRow): Promise<void> {
  await lockEarners(unit.tx, order.userId)
  await takeBackForPayment(unit, payment.platformOrderId)
  const standing = await standingPayment(unit, order.userId)
  if (standing === null) return
  const settings = await readSettings(unit.tx, ctx.secrets)
  await rewardInvitation(unit, { userId: order.userId, paymentId: standing, settings })
}

/** A payment uses its promo codes if any of what it bought was served, or its money is kept or may come back. */
export async function countCodes(
  unit: Unit,
  { payment, order, refunds }: Pick<Balance, 'payment' | 'order' | 'refunds'>
): Promise<void> {
  const isKept = !isRefundedForGood(refunds, payment.charged)
  const { accepted, kind, platformOrderNumber, platformOrderId } = payment
  const isServed = (by: OrderRow) =>
    kind === 'renewal' ? wasRenewalServed(unit.tx, by.id, platformOrderNumber) : wasDelivered(unit.tx, by)
  await setCouponUse(unit, platformOrderId, isKept || (accepted && order !== null && (await isServed(order))))
}
