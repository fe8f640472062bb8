import { ATTENTION, fromCents, toCents } from '@netlet/contract'
import { and, asc, eq, gt, isNull, ne, sql } from 'drizzle-orm'
import type { CancelledOrder, RefundEvent } from '../../integrations/shopify/index.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import type { AppContext } from '../../infra/context.ts'
import type { EventResult } from '../commerce/index.ts'
import { notifyAdmins } from '../accounts/index.ts'
import { endDelivery, expireTakenBack } from '../delivery/index.ts'
import {
  awaitPayment,
  bringBack,
  lockOrder,
  note,
  partlyRefundOrder,
  refundOrder,
  takeBackTerm,
  type GivenBack,
  type OrderRow
} from '../orders/index.ts'
import { orders } from '../orders/tables.ts'
import { freeCoupons, lockEarners, rewardInvitation, takeBackForPayment, takeBackPart } from '../rewards/index.ts'
import { readSettings } from '../settings/index.ts'
import { downToCents, sumRefunds } from './paid-order.ts'
import { decideAsAll, dropForeign, isListed, noteForeignRefund } from './foreign-refunds.ts'
import { isRequested, NO_REFUND } from './refund-underway.ts'
import { givenBackOf, keptOf, lastAmountOf, paymentOf, refundsOf, type PaymentRow } from './rows.ts'
import { paymentRefunds, payments } from './tables.ts'
import { mailRefunded, type Telling } from './tell.ts'

export type Refunding = Telling & Pick<AppContext, 'secrets'>

/** `orders/cancelled`: a paid order that is cancelled is money to give back, all of it. */
export const cancelPayment = (unit: Unit, cancelled: CancelledOrder, ctx: Refunding): Promise<EventResult> =>
  giveBack(unit, ctx, {
    platformOrderId: cancelled.id,
    key: `cancellation:${cancelled.id}`,
    amount: null,
    reason: 'cancelled'
  })

/**
 * `refunds/create`: what its successful transactions gave back. Goods that are returned without money are nothing. What is told
 * in the buyer's currency holds the payment until the platform was asked how much it is in the shop's.
 */
export async function refundPayment(unit: Unit, refund: RefundEvent, ctx: Refunding): Promise<EventResult> {
  const made = refund.transactions.filter(({ kind, status }) => kind === 'refund' && status === 'success')
  const cents = made.reduce((sum, { amount }) => sum + toCents(downToCents(amount)), 0n)
  const about = { platformOrderId: refund.order_id }
  if (cents <= 0n) return { outcome: 'ignored', about }
  await lock(unit.tx, 'platformOrder', refund.order_id)
  if (await isForeign(unit, ctx, refund.order_id, made)) {
    const money = made.map(({ amount, currency }) => `${amount} ${currency ?? ''}`.trim()).join(', ')
    return noteForeignRefund(unit, { ...about, refundId: refund.id, money: money.slice(0, 100) })
  }
  return giveBack(unit, ctx, {
    platformOrderId: refund.order_id,
    key: `refund:${refund.id}`,
    amount: fromCents(cents),
    reason: 'refund',
    refundId: refund.id
  })
}

/** Is any of this in another currency than that in which its payment is counted? */
export async function isForeign(
  { tx }: Unit,
  ctx: Refunding,
  platformOrderId: string,
  made: readonly { currency?: string | null | undefined }[]
): Promise<boolean> {
  const named = made.flatMap(({ currency }) => currency ?? [])
  if (named.length === 0) return false
  const payment = await paymentOf(tx, platformOrderId)
  const own = payment?.currency ?? (await readSettings(tx, ctx.secrets)).shop_currency
  return named.some(currency => currency !== own)
}

type Returned = {
  platformOrderId: string
  /** The platform's own name of it: the same one told twice gives back once. */
  key: string
  /** In the payment's currency; null: all that is left. */
  amount: string | null
  reason: 'refund' | 'cancelled' | 'chargeback'
  /** The platform's id of a refund that it reported. */
  refundId?: string
  /** The administrators know of this dispute. */
  isTold?: true
  /** An administrator had ignored this refund while its amount was not known. */
  wasIgnored?: boolean
}

/** Writes down that money was given back, once, also where its payment has not come yet, and does what follows from it. */
export async function giveBack(unit: Unit, ctx: Refunding, returned: Returned): Promise<EventResult> {
  const { platformOrderId, key, amount, refundId } = returned
  await lock(unit.tx, 'platformOrder', platformOrderId)
  const added = await unit.tx
    .insert(paymentRefunds)
    .values({ key, platformOrderId, amount, awaitsDecision: isListed(key), createdAt: unit.now })
    .onConflictDoNothing({ target: paymentRefunds.key })
    .returning({ id: paymentRefunds.id })
  if (added.length === 0) return { outcome: 'duplicate', about: { platformOrderId } }
  const wasIgnored = refundId !== undefined && (await dropForeign(unit, platformOrderId, refundId))
  return follow(unit, ctx, { ...returned, wasIgnored })
}

/**
 * An administrator decided about a foreign refund or dispute that it is all of its payment's money: what follows is what would
 * have followed, had the platform told so.
 */
export async function countAsAll(
  unit: Unit,
  ctx: Refunding,
  { platformOrderId, key }: { platformOrderId: string; key: string }
): Promise<EventResult> {
  await lock(unit.tx, 'platformOrder', platformOrderId)
  if (!(await decideAsAll(unit, key))) return { outcome: 'duplicate', about: { platformOrderId } }
  const reason = key.startsWith('dispute:') ? 'chargeback' : 'refund'
  return follow(unit, ctx, { platformOrderId, key, amount: null, reason, isTold: true })
}

/** What follows from money that was written down as given back. */
async function follow(unit: Unit, ctx: Refunding, returned: Returned): Promise<EventResult> {
  const { platformOrderId, key, amount } = returned
  const known = await paymentOf(unit.tx, platformOrderId)
  if (!known) return { outcome: 'refund_kept', about: { platformOrderId } }
  const order = known.orderId === null ? undefined : await lockOrder(unit, known.orderId)
  const about = {
    platformOrderId,
    platformOrderName: known.platformOrderNumber,
    orderPublicId: order?.publicId ?? null
  }
  if (returned.reason === 'chargeback' && !returned.isTold) {
    const money = `${amount ?? known.charged} ${known.currency}`
    await tellOfDispute(unit, { key, money, payment: known.platformOrderNumber, order: order?.publicId })
  }
  const result = await correct(unit, ctx, order, { known, returned })
  // What an administrator has to decide about is on the lists.
  if (order && result.outcome in ATTENTION && !result.resolved) await bringBack(unit, order)
  return { ...result, about }
}

/** The bank gives the shop some days to answer: nothing else of it waits for anybody. */
export const tellOfDispute = (
  unit: Unit,
  { key, money, payment, order }: { key: string; money: string; payment: string; order: string | undefined }
) =>
  notifyAdmins(unit, {
    words: 'dispute',
    params: { payment, money, order: order ?? '–' },
    key,
    cause: 'dispute'
  })

async function correct(
  unit: Unit,
  ctx: Refunding,
  order: OrderRow | undefined,
  { known, returned }: { known: PaymentRow; returned: Returned }
): Promise<EventResult> {
  const { tx, now } = unit
  const { reason, key, refundId } = returned
  const [payment = known] = await tx.select().from(payments).where(eq(payments.id, known.id)).for('update')
  if (payment.refundedAt) return { outcome: 'duplicate' }
  const back = sumRefunds(await refundsOf(tx, payment.platformOrderId), payment.charged)
  const refundedAmount = givenBackOf(payment.amount, back.sum)
  const amountBack = returned.amount ?? payment.charged
  const isAsked = reason === 'refund' && (await isRequested(unit, payment, { refundId, amount: amountBack }))
  const ended = isAsked || back.all ? NO_REFUND : {}
  await tx
    .update(payments)
    .set({ refundedAmount, refundedAt: back.all ? now : null, ...ended })
    .where(eq(payments.id, payment.id))
  if (!order) return { outcome: back.all ? 'refunded' : 'refund_kept' }
  unit.publish('platform_event')
  const { platformOrderNumber } = payment
  const given = {
    amount: fromCents(toCents(refundedAmount) - toCents(payment.refundedAmount)),
    platformOrderNumber,
    reason: returned.wasIgnored ? 'ignored_refund' : reason
  }
  if (back.all) return undo(unit, ctx, order, payment, given)
  const detail = detailOf(order, given)
  const part = { amount: amountBack, key }
  await mailRefunded(unit, ctx, order, payment, { ended: 'part', disputed: reason === 'chargeback', part })
  if (!payment.accepted) {
    const { reason: why, amount } = given
    if (returned.wasIgnored)
      await note(unit, order.id, 'partly_refunded', { platform_order: platformOrderNumber, amount, reason: why })
    return { outcome: 'refund_kept', detail }
  }
  await partlyRefundOrder(unit, order, given)
  await lockEarners(unit.tx, order.userId)
  await takeBackPart(unit, payment.platformOrderId, keptOf({ amount: payment.amount, refundedAmount }))
  // Whoever asked for it has decided that the lease goes on.
  const by = isAsked ? payment.refundRequestedBy : null
  return { outcome: 'partly_refunded', detail, ...(by === null ? {} : { resolved: { resolution: 'refunded', by } }) }
}

const detailOf = ({ publicId }: OrderRow, { platformOrderNumber, amount, reason }: GivenBack) => ({
  order_id: publicId,
  platform_order: platformOrderNumber,
  amount,
  ...(reason === 'chargeback' ? { reason } : {})
})

/** Takes back what a payment had bought and earned. */
async function undo(
  unit: Unit,
  ctx: Refunding,
  order: OrderRow,
  payment: PaymentRow,
  given: GivenBack
): Promise<EventResult> {
  const detail = detailOf(order, given)
  const disputed = given.reason === 'chargeback'
  await lockEarners(unit.tx, order.userId)
  await takeBackForPayment(unit, payment.platformOrderId)
  const isDelivered = payment.accepted && (order.deliveredAt !== null || order.deliveryNum > 0)
  if (!isDelivered) await freeCoupons(unit, payment.platformOrderId)
  const standing = await standingPayment(unit, order.userId)
  if (standing !== null) {
    const settings = await readSettings(unit.tx, ctx.secrets)
    await rewardInvitation(unit, { userId: order.userId, paymentId: standing, settings })
  }
  if (order.state === 'failed' && !payment.accepted && order.platformOrderId === payment.platformOrderId) {
    await awaitPayment(unit, order, { ...given, amount: payment.charged })
    await mailRefunded(unit, ctx, order, payment, { ended: 'unpaid', disputed })
    return { outcome: 'refunded', detail }
  }
  const isPurchase = payment.kind === 'purchase' && order.platformOrderId === payment.platformOrderId
  if (isPurchase && order.state !== 'refunded') {
    await refundOrder(unit, order, given)
    await endDelivery(unit, [order.id])
    await mailRefunded(unit, ctx, order, payment, { ended: 'yes', disputed })
    const unserved = await paidRenewals(unit, order.id)
    return unserved === null
      ? { outcome: 'refunded', detail }
      : { outcome: 'renewals_unserved', detail: { ...detail, amount: unserved } }
  }
  if (payment.kind === 'renewal' && payment.accepted) {
    const { grace_hours: graceHours } = await readSettings(unit.tx, ctx.secrets)
    const days = payment.days ?? order.proxyTime
    const taken = await takeBackTerm(unit, order, given, {
      days,
      paidDays: await paidDays(unit.tx, order),
      graceHours,
      lastAmount: await lastAmountOf(unit.tx, order.id)
    })
    // Where its money comes back, so does this time: an administrator may have shortened the time meanwhile.
    const change = taken.days > 0 ? { termTaken: true, days: taken.days, takenTime: taken.time } : { termTaken: false }
    await unit.tx.update(payments).set(change).where(eq(payments.id, payment.id))
    const left = await lockOrder(unit, order.id)
    if (left) await expireTakenBack(unit, ctx, left, graceHours)
  } else {
    const { platformOrderNumber: platform_order, reason } = given
    await note(unit, order.id, 'payment_refunded', { platform_order, amount: payment.charged, reason })
    unit.publish('order', order.id, order.userId)
  }
  await mailRefunded(unit, ctx, order, payment, { ended: payment.accepted ? 'no' : 'uncounted', disputed })
  return { outcome: 'refunded', detail }
}

/** The platform's id of the oldest payment of a user that counts, brought money, and was not given back. */
async function standingPayment({ tx }: Unit, userId: number): Promise<string | null> {
  const [row] = await tx
    .select({ platformOrderId: payments.platformOrderId })
    .from(payments)
    .innerJoin(orders, eq(orders.id, payments.orderId))
    .where(and(eq(orders.userId, userId), payments.accepted, isNull(payments.refundedAt), gt(payments.amount, '0')))
    .orderBy(asc(payments.id))
    .limit(1)
  return row?.platformOrderId ?? null
}

/** The days that those payments of an order gave that count and were not given back. @param but another payment than this */
export async function paidDays(db: Executor, { id, proxyTime }: OrderRow, but = 0): Promise<number> {
  const [row] = await db
    .select({ days: sql<number>`coalesce(sum(coalesce(${payments.days}, ${proxyTime}::int)), 0)::int` })
    .from(payments)
    .where(and(eq(payments.orderId, id), ne(payments.id, but), payments.accepted, isNull(payments.refundedAt)))
  return row?.days ?? 0
}

/** Renewals that count, and that nobody has given back. */
export const isPaidRenewal = and(eq(payments.kind, 'renewal'), payments.accepted, isNull(payments.refundedAt))

/** What renewals of an order brought that was not given back; null where there are none. */
async function paidRenewals({ tx }: Unit, orderId: number): Promise<string | null> {
  const [row] = await tx
    .select({ sum: sql<string | null>`sum(${payments.amount} - ${payments.refundedAmount})` })
    .from(payments)
    .where(and(eq(payments.orderId, orderId), isPaidRenewal))
  return row?.sum ?? null
}
