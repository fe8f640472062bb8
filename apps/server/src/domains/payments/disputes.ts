import { fromCents, toCents } from '@netlet/contract'
import { eq, isNull } from 'drizzle-orm'
import type { DisputeEvent } from '../../integrations/shopify/index.ts'
import type { Unit } from '../../infra/command.ts'
import { lock } from '../../infra/db/locks.ts'
import type { EventResult } from '../commerce/index.ts'
import { isServed, lockOrder, note, restoreOrder, restorePart, restoreTerm, type OrderRow } from '../orders/index.ts'
import { lockEarners, restoreForPayment, rewardInvitation, useCouponsAgain } from '../rewards/index.ts'
import { readSettings } from '../settings/index.ts'
import { downToCents, sumRefunds } from './compare-payment.ts'
import { giveBack, type Refunding } from './refunds.ts'
import { givenBackOf, paymentOf, refundsOf, type PaymentRow } from './rows.ts'
import { paymentRefunds, payments } from './tables.ts'

/** States of a dispute in which the buyer's bank holds the money. */
const TAKEN = new Set(['needs_response', 'under_review', 'lost', 'accepted', 'charge_refunded'])

/** `disputes/create`, `disputes/update`: a chargeback takes the money when it is opened; an inquiry takes none. */
export async function disputePayment(unit: Unit, dispute: DisputeEvent, ctx: Refunding): Promise<EventResult> {
  if (dispute.order_id === null) return { outcome: 'ignored' }
  const platformOrderId = dispute.order_id
  const key = `dispute:${dispute.id}`
  await lock(unit.tx, 'platformOrder', platformOrderId)
  if (dispute.type === 'chargeback' && TAKEN.has(dispute.status)) {
    const payment = await paymentOf(unit.tx, platformOrderId)
    const amount =
      dispute.amount && (!payment || payment.currency === dispute.currency) ? downToCents(dispute.amount) : null
    return giveBack(unit, ctx, { platformOrderId, key, amount, reason: 'chargeback' })
  }
  const { about, detail } = await subjectOf(unit, platformOrderId)
  if (dispute.type === 'inquiry' && TAKEN.has(dispute.status)) return { outcome: 'inquiry', detail, about }
  // An inquiry took nothing, and its end must not keep a chargeback that follows from taking.
  if (dispute.type !== 'chargeback' || dispute.status !== 'won') return { outcome: 'ignored', detail, about }
  return { ...(await winBack(unit, ctx, { platformOrderId, key })), about }
}

async function subjectOf(unit: Unit, platformOrderId: string) {
  const payment = await paymentOf(unit.tx, platformOrderId)
  const order = payment?.orderId ? await lockOrder(unit, payment.orderId) : undefined
  const name = payment?.platformOrderNumber ?? platformOrderId
  return {
    about: { platformOrderId, platformOrderName: name, orderPublicId: order?.publicId ?? null },
    detail: { order_id: order?.publicId ?? 'unknown', platform_order: name }
  }
}

/**
 * The money of a dispute came back: what it took is undone, once, whether its opening was told before or comes later. The
 * books are as they were; a lease that has ended stays so until an administrator reopens it.
 */
async function winBack(
  unit: Unit,
  ctx: Refunding,
  { platformOrderId, key }: { platformOrderId: string; key: string }
): Promise<EventResult> {
  const { tx, now } = unit
  const reversed = await tx
    .insert(paymentRefunds)
    .values({ key, platformOrderId, amount: '0.00', reversedAt: now, createdAt: now })
    .onConflictDoUpdate({
      target: paymentRefunds.key,
      set: { reversedAt: now },
      setWhere: isNull(paymentRefunds.reversedAt)
    })
    .returning({ id: paymentRefunds.id })
  if (reversed.length === 0) return { outcome: 'duplicate' }
  const known = await paymentOf(tx, platformOrderId)
  if (!known) return { outcome: 'ignored' }
  const order = known.orderId === null ? undefined : await lockOrder(unit, known.orderId)
  const [payment = known] = await tx.select().from(payments).where(eq(payments.id, known.id)).for('update')
  const back = sumRefunds(await refundsOf(tx, platformOrderId), payment.charged)
  const refundedAmount = givenBackOf(payment.amount, back.sum)
  // It had taken nothing, or all of the money was given back by other means as well.
  if (back.all || (!payment.refundedAt && refundedAmount === payment.refundedAmount)) return { outcome: 'ignored' }
  await tx
    .update(payments)
    .set({ refundedAmount, refundedAt: null, termTaken: false, ...(payment.accepted ? {} : { ignoredAt: null }) })
    .where(eq(payments.id, payment.id))
  unit.publish('platform_event')
  const amount = fromCents(toCents(payment.refundedAmount) - toCents(refundedAmount))
  const { platformOrderNumber } = payment
  const detail = { order_id: order?.publicId ?? 'unknown', platform_order: platformOrderNumber, amount }
  const served = order !== undefined && (await restore(unit, ctx, order, payment, amount))
  return { outcome: served ? 'restored' : 'dispute_won', detail }
}

/** @returns whether the order goes on: otherwise an administrator decides what becomes of it */
async function restore(
  unit: Unit,
  ctx: Refunding,
  order: OrderRow,
  payment: PaymentRow,
  amount: string
): Promise<boolean> {
  const { accepted, kind, termTaken, days, platformOrderId, platformOrderNumber } = payment
  const back = { amount, platformOrderNumber, reason: 'dispute_won' }
  const goesOn = accepted && isServed(order.state)
  if (!payment.refundedAt) {
    if (accepted) await restorePart(unit, order, back)
    return goesOn
  }
  await useCouponsAgain(unit, platformOrderId)
  if (accepted) await earnAgain(unit, ctx, order.userId, payment)
  const isPurchase = kind === 'purchase' && order.platformOrderId === platformOrderId
  if (isPurchase && order.state === 'refunded') await restoreOrder(unit, order, back, { accepted })
  else if (kind === 'renewal' && accepted)
    await restoreTerm(unit, order, back, termTaken ? (days ?? order.proxyTime) : null)
  else {
    await note(unit, order.id, 'payment_restored', { platform_order: platformOrderNumber, amount, reason: back.reason })
    unit.publish('order', order.id, order.userId)
  }
  return goesOn
}

async function earnAgain(unit: Unit, ctx: Refunding, userId: number, payment: PaymentRow): Promise<void> {
  const { platformOrderId: paymentId, amount } = payment
  await lockEarners(unit.tx, userId)
  await restoreForPayment(unit, paymentId)
  if (toCents(amount) <= 0n) return
  await rewardInvitation(unit, { userId, paymentId, settings: await readSettings(unit.tx, ctx.secrets) })
}
