import { toCents } from '@netlet/contract'
import { eq } from 'drizzle-orm'
import { orderAttribute, type PaidOrder } from '../../integrations/shopify/index.ts'
import type { Unit } from '../../infra/command.ts'
import { lock } from '../../infra/db/locks.ts'
import { isDeleted } from '../accounts/index.ts'
import type { EventResult } from '../commerce/index.ts'
import { bringBack, failOrder, lockOrder, lockOrderByPublicId, note, type OrderRow } from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { freeCoupons, useCoupons } from '../rewards/index.ts'
import { readSettings } from '../settings/index.ts'
import { purchaseProblem, renewalProblem } from './compare-payment.ts'
import { downToCents, isPaidBack, isUnpaid, sumRefunds } from './paid-order.ts'
import { isListed } from './foreign-refunds.ts'
import { keyAfter, rowsOf } from './refund-differences.ts'
import { isRefundUnderway } from './refund-underway.ts'
import { giveBack } from './refunds.ts'
import { addPayment, paymentOf, refundsOf, reportedAt, updatePayment, type PaymentRow } from './rows.ts'
import { purchaseTerm, settlePurchase, waitsForPayment } from './settle-purchase.ts'
import { daysOfRenewal, settleRenewal } from './settle-renewal.ts'
import { codesOf, type Settled, type Settling } from './settling.ts'
import { isPaidInTime, ourVariants } from './sold-today.ts'
import { paymentStateOf } from './states.ts'
import { mailPayer, tagFailed } from './tell.ts'
import { paymentRefunds, payments } from './tables.ts'

/**
 * Settles a payment that the platform reported, once however often it does so. Whatever happens to the money of one
 * platform order happens one after the other: its payment, its refunds, and what an administrator does with it.
 */
export async function settlePayment(unit: Unit, paid: PaidOrder, ctx: Settling): Promise<EventResult> {
  const named = orderAttribute(paid, 'order_id')
  const about = {
    platformOrderId: paid.id,
    platformOrderName: paid.name.slice(0, 100),
    orderPublicId: named !== null && /^[\w-]{1,40}$/.test(named) ? named : null
  }
  const result = await settle(unit, ctx, paid, named)
  return { ...result, about, customer: await customerOf(unit, about.orderPublicId) }
}

async function customerOf({ tx }: Unit, publicId: string | null): Promise<number | null> {
  if (publicId === null) return null
  const [order] = await tx.select({ userId: orders.userId }).from(orders).where(eq(orders.publicId, publicId))
  return order?.userId ?? null
}

async function settle(unit: Unit, ctx: Settling, paid: PaidOrder, named: string | null): Promise<EventResult> {
  const { tx } = unit
  if (isUnpaid(paid)) return { outcome: 'not_paid' }
  await lock(tx, 'platformOrder', paid.id)
  const known = await paymentOf(tx, paid.id)
  if (known) return judgeAgain(unit, ctx, paid, known)
  const settings = await readSettings(tx, ctx.secrets)
  const order = named ? await orderOf(unit, named) : undefined
  const renewal = orderAttribute(paid, 'renewal') === '1'
  if (isPaidBack(paid)) await notePaidBack(unit, paid)
  const payment = await addPayment(unit, paid, {
    orderId: order?.id ?? null,
    kind: renewal ? 'renewal' : 'purchase',
    settings,
    refunds: await refundsOf(tx, paid.id)
  })
  if (payment.refundedAt) {
    // The platform has counted what its codes took off, and counts that on.
    await useCoupons(unit, order?.userId ?? null, codesOf(paid))
    await freeCoupons(unit, paid.id)
    return paidBack(unit, order, payment)
  }
  if (!order) {
    // What its codes took off, they take off no more.
    await useCoupons(unit, null, codesOf(paid))
    // It names none, and has nothing of ours: a sale of something else.
    if (!named && !(await holdsOurs(unit, paid))) return { outcome: 'ignored' }
    tagFailed(unit, paid.id, 'No such order in the shop, or its account was deleted')
    mailPayer(unit, paid)
    return { outcome: 'unknown_order', detail: { order_id: named || 'missing' } }
  }
  return settleOn(unit, ctx, { order, paid, payment, settings })
}

/** Judges a payment, and does what it pays for, as the kind that it says it is. */
async function settleOn(unit: Unit, ctx: Settling, settled: Settled): Promise<EventResult> {
  const { paid, payment, settings } = settled
  const order = await bringBack(unit, settled.order)
  let result: EventResult
  if (payment.kind === 'renewal') {
    result = await settleRenewal(unit, ctx, {
      ...settled,
      order,
      problem: await renewalProblem(unit.tx, order, paid, settings)
    })
  } else {
    const inTime = isPaidInTime(order, paid, payment.createdAt)
    const problem = await purchaseProblem(unit.tx, order, paid, { settings, inTime })
    result = await settlePurchase(unit, ctx, {
      ...settled,
      order,
      problem,
      days: await purchaseTerm(unit, order, inTime)
    })
  }
  await useCoupons(unit, order.userId, codesOf(paid))
  return result.outcome === 'settled' ? withPartGivenBack(order, payment) : result
}

/** Does a payment that names no order bring one of our plans or rules? */
async function holdsOurs({ tx }: Unit, { line_items }: PaidOrder): Promise<boolean> {
  const ids = line_items.flatMap(({ variant_id, quantity, current_quantity }) =>
    variant_id && (current_quantity ?? quantity) > 0 ? [variant_id] : []
  )
  return (await ourVariants(tx, ids)).size > 0
}

/**
 * The platform tells again of a payment that is known. One that is held is judged by what the platform says of it now,
 * since its order may have been edited there meanwhile; whatever else is done with already.
 */
async function judgeAgain(unit: Unit, ctx: Settling, paid: PaidOrder, known: PaymentRow): Promise<EventResult> {
  const { tx } = unit
  const duplicate = { outcome: 'duplicate' } as const
  const at = reportedAt(paid)
  const isOld = at !== null && known.reportedAt !== null && at < known.reportedAt
  if (paymentStateOf(known) !== 'held' || isOld || isRefundUnderway(known, unit.now)) return duplicate
  if (at !== null) await tx.update(payments).set({ reportedAt: at }).where(eq(payments.id, known.id))
  if (isPaidBack(paid)) {
    const key = await nextKey(unit, paid, known)
    return key === null ? duplicate : giveBack(unit, ctx, { ...paidBackOf(paid), key, reason: 'cancelled' })
  }
  const refunds = await refundsOf(tx, paid.id)
  if (sumRefunds(refunds, downToCents(paid.total_price)).all) return duplicate
  const settings = await readSettings(tx, ctx.secrets)
  const order = await orderOfHeld(unit, paid, known)
  const renewal = orderAttribute(paid, 'renewal') === '1'
  const payment = await updatePayment(
    unit,
    paid,
    { id: known.id, orderId: order?.id ?? known.orderId, kind: renewal ? 'renewal' : 'purchase' },
    { settings, refunds }
  )
  if (!order) return duplicate
  if (renewal) {
    const waits =
      (await daysOfRenewal(tx, order, unit.now)) === null || (await renewalProblem(tx, order, paid, settings)) !== null
    return waits ? duplicate : settleOn(unit, ctx, { order, paid, payment, settings })
  }
  if (order.paidAt) {
    const inTime = isPaidInTime(order, paid, payment.createdAt)
    const problem = await purchaseProblem(tx, order, paid, { settings, inTime })
    const standsOn = order.platformOrderId === payment.platformOrderId
    // It waits as before, with what is missing now.
    if (problem && standsOn && order.state === 'failed') await failOrder(unit, order, problem)
    if (problem || !(await waitsForPayment(unit, order))) return duplicate
  }
  return settleOn(unit, ctx, { order, paid, payment, settings })
}

/** The order that a held payment was for; one that named none may have been mended on the platform. */
async function orderOfHeld(unit: Unit, paid: PaidOrder, known: PaymentRow): Promise<OrderRow | undefined> {
  if (known.orderId === null) {
    const named = orderAttribute(paid, 'order_id')
    return named ? orderOf(unit, named) : undefined
  }
  const order = await lockOrder(unit, known.orderId)
  return order && !(await isDeleted(unit.tx, order.userId)) ? order : undefined
}

const paidBackOf = ({ id, cancelled_at }: PaidOrder) => ({
  platformOrderId: id,
  key: cancelled_at ? `cancellation:${id}` : `reported:${id}`,
  amount: null
})

/**
 * The key by which all of a held payment is given back now: one of its own each time that it came back meanwhile.
 * @returns null where this was counted already, or is not said later than what was
 */
async function nextKey({ tx }: Unit, paid: PaidOrder, { reportedAt: last }: PaymentRow): Promise<string | null> {
  const { platformOrderId, key } = paidBackOf(paid)
  const all = await tx.select().from(paymentRefunds).where(eq(paymentRefunds.platformOrderId, platformOrderId))
  const rows = rowsOf(all, key)
  if (rows.length === 0) return key
  const at = reportedAt(paid)
  const isNews = at !== null && (last === null || at > last)
  return isNews && rows.every(({ reversedAt }) => reversedAt) ? keyAfter(rows, key) : null
}

/** The platform says that all of it was given back: as if its refund had come before. */
async function notePaidBack(unit: Unit, paid: PaidOrder): Promise<void> {
  const back = paidBackOf(paid)
  await unit.tx
    .insert(paymentRefunds)
    .values({ ...back, awaitsDecision: isListed(back.key), createdAt: unit.now })
    .onConflictDoNothing({ target: paymentRefunds.key })
}

/** A part of it was given back before it settled: an administrator decides whether its lease goes on. */
function withPartGivenBack(order: OrderRow, { platformOrderNumber, refundedAmount: amount }: PaymentRow): EventResult {
  if (toCents(amount) === 0n) return { outcome: 'settled' }
  return {
    outcome: 'partly_refunded',
    detail: { order_id: order.publicId, platform_order: platformOrderNumber, amount }
  }
}

/** The order that a payment names, locked. Nobody waits any more for what a deleted user ordered. */
async function orderOf(unit: Unit, publicId: string): Promise<OrderRow | undefined> {
  const order = await lockOrderByPublicId(unit, publicId)
  if (!order) return undefined
  return (await isDeleted(unit.tx, order.userId)) ? undefined : order
}

/** Its money was given back before it could be delivered: it settles nothing. */
async function paidBack(unit: Unit, order: OrderRow | undefined, payment: PaymentRow): Promise<EventResult> {
  if (!order) return { outcome: 'paid_back' }
  const { platformOrderNumber: platform_order, charged: amount } = payment
  await note(unit, order.id, 'payment_refunded', { platform_order, amount })
  unit.publish('order', order.id, order.userId)
  return { outcome: 'paid_back', detail: { order_id: order.publicId, platform_order } }
}
