import { fromCents, toCents } from '@netlet/contract'
import { asc, eq } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import { lock } from '../../infra/db/locks.ts'
import type { ChangedRefund, DoubtfulRefund, EventResult } from '../commerce/index.ts'
import { sumRefunds } from './paid-order.ts'
import { atOwnInstant, comeBack } from './disputes.ts'
import { subjectOf } from './foreign-refunds.ts'
import { countedOf, keyAfter, rowsOf } from './refund-differences.ts'
import { giveBack, type Refunding } from './refunds.ts'
import { paymentOf, refundsOf, type PaymentRow } from './rows.ts'
import { paymentRefunds } from './tables.ts'

/**
 * The platform counts a refund otherwise than when it was told: what is more of it is given back as any refund is, and what is
 * less came back. Nothing follows where the refund is another by now than when the two were compared: they are compared again.
 */
export async function changeRefund(unit: Unit, changed: ChangedRefund, ctx: Refunding): Promise<EventResult> {
  const { order_id: platformOrderId, key, known, amount } = changed
  await lock(unit.tx, 'platformOrder', platformOrderId)
  const payment = await paymentOf(unit.tx, platformOrderId)
  const all = await unit.tx
    .select()
    .from(paymentRefunds)
    .where(eq(paymentRefunds.platformOrderId, platformOrderId))
    .orderBy(asc(paymentRefunds.id))
  const rows = rowsOf(all, key)
  const next = keyAfter(rows, key)
  const { about } = await subjectOf(unit, platformOrderId)
  if (!payment || countedOf(rows, payment.charged) !== toCents(known)) return { outcome: 'duplicate', about }
  const more = amount === null ? null : toCents(amount) - toCents(known)
  if (more !== null && more < 0n) {
    const own = await atOwnInstant(unit, platformOrderId)
    await reverse(own, { rows: rows.filter(({ reversedAt }) => !reversedAt), less: -more, next })
    const back = await comeBack(own, ctx, platformOrderId, 'refund_failed')
    if (back.outcome !== 'ignored' || !(await isGoneByCancellation(unit, payment))) return { ...back, about }
    return doubtRefund(unit, { order_id: platformOrderId, amount: fromCents(-more), status: changed.status ?? '–' })
  }
  const [kind, refundId] = key.split(':')
  return giveBack(unit, ctx, {
    platformOrderId,
    key: next,
    amount: more === null ? null : fromCents(more),
    reason: 'refund',
    ...(kind === 'refund' && refundId !== undefined ? { refundId } : {})
  })
}

/** Does all of a payment count as given back since its order was cancelled, and for nothing else? */
async function isGoneByCancellation({ tx }: Unit, { platformOrderId, charged }: PaymentRow): Promise<boolean> {
  const refunds = await refundsOf(tx, platformOrderId)
  const others = refunds.filter(({ key }) => !key.startsWith('cancellation:'))
  return others.length < refunds.length && !sumRefunds(others, charged).all
}

type Row = typeof paymentRefunds.$inferSelect

/** Writes down that so much of a refund came back, of what was given back last first. @param next the key of a row that is split */
async function reverse(
  { tx, now }: Unit,
  { rows, less, next: key }: { rows: readonly Row[]; less: bigint; next: string }
): Promise<void> {
  let rest = less
  for (const { id, platformOrderId, amount, createdAt } of rows.toReversed()) {
    if (rest <= 0n) return
    const of = amount === null ? rest : toCents(amount)
    if (of <= rest) await tx.update(paymentRefunds).set({ reversedAt: now }).where(eq(paymentRefunds.id, id))
    else {
      const back = { key, platformOrderId, amount: fromCents(rest), createdAt, reversedAt: now }
      await tx.insert(paymentRefunds).values(back)
      await tx
        .update(paymentRefunds)
        .set({ amount: fromCents(of - rest) })
        .where(eq(paymentRefunds.id, id))
    }
    rest -= of
  }
}

/**
 * More counts as given back than the platform's status allows for, or a refund failed of an order that was cancelled: an
 * administrator looks at it.
 */
export async function doubtRefund(
  unit: Unit,
  { order_id, amount, status }: Omit<DoubtfulRefund, 'name'>
): Promise<EventResult> {
  const { about, detail } = await subjectOf(unit, order_id)
  return { outcome: 'refund_doubtful', detail: { ...detail, amount, status }, about }
}
