import type { MoneyReason } from '@netlet/contract'
import { fromCents } from '@netlet/contract/money'
import { eq, max } from '../../infra/db/drizzle.ts'
import type { Unit } from '../../infra/command.ts'
import type { EventResult } from '../commerce/index.ts'
import type { OrderRow } from '../orders/index.ts'
import { isServed, recordEvent, restoreDeleted, restoreOrder, restorePart, restoreTerm } from '../orders/index.ts'
import { updateEarnings } from './apply.ts'
import { countCodes, gatherBalance, type Refunding } from './refund-reports.ts'
import { judgeReturn, type Balance, type ReturnDecision } from './judge-refund.ts'
import { sumRefunds, type RefundRow } from './refund-rows.ts'
import { lastAmountOf, type PaymentRow } from './rows.ts'
import { paymentRefunds, payments } from './tables.ts'

/**
 * The unit at a later instant if other money of the platform order came back in the same millisecond. Rewards identify
 * by that instant which points a refund took (`pointsToRestore`).
 */
export async function atOwnInstant(unit: Unit, platformOrderId: string): Promise<Unit> {
  const [last] = await unit.tx
    .select({ at: max(paymentRefunds.reversedAt) })
    .from(paymentRefunds)
    .where(eq(paymentRefunds.platformOrderId, platformOrderId))
  return last?.at && last.at >= unit.now ? { ...unit, now: new Date(last.at.getTime() + 1) } : unit
}

type Reason = Extract<MoneyReason, 'dispute_won' | 'refund_failed' | 'paid_more'>

/** Applies the effects of refunded money that came back. The caller has recorded the return. */
export async function applyReturn(
  unit: Unit,
  ctx: Refunding,
  platformOrderId: string,
  reason: Exclude<Reason, 'paid_more'>
): Promise<EventResult> {
  const facts = await gatherBalance(unit, ctx, platformOrderId)
  return facts ? returnMoney(unit, ctx, facts, reason) : { outcome: 'ignored' }
}

/** `applyReturn` for facts that are gathered already. */
export async function returnMoney(unit: Unit, ctx: Refunding, facts: Balance, reason: Reason): Promise<EventResult> {
  const { payment, refunds } = facts
  const isBefore = ({ state, reversedAt }: RefundRow) => state === 'counted' || Number(reversedAt) === Number(unit.now)
  const before = sumRefunds(refunds.filter(isBefore), payment.charged).sum
  const decision = judgeReturn({ ...facts, before })
  if (decision.do === 'nothing') {
    await countCodes(unit, facts)
    return { outcome: 'ignored' }
  }
  const { refundedAmount, back } = decision
  const returned = fromCents(before - back)
  // The added money gives no time to a refunded renewal, so a refund of it takes none.
  const days = reason === 'paid_more' && payment.kind === 'renewal' ? { days: 0 } : {}
  await unit.tx
    .update(payments)
    .set({ refundedAmount, refundedAt: null, termTaken: false, takenTime: null, takenQuota: null, ...days })
    .where(eq(payments.id, payment.id))
  const order = facts.order && (await restoreDeleted(unit, facts.order))
  unit.publish('platform_event')
  const { platformOrderNumber: platform_order } = payment
  const detail = { order_id: order?.publicId ?? 'unknown', platform_order, amount: returned }
  if (order) await restore(unit, ctx, order, { payment, decision, reason, returned })
  await countCodes(unit, facts)
  if (reason === 'paid_more') return { outcome: 'partly_refunded', detail: { ...detail, amount: fromCents(back) } }
  const goesOn = order !== null && payment.accepted && isServed(order.state)
  if (reason === 'refund_failed')
    return { outcome: reason, detail: { ...detail, ...(goesOn ? {} : { lease: 'ended' }) } }
  // The order was refunded since, so the renewal pays for nothing.
  const unserved = order?.state === 'refunded' && payment.kind === 'renewal' && payment.accepted
  if (unserved)
    return { outcome: 'renewals_unserved', detail: { ...detail, amount: `${returned} ${payment.currency}` } }
  return { outcome: goesOn ? 'settled' : 'dispute_won', detail }
}

type Restored = { payment: PaymentRow; decision: ReturnDecision; reason: Reason; returned: string }

async function restore(unit: Unit, ctx: Refunding, order: OrderRow, restored: Restored): Promise<void> {
  const { payment, decision, reason, returned } = restored
  const { platformOrderNumber, accepted, takenTime: time, takenQuota: quota } = payment
  const back = { amount: decision.amount, reported: returned, platformOrderNumber, reason }
  if (decision.do === 'restore_part') await restorePart(unit, order, back)
  if (accepted) await updateEarnings(unit, ctx, order, { ...payment, refundedAmount: decision.refundedAmount })
  if (decision.do === 'restore_order') await restoreOrder(unit, order, back, { accepted })
  if (decision.do === 'restore_term') {
    const lastAmount = await lastAmountOf(unit.tx, order.id)
    await restoreTerm(unit, order, back, { days: decision.days, time, quota, lastAmount })
  }
  if (decision.do === 'note') {
    const detail = { platform_order: platformOrderNumber, amount: returned, reason }
    await recordEvent(unit, order.id, 'payment_restored', detail)
    unit.publish('order', order.id, order.userId)
  }
}
