import { fromCents, toCents } from '@netlet/contract'
import type { Unit } from '../../infra/command.ts'
import { and, eq, inArray } from '../../infra/db/drizzle.ts'
import { lock } from '../../infra/db/locks.ts'
import {
  type ChangedRefund,
  type DoubtfulRefund,
  type EventResult,
  type FurtherOutcome,
  isCancelledThere
} from '../commerce/index.ts'
import { platformEvents } from '../commerce/tables.ts'
import {
  addRefund,
  applyReturn,
  atOwnInstant,
  counted,
  recordRefund,
  hasNoResult,
  isMarked,
  keyAfter,
  moveRefund,
  paymentAndOrderOf,
  pendingKey,
  type Refunding,
  refundRowsOf,
  type RefundRow,
  rowsOf,
  setRefundAmount,
  totalOf
} from '../payments/index.ts'
import { pendingRest } from './refund-differences.ts'

/**
 * The platform changed the amount of a reported refund. An increase is handled as a refund, a decrease as money that
 * came back. Does nothing if our rows have changed since the comparison: the next run compares again.
 */
export async function applyRefundChange(unit: Unit, changed: ChangedRefund, ctx: Refunding): Promise<EventResult> {
  const { order_id: platformOrderId, key, known, amount, foreign: foreignAmount = null } = changed
  await lock(unit.tx, 'platformOrder', platformOrderId)
  const { payment, about } = await paymentAndOrderOf(unit, platformOrderId)
  const rows = rowsOf(await refundRowsOf(unit.tx, platformOrderId), key)
  if (!payment || totalOf(counted(rows), payment.charged) !== toCents(known)) return { outcome: 'ignored', about }
  const more = amount === null ? null : toCents(amount) - toCents(known)
  if (more !== null && more < 0n) {
    const own = await atOwnInstant(unit, platformOrderId)
    await reverseRefund(
      own,
      counted(rows).filter(row => !isMarked(row)),
      { less: -more, next: keyAfter(rows, key) }
    )
    return { ...(await applyReturn(own, ctx, platformOrderId, 'refund_failed')), about }
  }
  const awaited = rows.find(hasNoResult)
  const rest = more === null ? 0n : pendingRest(awaited, more)
  const isPart = rest > 0n
  if (awaited && isPart) await splitPendingRefund(unit, awaited, { key, rest: fromCents(rest) })
  return recordRefund(unit, ctx, {
    platformOrderId,
    key: awaited && !(isPart && awaited.key !== key) ? awaited.key : keyAfter(rows, key),
    amount: more === null ? null : fromCents(more),
    foreignAmount,
    reason: 'refund'
  })
}

/** A part of a pending refund was made. The rest is still pending, or has failed. */
async function splitPendingRefund(
  unit: Unit,
  { id, key: awaited, platformOrderId, askedBy, askedPart }: RefundRow,
  { key, rest: amount }: { key: string; rest: string }
): Promise<void> {
  if (awaited !== key) await setRefundAmount(unit, { id }, amount)
  else
    await addRefund(unit, {
      key: pendingKey(key),
      platformOrderId,
      amount,
      askedBy,
      askedPart,
      state: 'answered',
      awaitsRead: true
    })
}

/** Records that a part of a refund came back, newest row first. @param next the key for a row that is split */
async function reverseRefund(
  unit: Unit,
  rows: readonly RefundRow[],
  { less, next: key }: { less: bigint; next: string }
): Promise<void> {
  let rest = less
  for (const row of rows.toReversed()) {
    if (rest <= 0n) return
    const { platformOrderId, createdAt } = row
    const cents = row.amount === null ? rest : toCents(row.amount)
    const reversedAt = unit.now
    if (cents <= rest) await moveRefund(unit, row, 'return', { reversedAt })
    else {
      await addRefund(unit, { key, platformOrderId, amount: fromCents(rest), state: 'returned', createdAt, reversedAt })
      await setRefundAmount(unit, row, fromCents(cents - rest))
    }
    rest -= cents
  }
}

/**
 * More counts as refunded than the platform's status allows, a refund failed or has no result, or a report has a second
 * outcome. An administrator decides.
 */
export async function reportDoubtfulRefund(
  unit: Unit,
  doubt: Omit<DoubtfulRefund, 'name'> | FurtherOutcome
): Promise<EventResult> {
  const { payment, order, about, detail } = await paymentAndOrderOf(unit, doubt.order_id)
  if ('outcome' in doubt) {
    const told = { ...detail, ...doubt.detail }
    // A payment of which only a part was taken has no row that names its order.
    const named = { platformOrderName: told.platform_order, orderPublicId: told.order_id }
    return { outcome: doubt.outcome, detail: told, about: payment ? about : { ...about, ...named } }
  }
  const { amount, status, days, key } = doubt
  if (days !== undefined) return { outcome: 'refund_stuck', detail: { ...detail, amount }, about }
  const isServed = payment?.accepted && order && order.state !== 'failed' && order.state !== 'refunded'
  if (key !== undefined && isServed && (await isCancelledQuietly(unit, doubt.order_id)))
    return { outcome: 'cancelled_delivered', detail, about }
  if (key !== undefined) return { outcome: 'refund_failed', detail: { ...detail, amount }, about }
  return { outcome: 'refund_doubtful', detail: { ...detail, amount, status }, about }
}

/** Was the platform's order cancelled while its refund was pending, so that no entry says so? */
async function isCancelledQuietly({ tx }: Unit, id: string): Promise<boolean> {
  const { platformOrderId, outcome } = platformEvents
  const told = and(eq(platformOrderId, id), inArray(outcome, ['cancelled', 'cancelled_delivered']))
  return (await isCancelledThere(tx, id)) && (await tx.$count(platformEvents, told)) === 0
}
