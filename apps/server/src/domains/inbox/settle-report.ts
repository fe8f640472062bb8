import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import { startOf } from '../../infra/text.ts'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import type { EventResult } from '../commerce/index.ts'
import { lockOrder, ourVariants } from '../orders/index.ts'
import { lineOf, linesOf, paymentOf, settlePayment } from '../payments/index.ts'

/**
 * `orders/paid`: settles the payment. If the buyer paid for more of our plans and rules than the order has, it counts all
 * the same, but nothing is delivered for the rest, so an administrator decides.
 */
export async function settleReport(unit: Unit, paid: PaidOrder, ctx: AppContext): Promise<EventResult> {
  await lock(unit.tx, 'platformOrder', paid.id)
  const before = await paymentOf(unit.tx, paid.id)
  const result = await settlePayment(unit, paid, ctx)
  const payment = await paymentOf(unit.tx, paid.id)
  const isNews = !before?.accepted || before.charged !== payment?.charged
  if (!payment?.accepted || !payment.orderId || !isNews) return result
  if (result.outcome !== 'settled' && result.outcome !== 'ignored') return result
  const order = await lockOrder(unit, payment.orderId)
  const lines = await paidLines(unit, paid)
  const count = lines.reduce((sum, { quantity }) => sum + quantity, 0)
  if (!order || count <= order.quantity * (1 + order.rules.length)) return result
  const named = lines.map(({ title, quantity }) => `${title}: ${quantity}`).join(', ')
  const detail = {
    order_id: order.publicId,
    platform_order: payment.platformOrderNumber,
    count: order.quantity,
    lines: startOf(named, 300)
  }
  return { ...result, outcome: 'lines_more', detail }
}

/** The lines for plans and rules of ours that are left after edits of the platform's order. */
async function paidLines({ tx }: Unit, paid: PaidOrder) {
  const ours = await ourVariants(
    tx,
    linesOf(paid).map(({ variant }) => variant)
  )
  return paid.line_items.filter(({ variant_id }) => ours.has(variant_id ?? '')).map(lineOf)
}
