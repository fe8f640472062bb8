import type { Params } from '@netlet/contract'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { lock } from '../../infra/db/locks.ts'
import { startOf } from '../../infra/text.ts'
import type { PaidOrder } from '../../integrations/shopify/index.ts'
import { type EventResult, isIgnoredThere, storeFurther } from '../commerce/index.ts'
import { currentTerms, lockOrder, ourVariants } from '../orders/index.ts'
import {
  titleOf,
  linesOf,
  type PaymentRow,
  paymentOf,
  quantityOf,
  settlePayment,
  variantsAdded
} from '../payments/index.ts'

/**
 * `orders/paid`: settles the payment. If it, or an edit after it, is for more of our plans and rules than the order has,
 * or for others, it counts all the same, but nothing is delivered for them, so an administrator decides.
 */
export async function settlePaidOrder(unit: Unit, paid: PaidOrder, ctx: AppContext): Promise<EventResult> {
  await lock(unit.tx, 'platformOrder', paid.id)
  const before = await paymentOf(unit.tx, paid.id)
  const result = await settlePayment(unit, paid, ctx)
  const payment = await paymentOf(unit.tx, paid.id)
  const added = before?.accepted ? variantsAdded(before.lines, { line_items: payment?.lines ?? [] }) : null
  if (before?.refundedAt || (added?.length === 0 && before?.charged === payment?.charged)) return result
  if (result.outcome !== 'settled' && result.outcome !== 'ignored') {
    await storeLinesMore(unit, paid)
    return result
  }
  const detail = payment && (await findLinesMore(unit, paid, payment, added))
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
  const detail = payment && (await findLinesMore(unit, paid, payment, null))
  if (detail)
    await storeFurther(unit, `lines:${paid.id}:${payment.charged}`, {
      order_id: paid.id,
      outcome: 'lines_more',
      detail
    })
}

/**
 * The lines for plans and rules of ours that are left after edits of the platform's order, if they are too many.
 * A payment that an administrator applied may be for others.
 * @param added the variants that an edit added to a payment that counts; null: it counts only now
 */
async function findLinesMore(
  unit: Unit,
  paid: PaidOrder,
  payment: PaymentRow,
  added: readonly string[] | null
): Promise<Params | null> {
  const order = payment.accepted && payment.orderId ? await lockOrder(unit, payment.orderId) : undefined
  if (!order) return null
  const ours = await ourVariants(
    unit.tx,
    linesOf(paid).map(({ variant }) => variant)
  )
  const lines = paid.line_items.filter(({ variant_id }) => ours.has(variant_id ?? ''))
  const left = linesOf({ line_items: lines })
  const sold = added ? (await currentTerms(unit.tx, order)).lines : []
  const needed = (variant: string) => Math.max(quantityOf(order.lines, variant), quantityOf(sold, variant))
  const isMore = added
    ? added.some(variant => quantityOf(left, variant) > needed(variant))
    : left.reduce((sum, { quantity }) => sum + quantity, 0) > order.quantity * (1 + order.rules.length)
  if (!isMore) return null
  const named = lines.map(lineOf).flatMap(({ title, quantity }) => (quantity > 0 ? `${title}: ${quantity}` : []))
  return {
    order_id: order.publicId,
    platform_order: payment.platformOrderNumber,
    count: order.quantity,
    lines: startOf(named.join(', '), 300)
  }
}

/** A line for the console, with the quantity that is left after edits of the platform's order. */
export const lineOf = ({
  title,
  variant_title,
  quantity,
  current_quantity,
  price
}: PaidOrder['line_items'][number]) => ({
  title: titleOf({ title, variant: variant_title }),
  quantity: current_quantity ?? quantity,
  price
})
