import { fromCents, toCents } from '@netlet/contract'
import type { Unit } from '../../infra/command.ts'
import type { EventResult } from '../commerce/index.ts'
import { addToPaid, restoreDeleted } from '../orders/index.ts'
import { returnMoney } from './apply-return.ts'
import { earnAgain, type Settling } from './apply.ts'
import { gatherBalance } from './give-back.ts'
import type { Facts } from './judge.ts'
import { lastAmountOf, recordPayment, type PaymentRow } from './rows.ts'

/**
 * The platform's order was edited, and the customer paid the rest. It earns points and coins and can be refunded. If
 * all that was known had been refunded, an administrator decides what the rest is for.
 */
export async function grow(unit: Unit, ctx: Settling, facts: Facts, known: PaymentRow): Promise<EventResult> {
  const payment = await recordPayment(unit, { ...facts, kind: known.kind })
  const balance = await gatherBalance(unit, ctx, known.platformOrderId)
  if (!balance) throw new Error(`there is no payment ${known.id}`)
  const order = balance.order && (await restoreDeleted(unit, balance.order))
  const more = fromCents(toCents(payment.amount) - toCents(known.amount))
  const isBack = known.refundedAt !== null
  if (order && known.accepted) {
    const lastAmount = await lastAmountOf(unit.tx, order.id)
    await addToPaid(unit, order, { more, lastAmount, ...(isBack ? { refunded: more } : {}) })
    if (!isBack) await earnAgain(unit, ctx, order, payment)
  }
  if (!isBack) return { outcome: 'ignored' }
  // The added money came back from a payment that was refunded whole.
  const refunded = { ...payment, refundedAmount: payment.amount, refundedAt: known.refundedAt }
  return returnMoney(unit, ctx, { ...balance, order, payment: refunded }, 'paid_more')
}
