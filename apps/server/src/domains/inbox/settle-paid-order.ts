import type { Params } from '@netlet/contract'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import { startOf } from '../../infra/text.ts'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import { type EventResult, isIgnoredThere, storeFurther } from '../commerce/index.ts'
import { currentTerms, lockOrder, ourVariants } from '../orders/index.ts'
import { lineOf, linesOf, type PaymentRow, paymentOf, settlePayment } from '../payments/index.ts'

/**
 * `orders/paid`: settles the payment. If the buyer paid for more of our plans and rules than the order has, or for others,
 * it counts all the same, but nothing is delivered for them, so an administrator decides.
 */
export async function settlePaidOrder(unit: Unit, paid: PaidOrder, ctx: AppContext): Promise<EventResult> {
  await lock(unit.tx, 'platformOrder', paid.id)
  const before = await paymentOf(unit.tx, paid.id)
  const result = await settlePayment(unit, paid, ctx)
  const payment = await paymentOf(unit.tx, paid.id)
  if (before?.refundedAt || (before?.accepted && before.charged === payment?.charged)) return result
  if (result.outcome !== 'settled' && result.outcome !== 'ignored') {
    await storeLinesMore(unit, paid)
    return result
  }
  const detail = payment && (await findLinesMore(unit, paid, payment, { isEdited: before?.accepted === true }))
  return detail ? { ...result, outcome: 'lines_more', detail } : result
}

type Handler<Event> = (unit: Unit, event: Event, ctx: AppContext) => Promise<EventResult>

/** A handler of later reports about a payment, which ignores those about a payment for other goods of the platform. */
export const unlessForOthers =
  <Event extends { id: string } | { order_id: string | null }>(handle: Handler<Event>): Handler<Event> =>
  async (unit, event, ctx) => {
    const platformOrderId = 'order_id' in event ? event.order_id : event.id
    if (platformOrderId === null) return { outcome: 'ignored' }
    await lock(unit.tx, 'platformOrder', platformOrderId)
    const isOurs = (await paymentOf(unit.tx, platformOrderId)) || !(await isIgnoredThere(unit.tx, platformOrderId))
    return isOurs ? handle(unit, event, ctx) : { outcome: 'ignored', about: { platformOrderId } }
  }

/** Stores an event for paid lines that the order does not have, once, beside another outcome or a decision. */
export async function storeLinesMore(unit: Unit, paid: PaidOrder): Promise<void> {
  const payment = await paymentOf(unit.tx, paid.id)
  const detail = payment && (await findLinesMore(unit, paid, payment, { isEdited: false }))
  if (detail)
    await storeFurther(unit, `lines:${paid.id}:${payment.charged}`, {
      order_id: paid.id,
      outcome: 'lines_more',
      detail
    })
}

/**
 * The lines for plans and rules of ours that are left after edits of the platform's order, if they are too many, or if
 * an edit exchanged some for others. A payment that an administrator applied may be for others.
 */
async function findLinesMore(
  unit: Unit,
  paid: PaidOrder,
  payment: PaymentRow,
  { isEdited }: { isEdited: boolean }
): Promise<Params | null> {
  const order = payment.accepted && payment.orderId ? await lockOrder(unit, payment.orderId) : undefined
  if (!order) return null
  const named = linesOf(paid).map(({ variant }) => variant)
  const ours = await ourVariants(unit.tx, named)
  const sold = isEdited ? (await currentTerms(unit.tx, order)).lines : []
  const its = new Set([...order.lines, ...sold].map(({ variant }) => variant))
  const lines = paid.line_items.filter(({ variant_id }) => ours.has(variant_id ?? '')).map(lineOf)
  const count = lines.reduce((sum, { quantity }) => sum + quantity, 0)
  const isExchanged = isEdited && named.some(variant => ours.has(variant) && !its.has(variant))
  if (!isExchanged && count <= order.quantity * (1 + order.rules.length)) return null
  const left = lines.filter(({ quantity }) => quantity > 0)
  return {
    order_id: order.publicId,
    platform_order: payment.platformOrderNumber,
    count: order.quantity,
    lines: startOf(left.map(({ title, quantity }) => `${title}: ${quantity}`).join(', '), 300)
  }
}
