import { fromCents, toCents } from '@netlet/contract'
import { asc, eq, max } from 'drizzle-orm'
import type { DisputeEvent } from '../../integrations/shopify/index.ts'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import type { EventResult } from '../commerce/index.ts'
import {
  bringBack,
  isServed,
  lockOrder,
  note,
  restoreOrder,
  restorePart,
  restoreTerm,
  type OrderRow
} from '../orders/index.ts'
import { lockEarners, restoreForPayment, useCouponsAgain, type Money } from '../rewards/index.ts'
import { readSettings } from '../settings/index.ts'
import { grantPoints } from './accept.ts'
import { downToCents, sumRefunds } from './paid-order.ts'
import { decidedAt, lastDecidedAt, LOST, WON } from './dispute-decisions.ts'
import { addForeign, askForRefunds, awaitDecision, subjectOf } from './foreign-refunds.ts'
import { keyAfter, rowsOf } from './refund-differences.ts'
import { giveBack, isForeign, tellOfDispute, type Refunding } from './refunds.ts'
import { givenBackOf, keptOf, lastAmountOf, paymentOf, refundsOf, type PaymentRow } from './rows.ts'
import { paymentRefunds, payments } from './tables.ts'

/** States of a dispute in which the buyer's bank holds the money. */
const TAKEN = new Set(['needs_response', 'under_review', ...LOST])

/**
 * `disputes/create`, `disputes/update`: a chargeback takes the money when it is opened; an inquiry takes none. Of a win and a loss
 * the later one counts, by the platform's time.
 */
export async function disputePayment(unit: Unit, dispute: DisputeEvent, ctx: Refunding): Promise<EventResult> {
  if (dispute.order_id === null) return { outcome: 'ignored' }
  const platformOrderId = dispute.order_id
  await lock(unit.tx, 'platformOrder', platformOrderId)
  const { about, detail } = await subjectOf(unit, platformOrderId)
  if (dispute.type === 'chargeback' && TAKEN.has(dispute.status)) {
    const key = await keyOfLoss(unit, platformOrderId, dispute)
    if (key === null) return { outcome: 'duplicate', about }
    if (dispute.amount && (await isForeign(unit, ctx, platformOrderId, [dispute])))
      return disputeForeign(unit, { platformOrderId, key, money: `${dispute.amount} ${dispute.currency}` })
    const amount = dispute.amount ? downToCents(dispute.amount) : null
    return giveBack(unit, ctx, { platformOrderId, key, amount, reason: 'chargeback' })
  }
  if (dispute.type === 'inquiry' && TAKEN.has(dispute.status)) return { outcome: 'inquiry', detail, about }
  // An inquiry took nothing, and its end must not keep a chargeback that follows from taking.
  if (dispute.type !== 'chargeback' || dispute.status !== 'won') return { outcome: 'ignored', detail, about }
  return { ...(await winBack(unit, ctx, platformOrderId, dispute)), about }
}

const keyOf = ({ id }: DisputeEvent): string => `dispute:${id}`

/** The rows of one dispute, the oldest first: one, and one more each time that it was lost after it was won. */
const rowsOfDispute = async ({ tx }: Unit, platformOrderId: string, dispute: DisputeEvent) =>
  rowsOf(
    await tx
      .select()
      .from(paymentRefunds)
      .where(eq(paymentRefunds.platformOrderId, platformOrderId))
      .orderBy(asc(paymentRefunds.id)),
    keyOf(dispute)
  )

/**
 * The key under which a dispute takes the money now. One that was won takes it again where the platform decided later that it
 * is lost. What it said of the win is kept for some time only; it had decided so before it was told here.
 * @returns null where it has the money, or the win is the later word
 */
async function keyOfLoss(unit: Unit, platformOrderId: string, dispute: DisputeEvent): Promise<string | null> {
  const rows = await rowsOfDispute(unit, platformOrderId, dispute)
  const last = rows.at(-1)
  if (!last) return keyOf(dispute)
  const lostAt = LOST.has(dispute.status) ? decidedAt(dispute) : null
  if (!last.reversedAt || lostAt === null) return null
  const wonAt = (await lastDecidedAt(unit.tx, { platformOrderId, id: dispute.id }, WON)) ?? last.reversedAt
  return lostAt > wonAt ? keyAfter(rows, keyOf(dispute)) : null
}

/**
 * A dispute in the buyer's currency cannot be compared with its payment: it ends nothing, counts for nothing, and holds the
 * payment. Nobody reads disputes from the platform, so an administrator decides, once for each (`countAsAll`,
 * `releaseForeign`), or the dispute is won.
 */
async function disputeForeign(
  unit: Unit,
  { platformOrderId, key, money }: { platformOrderId: string; key: string; money: string }
): Promise<EventResult> {
  const { about, detail } = await subjectOf(unit, platformOrderId)
  if (!(await addForeign(unit, { platformOrderId, key, money }))) return { outcome: 'duplicate', about }
  await tellOfDispute(unit, { key, money, payment: about.platformOrderName, order: about.orderPublicId ?? undefined })
  return { outcome: 'partly_refunded', detail: { ...detail, amount: money, reason: 'chargeback', key }, about }
}

/**
 * The money of a dispute came back: what it took is undone, once, whether its opening was told before or comes later. The
 * books are as they were; a lease that has ended stays so until an administrator reopens it.
 */
async function winBack(
  unit: Unit,
  ctx: Refunding,
  platformOrderId: string,
  dispute: DisputeEvent
): Promise<EventResult> {
  const own = await atOwnInstant(unit, platformOrderId)
  const { tx, now } = own
  const last = (await rowsOfDispute(unit, platformOrderId, dispute)).at(-1)
  if (last?.reversedAt) return { outcome: 'duplicate' }
  const wonAt = decidedAt(dispute)
  const lostAt = await lastDecidedAt(tx, { platformOrderId, id: dispute.id }, LOST)
  if (last && wonAt && lostAt && lostAt > wonAt) return { outcome: 'duplicate' }
  const key = last?.key ?? keyOf(dispute)
  const back = { reversedAt: now, foreignAmount: null }
  if (last) await tx.update(paymentRefunds).set(back).where(eq(paymentRefunds.key, key))
  else await tx.insert(paymentRefunds).values({ ...back, key, platformOrderId, amount: '0.00', createdAt: now })
  // A payment that it held is judged again, and refunds that it hid are counted.
  askForRefunds(unit, platformOrderId)
  await awaitDecision(unit, key)
  return comeBack(own, ctx, platformOrderId, 'dispute_won')
}

/**
 * The unit with a later instant where other money of the same platform order came back in this millisecond: by the instant is told
 * which level points a money's going took (`givenBackFor`).
 */
export async function atOwnInstant(unit: Unit, platformOrderId: string): Promise<Unit> {
  const [last] = await unit.tx
    .select({ at: max(paymentRefunds.reversedAt) })
    .from(paymentRefunds)
    .where(eq(paymentRefunds.platformOrderId, platformOrderId))
  return last?.at && last.at >= unit.now ? { ...unit, now: new Date(last.at.getTime() + 1) } : unit
}

/** What follows where money that counted as given back is the shop's again: the caller has written down that it came back. */
export async function comeBack(
  unit: Unit,
  ctx: Refunding,
  platformOrderId: string,
  reason: 'dispute_won' | 'refund_failed'
): Promise<EventResult> {
  const { tx } = unit
  const known = await paymentOf(tx, platformOrderId)
  if (!known) return { outcome: 'ignored' }
  const locked = known.orderId === null ? undefined : await lockOrder(unit, known.orderId)
  const [payment = known] = await tx.select().from(payments).where(eq(payments.id, known.id)).for('update')
  const back = sumRefunds(await refundsOf(tx, platformOrderId), payment.charged)
  const refundedAmount = givenBackOf(payment.amount, back.sum)
  // It had taken nothing, or all of the money was given back by other means as well.
  if (back.all || (!payment.refundedAt && refundedAmount === payment.refundedAmount)) return { outcome: 'ignored' }
  await tx
    .update(payments)
    .set({ refundedAmount, refundedAt: null, termTaken: false, takenTime: null })
    .where(eq(payments.id, payment.id))
  const order = locked && (await bringBack(unit, locked))
  unit.publish('platform_event')
  const amount = fromCents(toCents(payment.refundedAmount) - toCents(refundedAmount))
  const { platformOrderNumber } = payment
  const detail = { order_id: order?.publicId ?? 'unknown', platform_order: platformOrderNumber, amount }
  const served = order !== undefined && (await restore(unit, ctx, order, { payment, amount, reason }))
  if (reason === 'refund_failed') return { outcome: reason, detail: { ...detail, ...(served ? {} : LEASE_ENDED) } }
  // Its order was refunded meanwhile: the renewal pays for nothing.
  const unserved = order?.state === 'refunded' && payment.kind === 'renewal' && payment.accepted
  return { outcome: served ? 'restored' : unserved ? 'renewals_unserved' : 'dispute_won', detail }
}

const LEASE_ENDED = { lease: 'ended' }

/** All money of a platform order that was given back, with what of it came back. */
const moneysOf = (db: Executor, platformOrderId: string): Promise<Money[]> =>
  db
    .select({ takenAt: paymentRefunds.createdAt, reversedAt: paymentRefunds.reversedAt })
    .from(paymentRefunds)
    .where(eq(paymentRefunds.platformOrderId, platformOrderId))

type Restored = { payment: PaymentRow; amount: string; reason: string }

/** @returns whether the order goes on: otherwise an administrator decides what becomes of it */
async function restore(
  unit: Unit,
  ctx: Refunding,
  order: OrderRow,
  { payment, amount, reason }: Restored
): Promise<boolean> {
  const { accepted, kind, termTaken, days, takenTime, platformOrderId, platformOrderNumber } = payment
  const back = { amount, platformOrderNumber, reason }
  const goesOn = accepted && isServed(order.state)
  if (accepted && !payment.refundedAt) await restorePart(unit, order, back)
  if (accepted) await earnAgain(unit, ctx, order, platformOrderId)
  if (!payment.refundedAt) return goesOn
  await useCouponsAgain(unit, platformOrderId)
  const isPurchase = kind === 'purchase' && order.platformOrderId === platformOrderId
  if (isPurchase && order.state === 'refunded') await restoreOrder(unit, order, back, { accepted })
  else if (kind === 'renewal' && accepted)
    await restoreTerm(unit, order, back, {
      days: termTaken ? (days ?? order.proxyTime) : null,
      time: takenTime,
      lastAmount: await lastAmountOf(unit.tx, order.id)
    })
  else {
    await note(unit, order.id, 'payment_restored', { platform_order: platformOrderNumber, amount, reason: back.reason })
    unit.publish('order', order.id, order.userId)
  }
  return goesOn
}

/** What is kept of a payment by now has earned what it earns, also where a part was given back before it was settled. */
async function earnAgain(unit: Unit, ctx: Refunding, order: OrderRow, platformOrderId: string): Promise<void> {
  const payment = await paymentOf(unit.tx, platformOrderId)
  if (!payment) return
  await lockEarners(unit.tx, order.userId)
  await restoreForPayment(unit, platformOrderId, keptOf(payment), await moneysOf(unit.tx, platformOrderId))
  await grantPoints(unit, await readSettings(unit.tx, ctx.secrets), order, payment)
}
